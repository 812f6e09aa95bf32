"""The question-answer topic model: what a round computes, that it never gets worse, and what it finds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.layerwise import topic as topic_model
from isogloss.papers.layerwise.topic import Bags, TopicLearner
from isogloss.text.batches import tokenize_texts


def bags(texts, words):
    return Bags.of(tokenize_texts(texts), {word: row for row, word in enumerate(words)})


def learn_topics(questions, answers, sizes, topics, rounds, pseudo_counts, seed=0):
    return TopicLearner(questions, answers, sizes, topics, pseudo_counts, seed).run(rounds)


def planted(pairs=60, seed=3):
    """Two themes; questions and answers say them with different words."""
    rng = np.random.default_rng(seed)
    questions, answers = [], []
    for number in range(pairs):
        theme = "ab"[number % 2]
        questions.append(" ".join(f"{theme}q{i}" for i in rng.integers(4, size=3)))
        answers.append(" ".join(f"{theme}x{i}" for i in rng.integers(4, size=6)))
    words = [f"{theme}q{i}" for theme in "ab" for i in range(4)], [f"{theme}x{i}" for theme in "ab" for i in range(4)]
    return bags(questions, words[0]), bags(answers, words[1]), words


def test_a_round_is_the_one_computed_by_hand():
    """One pair, two topics, one question word twice and two answer words; every sum written out."""
    questions, answers = bags(["w w"], ["w"]), bags(["u v"], ["u", "v"])
    learner = TopicLearner(questions, answers, (1, 2), 2, (0.5, 0.25))
    start = learner.topics().answer_words.astype(float)
    learner.step()
    g_w = np.asarray([0.5, 0.5])  # p(w | z) is 1 in both topics, theta is uniform
    g_u, g_v = (row / row.sum() for row in start)
    theta = 0.5 + 2 * g_w + g_u + g_v
    words = 0.25 + np.stack([g_u, g_v])
    assert learner.topics().question_words == pytest.approx(np.ones((1, 2)))
    assert learner.topics().answer_words == pytest.approx(words / words.sum(axis=0), rel=1e-5)
    assert learner._theta[0] == pytest.approx(theta / theta.sum(), rel=1e-5)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.text("abc ", max_size=8), st.text("xyz ", max_size=8)), min_size=1, max_size=6),
    st.integers(1, 4), st.sampled_from([0.01, 0.1, 1.0]), st.integers(0, 5),
)  # fmt: skip
def test_no_round_lowers_the_posterior_and_all_distributions_add_up_to_one(pairs, topics, pseudo_count, seed):
    spaced = [(" ".join(question), " ".join(answer)) for question, answer in pairs]
    questions, answers = bags([q for q, _ in spaced], "abc"), bags([a for _, a in spaced], "xyz")
    learner = TopicLearner(questions, answers, (3, 3), topics, (pseudo_count, pseudo_count), seed)
    posteriors = [learner.step() for _ in range(8)]
    assert all(after >= before - 1e-3 for before, after in pairwise(posteriors))
    learned = learner.topics()
    assert learned.question_words.sum(axis=0) == pytest.approx(np.ones(topics), abs=1e-5)
    assert learned.answer_words.sum(axis=0) == pytest.approx(np.ones(topics), abs=1e-5)
    theta = learned.fold_in(answers)
    assert theta.sum(axis=1) == pytest.approx(np.ones(len(pairs)), abs=1e-5)
    asked = theta @ learned.question_words.T
    assert asked.sum(axis=1) == pytest.approx(np.ones(len(pairs)), abs=1e-4)  # p(w | d) over all words


def test_questions_are_told_apart_by_answers_that_share_no_word_with_them():
    questions, answers, (question_words, _) = planted()
    learned = learn_topics(questions, answers, (8, 8), 2, 50, (0.1, 0.01))
    unseen = bags(["ax0 ax1", "bx2 bx3 bx2"], [f"{theme}x{i}" for theme in "ab" for i in range(4)])
    asked = learned.fold_in(unseen) @ learned.question_words.T
    of_a = np.asarray([word.startswith("a") for word in question_words])
    assert asked[0, of_a].sum() > 0.9 and asked[1, of_a].sum() < 0.1


def test_the_same_seed_learns_the_same_and_another_something_else():
    questions, answers, _ = planted()
    first, again, other = (learn_topics(questions, answers, (8, 8), 3, 5, (0.1, 0.01), seed) for seed in (1, 1, 2))
    assert np.array_equal(first.answer_words, again.answer_words)
    assert not np.array_equal(first.answer_words, other.answer_words)


def test_blocks_change_nothing(monkeypatch):
    questions, answers, _ = planted()
    whole = learn_topics(questions, answers, (8, 8), 3, 10, (0.1, 0.01))
    monkeypatch.setattr(topic_model, "_BLOCK_VALUES", 21)  # seven words at a time: texts are cut in the middle
    assert learn_topics(questions, answers, (8, 8), 3, 10, (0.1, 0.01)).answer_words == pytest.approx(
        whole.answer_words, abs=1e-4
    )


def test_a_text_without_a_known_word_has_all_topics_alike():
    questions, answers, _ = planted()
    learned = learn_topics(questions, answers, (8, 8), 4, 5, (0.1, 0.01))
    assert learned.fold_in(bags(["", "never seen"], ["ax0"])) == pytest.approx(np.full((2, 4), 0.25))


def test_as_many_answers_as_questions_are_needed():
    with pytest.raises(ValueError, match="as many answers"):
        TopicLearner(bags(["a"], "a"), bags(["x", "x"], "x"), (1, 1), 2, (0.1, 0.1))
