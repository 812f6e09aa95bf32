"""P(w | t) learned from questions and answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.layerwise.translation_lm import WordProbabilities
from isogloss.text.batches import tokenize_texts
from isogloss.translation.word_alignment import align_words

TEXTS = st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)


def learn(pairs, pooled, **options):
    questions, answers = (tokenize_texts(list(side)) for side in zip(*pairs, strict=True))
    return WordProbabilities.learn(questions, answers, pooled, **options)


def table(learned):
    """(w, t) to P(w | t)."""
    found = {}
    for word in learned.terms:
        for given_, probability in zip(*(column.tolist() for column in learned.of_word(word)), strict=True):
            found[word, learned.terms[given_]] = probability
    return found


@given(pairs=PAIRS, pooled=st.booleans(), minimum=st.sampled_from([0.0, 1e-3, 0.2]))
@settings(deadline=None, max_examples=60)
def test_what_a_word_stands_for_adds_up_to_one(pairs, pooled, minimum):
    found = table(learn(pairs, pooled, minimum=minimum))
    sums = {}
    for (_, given_), probability in found.items():
        sums[given_] = sums.get(given_, 0.0) + probability
    assert list(sums.values()) == pytest.approx([1.0] * len(sums), rel=1e-5)
    assert all(probability > 0 for probability in found.values())


@given(pairs=PAIRS)
@settings(deadline=None, max_examples=30)
def test_two_languages_are_plain_model_1_from_answers_to_questions(pairs):
    questions = tokenize_texts([question for question, _ in pairs])
    answers = tokenize_texts([answer.upper().translate({ord(c): f"{c}x" for c in "ABCDE"}) for _, answer in pairs])
    found = align_words(answers, questions, window=10**6)
    expected = {
        (questions.terms[w], answers.terms[t]): p
        for t, w, p in zip(found.sources.tolist(), found.targets.tolist(), found.forward.tolist(), strict=True)
    }
    learned = table(WordProbabilities.learn(questions, answers, pooled=False, minimum=0.0))
    assert learned == {pair: pytest.approx(p, rel=1e-5) for pair, p in expected.items()}


@given(pairs=PAIRS)
@settings(deadline=None, max_examples=30)
def test_pooled_questions_and_answers_may_change_places(pairs):
    there, back = (table(learn(side, pooled=True)) for side in (pairs, [(a, q) for q, a in pairs]))
    assert {pair: pytest.approx(p, rel=1e-4, abs=1e-6) for pair, p in there.items()} == back


def test_words_of_questions_come_from_words_of_answers():
    pairs = [("why rust", "iron oxide"), ("why fire", "oxygen heat"), ("stop rust", "oxide paint")]
    pairs += [("stop fire", "oxygen water"), ("rust", "oxide"), ("fire", "oxygen")]
    found = table(learn(pairs, pooled=False, iterations=20))
    assert found["rust", "oxide"] > 0.9
    assert found["fire", "oxygen"] > 0.9
    assert ("oxide", "rust") not in found
    assert table(learn(pairs, pooled=True, iterations=20))["oxide", "rust"] > 0.8


def test_improbable_translations_are_dropped_and_the_others_share_their_part():
    pairs = [("a", "x"), ("a", "x"), ("a", "x"), ("b", "x")]
    assert table(learn(pairs, pooled=False, minimum=0.4)) == {("a", "x"): 1.0}


def test_the_words_of_the_questions_are_counted():
    learned = learn([("a b a", "c"), ("c", "b b")], pooled=True)
    assert dict(zip(learned.terms, learned.question_counts.tolist(), strict=True)) == {"a": 2, "b": 1, "c": 1}


def test_what_was_saved_is_loaded(tmp_path):
    learned = learn([("a b", "c d"), ("b", "d")], pooled=True)
    learned.save(tmp_path)
    loaded = WordProbabilities.load(tmp_path)
    assert table(loaded) == table(learned)
    assert np.array_equal(loaded.question_counts, learned.question_counts)
