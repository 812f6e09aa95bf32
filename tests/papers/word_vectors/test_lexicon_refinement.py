"""Refinement: a handful of pairs grows into a lexicon, and translation gets better by it."""

import numpy as np
import pytest

from isogloss.papers.word_vectors.alignment import DIRECTIONS, PAPER, AlignmentOptions, align
from isogloss.papers.word_vectors.refinement import induce_pairs, refine, translation_accuracy
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError

WORDS, DIMENSION, SEED_PAIRS = 400, 20, 12


@pytest.fixture(scope="module")
def spaces():
    """A space and its noisy rotation; word i of one is the translation of word i of the other."""
    rng = np.random.default_rng(7)
    source = rng.standard_normal((WORDS, DIMENSION))
    rotation = np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))[0]
    target = source @ rotation + 0.35 * rng.standard_normal((WORDS, DIMENSION))
    return tuple(
        WordVectors([f"{prefix}{row}" for row in range(WORDS)], matrix.astype(np.float32))
        for prefix, matrix in (("s", source), ("t", target))
    )


def pairs(start, end):
    return [(f"s{row}", f"t{row}") for row in range(start, end)]


def precision_at_1(alignment, spaces):
    return translation_accuracy(alignment, *spaces, pairs(SEED_PAIRS, WORDS)).measures["P@1"]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", ["procrustes", "ridge"])
def test_refinement_translates_better_than_its_few_seed_pairs(spaces, method, direction):
    options = AlignmentOptions(method, direction=direction)
    before = precision_at_1(align(*spaces, pairs(0, SEED_PAIRS), options), spaces)
    refined = refine(*spaces, pairs(0, SEED_PAIRS), options)
    assert refined.alignment.options == options
    assert before < 0.9
    assert precision_at_1(refined.alignment, spaces) > 0.95
    assert refined.growth[-1] > refined.growth[0]


def test_the_given_pairs_stay_and_are_not_counted_as_induced(spaces):
    odd = [*pairs(0, SEED_PAIRS), ("s30", "t31")]
    refined = refine(*spaces, odd, rounds=2)
    assert not set(refined.induced) & set(odd)
    assert refined.growth[-1] == len(refined.induced)
    assert refined.alignment.pairs == len(odd) + len(refined.induced)


def test_only_the_most_frequent_words_are_induced(spaces):
    refined = refine(*spaces, pairs(0, SEED_PAIRS), frequent=50)
    assert refined.induced
    assert all(int(word[1:]) < 50 for pair in refined.induced for word in pair)


def test_no_round_is_a_plain_alignment_and_a_settled_lexicon_ends_the_rounds(spaces):
    plain = align(*spaces, pairs(0, SEED_PAIRS))
    unrefined = refine(*spaces, pairs(0, SEED_PAIRS), rounds=0)
    assert np.array_equal(unrefined.alignment.map, plain.map)
    assert (unrefined.induced, unrefined.growth) == ((), ())
    assert len(refine(*spaces, pairs(0, WORDS), rounds=100).growth) < 20


def test_induced_pairs_are_unique_on_both_sides(spaces):
    found = induce_pairs(align(*spaces, pairs(0, SEED_PAIRS), PAPER), *spaces, frequent=WORDS)
    for side in zip(*found, strict=True):
        assert len(set(side)) == len(side)


@pytest.mark.parametrize("settings", [{"rounds": -1}, {"frequent": 0}])
def test_settings_without_sense_are_errors(spaces, settings):
    with pytest.raises(InputError, match="refinement needs 0 rounds or more"):
        refine(*spaces, pairs(0, SEED_PAIRS), **settings)


def test_an_empty_lexicon_cannot_be_refined(spaces):
    with pytest.raises(InputError, match="holds no pair"):
        refine(*spaces, [])
