"""Query words drawn to the vectors of their translations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.word_vectors.alignment import anchor
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.translation.lexicon import Lexicon


def vectors(**of_words):
    return WordVectors(list(of_words), np.asarray(list(of_words.values()), dtype=np.float32))


def lexicon(*pairs):
    return Lexicon((word, translation, 0.0) for word, translation in pairs)


def unit(vector):
    vector = np.asarray(vector, dtype=np.float64)
    return vector / (np.linalg.norm(vector) or 1.0)


MAPPED = vectors(sea=[3, 4], salt=[0, 2], orlane=[1, 1], the=[1, 0])
TARGETS = vectors(mer=[5, 0], océan=[0, 0.5], sel=[1, 2], gros=[2, 0], orlane=[0, 3], the=[0, 9])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_word_goes_to_the_mean_direction_of_its_translations_by_the_share(share):
    found = anchor(MAPPED, TARGETS, lexicon(("sea", "mer"), ("sea", "océan"), ("sea", "inconnu")), share)
    centre = unit(unit(TARGETS["mer"]) + unit(TARGETS["océan"]))
    np.testing.assert_allclose(found["sea"], (1 - share) * unit([3, 4]) + share * centre, atol=1e-6)


def test_a_phrase_stands_where_its_known_words_are_in_the_mean():
    found = anchor(MAPPED, TARGETS, lexicon(("salt", "gros sel marin")), 1.0)
    np.testing.assert_allclose(found["salt"], unit(unit([2, 0]) + unit([1, 2])), atol=1e-6)


def test_a_word_whose_translations_have_no_vector_keeps_what_the_matrix_says():
    found = anchor(MAPPED, TARGETS, lexicon(("orlane", "inconnu"), ("sea", "inconnu")), 0.8)
    for word in ("orlane", "sea", "salt"):
        np.testing.assert_allclose(found[word], unit(MAPPED[word]), atol=1e-6)


def test_a_word_spelled_alike_is_its_own_translation_unless_it_is_a_stop_word_or_the_lexicon_knows_better():
    found = anchor(MAPPED, TARGETS, lexicon(("sea", "mer")), 0.8, {"the"})
    np.testing.assert_allclose(found["orlane"], 0.2 * unit([1, 1]) + 0.8 * unit([0, 3]), atol=1e-6)
    np.testing.assert_allclose(found["the"], [1, 0], atol=1e-6)
    np.testing.assert_allclose(anchor(MAPPED, TARGETS, lexicon(("the", "mer")), 1.0)["the"], [1, 0], atol=1e-6)


def test_words_of_the_lexicon_without_a_vector_are_added_where_a_translation_has_one():
    words = lexicon(("ocean", "océan"), ("ocean", "mer"), ("yak", "inconnu"), ("sea salt", "sel"), ("sea", "mer"))
    found = anchor(MAPPED, TARGETS, words, 0.5)
    assert list(found.words) == ["sea", "salt", "orlane", "the", "ocean"]
    np.testing.assert_allclose(found["ocean"], unit([1, 1]), atol=1e-6)


def test_zero_vectors_say_nothing():
    targets = vectors(mer=[0, 0], sel=[0, 1])
    found = anchor(
        vectors(sea=[2, 0], salt=[0, 0]), targets, lexicon(("sea", "mer"), ("salt", "sel"), ("o", "mer")), 0.8
    )
    assert list(found.words) == ["sea", "salt"]
    np.testing.assert_allclose(found.matrix, [[1, 0], [0, 0.8]], atol=1e-6)


def test_what_is_given_is_left_as_it_was():
    before = MAPPED.matrix.copy(), TARGETS.matrix.copy()
    anchor(MAPPED, TARGETS, lexicon(("sea", "mer"), ("ocean", "mer")), 0.8)
    assert np.array_equal(MAPPED.matrix, before[0]) and np.array_equal(TARGETS.matrix, before[1])


@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 1))
@settings(deadline=None, max_examples=40)
def test_the_formula_on_random_spaces(seed, share):
    random = np.random.default_rng(seed)
    mapped = WordVectors([f"s{i}" for i in range(6)], random.standard_normal((6, 3)).astype(np.float32))
    targets = WordVectors([f"t{i}" for i in range(5)], random.standard_normal((5, 3)).astype(np.float32))
    pairs = [(f"s{random.integers(8)}", f"t{random.integers(7)}") for _ in range(10)]
    found = anchor(mapped, targets, lexicon(*pairs), share)
    for word in found.words:
        known = [unit(targets[t]) for t in dict.fromkeys(t for s, t in pairs if s == word) if t in targets]
        wanted = unit(np.mean(known, axis=0)) if known else unit(mapped[word])
        if known and word in mapped:
            wanted = (1 - share) * unit(mapped[word]) + share * wanted
        np.testing.assert_allclose(found[word], wanted, atol=1e-4)
    assert set(found.words) == set(mapped.words) | {s for s, t in pairs if t in targets}
