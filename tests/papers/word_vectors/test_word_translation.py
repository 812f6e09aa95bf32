"""Word translation accuracy: any listed translation counts, and what cannot be asked is counted apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.papers.word_vectors.alignment import PAPER, align
from isogloss.papers.word_vectors.refinement import split_pairs, translation_accuracy
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError

WORD = st.sampled_from("abcdefgh")
PAIRS = st.lists(st.tuples(WORD, WORD), min_size=1)


def circle(words, start=0.0):
    """Words at even steps of ten degrees, so that it is plain which are nearest."""
    angles = np.radians(start + 10.0 * np.arange(len(words)))
    return WordVectors(words, np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))


SOURCE = circle(["cat", "dog", "cow", "hen", "pig", "ewe"], start=1.0)
TARGET = circle(["gato", "perro", "vaca", "gallina", "cerdo", "oveja"])
IDENTITY = align(TARGET, TARGET, [(word, word) for word in TARGET.words], PAPER)


def measures(held_out, **options):
    return translation_accuracy(IDENTITY, SOURCE, TARGET, held_out, csls=False, **options).measures


def test_a_word_is_right_at_k_if_any_listed_translation_is_among_the_first_k():
    assert measures([("cat", "gato")], cutoffs=(1, 2)) == {"P@1": 1, "P@2": 1}
    assert measures([("cat", "perro")], cutoffs=(1, 2)) == {"P@1": 0, "P@2": 1}
    assert measures([("cat", "oveja"), ("cat", "gato")]) == {"P@1": 1, "P@5": 1, "P@10": 1}
    assert measures([("cat", "oveja"), ("cat", "cerdo")]) == {"P@1": 0, "P@5": 1, "P@10": 1}


def test_the_mean_runs_over_source_words_and_not_over_pairs():
    held_out = [("cat", "gato"), ("cat", "perro"), ("cat", "vaca"), ("dog", "oveja")]
    assert measures(held_out, cutoffs=(1,)) == {"P@1": 0.5}


def test_words_that_cannot_be_asked_are_left_out_and_counted():
    zero = WordVectors([*SOURCE.words, "nil"], np.vstack([SOURCE.matrix, np.zeros((1, 2), dtype=np.float32)]))
    held_out = [("cat", "gato"), ("fox", "gato"), ("dog", "zorro"), ("sea cow", "vaca"), ("pig", "el cerdo")]
    found = translation_accuracy(IDENTITY, zero, TARGET, [*held_out, ("nil", "gato"), ("cat", "minino")])
    assert (found.words, found.skipped) == (1, 5)
    with pytest.raises(InputError, match="none of the 4 held-out words has a vector on both sides"):
        measures(held_out[1:])


def test_only_the_most_frequent_target_words_are_answers():
    held_out = [("cow", "vaca"), ("dog", "perro")]
    found = translation_accuracy(IDENTITY, SOURCE, TARGET, held_out, frequent=2)
    assert (found.words, found.skipped) == (1, 1)
    assert measures([("pig", "perro")], cutoffs=(1,), frequent=2) == {"P@1": 1}


def test_csls_is_the_default_and_hears_of_hubs():
    """The last target word is nearest to every source word by cosine, though each has a partner of its own."""
    partners, hub = np.split(np.eye(5, dtype=np.float32), [4])
    source, target = WordVectors(list("abcd"), 0.66 * partners + 0.75 * hub), WordVectors(list("ABCDH"), np.eye(5))
    same = align(target, target, [(word, word) for word in target.words], PAPER)
    held_out = list(zip("abcd", "ABCD", strict=True))
    assert translation_accuracy(same, source, target, held_out, csls=False).measures["P@1"] == 0
    assert translation_accuracy(same, source, target, held_out).measures["P@1"] == 1


@given(pairs=PAIRS, seed=st.integers(0, 5), share=st.floats(0.01, 0.99))
def test_a_split_parts_source_words_and_loses_nothing(pairs, seed, share):
    fit, held = split_pairs(pairs, share, seed)
    assert sorted(fit + held) == sorted(pairs)
    sources = {word for word, _ in fit}, {word for word, _ in held}
    assert not sources[0] & sources[1]
    assert len(sources[1]) == round(share * len(sources[0] | sources[1]))
    assert set(split_pairs(pairs[::-1], share, seed)[1]) == set(held)


def test_another_seed_holds_out_other_words():
    pairs = [(str(number), "x") for number in range(50)]
    assert split_pairs(pairs, seed=1) == split_pairs(pairs, seed=1)
    assert split_pairs(pairs, seed=1) != split_pairs(pairs, seed=2)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_a_share_that_leaves_nothing_is_an_error(share):
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        split_pairs([("a", "b")], share)
