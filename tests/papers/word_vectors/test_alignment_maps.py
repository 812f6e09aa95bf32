"""Alignments: a planted map is found again, both directions meet in one space, and what cannot be aligned is said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.word_vectors.alignment import (
    DIRECTIONS,
    METHODS,
    PAPER,
    AlignmentOptions,
    Preparation,
    align,
    phrase_vectors,
)
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError

SEEDS = st.integers(0, 2**32 - 1)


def plain(method, **others):
    return AlignmentOptions(method, normalise=False, centre=False, **others)


def vectors(matrix, prefix):
    return WordVectors([f"{prefix}{row}" for row in range(len(matrix))], np.asarray(matrix, dtype=np.float32))


def gaussian(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def rotation(seed, dimension):
    return np.linalg.qr(gaussian([seed, 1], dimension, dimension))[0]


def pairs(count):
    return [(f"s{row}", f"t{row}") for row in range(count)]


def unit(matrix):
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(norms > 0, norms, 1)


@pytest.fixture
def two_spaces():
    source = gaussian(3, 60, 8) + 0.5
    return vectors(source, "s"), vectors(source @ rotation(3, 8) + 0.1 * gaussian(4, 60, 8), "t")


@given(seed=SEEDS, source_dimension=st.integers(1, 8), target_dimension=st.integers(1, 8), extra=st.integers(0, 20))
@settings(deadline=None, max_examples=30)
@pytest.mark.parametrize("options", [PAPER, plain("pinv"), plain("ridge", ridge=1e-7)])
def test_a_planted_linear_map_is_found_again(options, seed, source_dimension, target_dimension, extra):
    # Well-conditioned by construction: an orthonormal basis among the words.
    planted = gaussian([seed, 2], source_dimension, target_dimension)
    source = np.vstack([rotation(seed, source_dimension), gaussian([seed, 3], extra, source_dimension)])
    found = align(vectors(source, "s"), vectors(source @ planted, "t"), pairs(len(source)), options)
    np.testing.assert_allclose(found.map, planted, atol=2e-5 * (1 + np.abs(planted).max()))
    np.testing.assert_allclose(
        found.apply(source.astype(np.float32), "source"), source @ planted, atol=1e-4 * (1 + np.abs(source).max())
    )


@given(seed=SEEDS, dimension=st.integers(1, 8), extra=st.integers(0, 20), normalise=st.booleans())
@settings(deadline=None, max_examples=30)
def test_procrustes_finds_a_planted_rotation_again(seed, dimension, extra, normalise):
    planted = rotation([seed], dimension)
    source = np.vstack([rotation(seed, dimension), gaussian([seed, 3], extra, dimension)])
    options = AlignmentOptions("procrustes", normalise=normalise, centre=False)
    found = align(vectors(source, "s"), vectors(source @ planted, "t"), pairs(len(source)), options)
    np.testing.assert_allclose(found.map, planted, atol=2e-5)


@given(seed=SEEDS, words=st.integers(1, 20), dimension=st.integers(1, 8), normalise=st.booleans(), centre=st.booleans())
@settings(deadline=None, max_examples=30)
def test_procrustes_is_orthogonal_however_few_and_noisy_the_pairs_are(seed, words, dimension, normalise, centre):
    source, target = gaussian([seed, 1], words, dimension), gaussian([seed, 2], words, dimension)
    options = AlignmentOptions("procrustes", normalise, centre)
    found = align(vectors(source, "s"), vectors(target, "t"), pairs(words), options).map
    np.testing.assert_allclose(found @ found.T, np.eye(dimension), atol=1e-5)


def test_pinv_and_ridge_are_their_equations(two_spaces):
    source, target = two_spaces
    s, t = source.matrix.astype(float), target.matrix.astype(float)
    letter = np.linalg.inv(s.T @ s) @ s.T @ t
    np.testing.assert_allclose(align(source, target, pairs(60), PAPER).map, letter, atol=1e-5)
    ridge = np.linalg.inv(s.T @ s + 7.5 * np.eye(8)) @ s.T @ t
    np.testing.assert_allclose(align(source, target, pairs(60), plain("ridge", ridge=7.5)).map, ridge, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_pairs_than_dimensions_still_align_and_are_said_to_be_few(method, two_spaces):
    few, enough = (align(*two_spaces, pairs(count), plain(method)) for count in (5, 8))
    assert few.underdetermined and not enough.underdetermined
    assert np.isfinite(few.map).all()


def test_of_many_maps_that_fit_pinv_takes_the_smallest(two_spaces):
    source, target = two_spaces
    found = align(source, target, pairs(5), PAPER)
    np.testing.assert_allclose(found.apply(source.matrix[:5], "source"), target.matrix[:5], atol=1e-4)
    np.testing.assert_allclose(found.map, np.linalg.pinv(source.matrix[:5]) @ target.matrix[:5], atol=1e-4)


def test_rounding_errors_are_no_dimensions_of_their_own():
    """Vectors in a plane of the space, as float32 rounds them: a naive solution would blow up what lies outside."""
    plane = gaussian(1, 50, 2) @ gaussian(2, 2, 6)
    found = align(vectors(plane, "s"), vectors(gaussian(3, 50, 6), "t"), pairs(50), PAPER)
    assert np.abs(found.map).max() < 10


@pytest.mark.parametrize("method", METHODS)
def test_from_target_to_source_is_from_source_to_target_with_the_sides_exchanged(method, two_spaces):
    source, target = two_spaces
    exchanged = [(right, left) for left, right in pairs(40)]
    back = align(source, target, pairs(40), AlignmentOptions(method, direction="target-to-source"))
    there = align(target, source, exchanged, AlignmentOptions(method, direction="source-to-target"))
    assert np.array_equal(back.map, there.map)
    assert np.array_equal(back.apply(target.matrix, "target"), there.apply(target.matrix, "source"))
    assert np.array_equal(back.apply(source.matrix, "source"), there.apply(source.matrix, "target"))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("normalise", "centre"), [(False, False), (True, False), (False, True), (True, True)])
def test_translations_meet_in_the_common_space(two_spaces, method, direction, normalise, centre):
    source, target = two_spaces
    alignment = align(source, target, pairs(40), AlignmentOptions(method, normalise, centre, direction=direction))
    left, right = unit(alignment.apply(source.matrix, "source")), unit(alignment.apply(target.matrix, "target"))
    assert ((left @ right.T).argmax(axis=1) == np.arange(60)).mean() > 0.9


def test_spaces_of_different_dimensions_meet_in_the_space_that_is_mapped_to():
    source, target = vectors(gaussian(1, 30, 4), "s"), vectors(gaussian(2, 30, 6), "t")
    for direction, common in zip(DIRECTIONS, (6, 4), strict=True):
        alignment = align(source, target, pairs(30), AlignmentOptions("pinv", direction=direction))
        assert alignment.apply(source.matrix, "source").shape == (30, common)
        assert alignment.apply(target.matrix, "target").shape == (30, common)


def test_preparation_is_unit_length_then_the_mean_away_then_unit_length_again(monkeypatch):
    monkeypatch.setattr("isogloss.papers.word_vectors.alignment._BLOCK_ROWS", 7)
    matrix = (gaussian(5, 30, 4) + 1).astype(np.float32)
    for normalise, centre, wanted in [
        (False, False, matrix),
        (True, False, unit(matrix)),
        (False, True, matrix - matrix.mean(axis=0)),
        (True, True, unit(unit(matrix) - unit(matrix).mean(axis=0))),
    ]:
        np.testing.assert_allclose(Preparation.of(matrix, normalise, centre)(matrix), wanted, atol=1e-6)


def test_the_mean_is_that_of_the_whole_vocabulary_not_of_the_lexicon(two_spaces):
    source, target = two_spaces
    alignment = align(source, target, pairs(10), AlignmentOptions(normalise=False))
    np.testing.assert_allclose(alignment.source.mean, source.matrix.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(alignment.target.mean, target.matrix.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize(("normalise", "centre"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_vector_of_zeros_stays_one(two_spaces, normalise, centre):
    alignment = align(*two_spaces, pairs(60), AlignmentOptions(normalise=normalise, centre=centre))
    for side in ("source", "target"):
        assert not alignment.apply(np.zeros((2, 8), dtype=np.float32), side).any()


def test_large_matrices_are_mapped_block_by_block_alike(two_spaces, monkeypatch):
    alignment = align(*two_spaces, pairs(60))
    whole = alignment.apply(two_spaces[0].matrix, "source")
    monkeypatch.setattr("isogloss.papers.word_vectors.alignment._BLOCK_ROWS", 7)
    np.testing.assert_allclose(alignment.apply(two_spaces[0].matrix, "source"), whole, atol=1e-6)
    assert alignment.apply(two_spaces[0].matrix[:0], "source").shape == (0, 8)


def test_a_phrase_is_the_mean_of_its_known_words():
    space = WordVectors(["ice", "cream", "nil"], np.array([[2, 0], [0, 4], [0, 0]], dtype=np.float32))
    matrix, known = phrase_vectors(space, ["ice cream", "frozen cream", "", "frozen", "ice", "nil", "ice nil"])
    assert matrix.tolist() == [[1, 2], [0, 4], [0, 0], [0, 0], [2, 0], [0, 0], [1, 0]]
    assert known.tolist() == [True, True, False, False, True, False, True]


def test_pairs_without_a_vector_are_skipped_and_counted(two_spaces):
    source, target = two_spaces
    unknown = [("s0", "nowhere"), ("nowhere", "t0"), ("nowhere", "nowhere either")]
    alignment = align(source, target, [*unknown, *pairs(20), ("s0 nowhere", "t0 t1")])
    assert (alignment.pairs, alignment.skipped) == (21, 3)
    without = align(source, target, [*pairs(20), ("s0", "t0 t1")])
    assert np.array_equal(alignment.map, without.map)


def error_of(source, target, lexicon, options=None):
    with pytest.raises(InputError) as caught:
        align(source, target, lexicon, options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_aligned_is_an_error_of_one_line(two_spaces):
    source, target = two_spaces
    assert "holds no pair" in error_of(source, target, [])
    swapped = error_of(source, target, [("t1", "s1"), ("t2", "t2"), ("t3", "s3")])
    assert (
        "none of the lexicon's 3 pairs has a vector on both sides (source vectors for 0, target vectors for 1)"
        in swapped
    )
    narrow = vectors(gaussian(1, 60, 5), "t")
    assert "the source has 8 and the target 5; choose pinv or ridge" in error_of(source, narrow, pairs(60))
    assert align(source, narrow, pairs(60), AlignmentOptions("ridge")).map.shape == (8, 5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(("row", "centre"), [(0, False), (0, True), (59, True)])
@pytest.mark.parametrize("normalise", [False, True])
def test_undefined_numbers_are_an_error_and_not_a_crash(two_spaces, value, row, centre, normalise):
    source, target = two_spaces
    target.matrix[row, 3] = value
    options = AlignmentOptions(normalise=normalise, centre=centre)
    assert "the target vectors hold infinite or undefined numbers" in error_of(source, target, pairs(40), options)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"method": "magic"}, "'magic' is no method of alignment; choose one of pinv, ridge, procrustes"),
        ({"direction": "up"}, "'up' is no direction"),
        ({"ridge": 0.0}, "must be a number above 0, not 0.0"),
        ({"ridge": float("nan")}, "not nan"),
    ],
)
def test_options_that_do_not_exist_are_errors(options, what):
    with pytest.raises(InputError, match=what):
        AlignmentOptions(**options)


def test_vectors_of_other_dimensions_or_sides_cannot_be_mapped(two_spaces):
    alignment = align(*two_spaces, pairs(60))
    with pytest.raises(InputError, match="takes source vectors of 8 dimensions, not 5"):
        alignment.apply(np.zeros((2, 5), dtype=np.float32), "source")
    with pytest.raises(ValueError, match="'left' is not a side"):
        alignment.apply(np.zeros((2, 8), dtype=np.float32), "left")
