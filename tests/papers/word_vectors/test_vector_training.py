"""Vectors trained on texts: PPMI as it is written down, then as few dimensions of it as are wanted."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isogloss.papers.word_vectors.training import VectorTraining, train_vectors
from isogloss.storage.errors import InputError

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8), min_size=1, max_size=8)
RAIN = [
    "the cat drinks milk at night", "the dog drinks milk at night", "a cat sleeps on the warm mat",
    "a dog sleeps on the warm mat", "the cat hears a mouse", "the dog hears a mouse",
    "rain falls from grey clouds over hills", "snow falls from grey clouds over hills",
    "rain covers roads and fields", "snow covers roads and fields", "cold rain came in march",
    "cold snow came in march",
]  # fmt: skip


def naive_ppmi(texts, how):
    """Pair by pair, in double precision: the words, and the matrix of all words by the most frequent ones."""
    counts = Counter(word for text in texts for word in text)
    words = sorted((w for w in counts if counts[w] >= how.minimum_count), key=lambda w: (-counts[w], w))
    words = words[: how.maximum_words]
    contexts = words[: how.contexts]
    near = Counter()
    for text in texts:
        for i, j in combinations(range(len(text)), 2):
            if j - i <= how.window:
                weight = (how.window + 1 - (j - i)) / how.window
                near[text[i], text[j]] += weight
                near[text[j], text[i]] += weight
    n_word = {w: sum(near[w, c] for c in contexts) for w in words}
    n_context = {c: sum(near[w, c] for w in words) ** how.smoothing for c in contexts}
    total = sum(n_context.values())
    ppmi = np.zeros((len(words), len(contexts)))
    for i, w in enumerate(words):
        for j, c in enumerate(contexts):
            if near[w, c] > 0:
                ppmi[i, j] = max(0.0, math.log(near[w, c] * total / (n_word[w] * n_context[c])))
    return words, ppmi


def train(texts, **how):
    return train_vectors([" ".join(text) for text in texts], VectorTraining(**how))


def products(vectors):
    """What all turns of a space have in common."""
    matrix = vectors.matrix.astype(np.float64)
    return matrix @ matrix.T


def cosine(vectors, left, right):
    return vectors[left] @ vectors[right] / (np.linalg.norm(vectors[left]) * np.linalg.norm(vectors[right]))


@given(
    TEXTS, st.integers(1, 5), st.integers(1, 2), st.integers(2, 6), st.integers(2, 6), st.sampled_from([0.5, 0.75, 1.0])
)
@example([["a", "b", "c"], ["a", "b"], ["d", "a", "e", "b"]], 2, 1, 6, 6, 0.75)
@example([["a", "b"], ["c", "d"]], 5, 1, 6, 6, 0.75)  # texts do not touch
@settings(deadline=None, max_examples=40)
def test_vectors_of_all_dimensions_are_those_of_ppmi(texts, window, minimum_count, maximum_words, contexts, smoothing):
    how = VectorTraining(30, window, minimum_count, maximum_words, contexts, smoothing, singular_power=1.0)
    words, ppmi = naive_ppmi(texts, how)
    try:
        found = train_vectors([" ".join(text) for text in texts], how)
    except InputError:
        assert len(words) < 2 or not ppmi.any()
        return
    assert list(found.words) == words
    np.testing.assert_allclose(products(found), ppmi @ ppmi.T, atol=2e-4 * (1 + np.abs(ppmi).max() ** 2))


def test_few_dimensions_are_those_of_the_largest_singular_values():
    texts = [text.split() for text in RAIN]
    how = VectorTraining(5, minimum_count=1)
    _, ppmi = naive_ppmi(texts, how)
    left, singular, _ = np.linalg.svd(ppmi)
    assert singular[4] > singular[5] * 1.01, "five dimensions are not a choice here"
    for power in (0.0, 0.5, 1.0):
        found = train(texts, dimension=5, minimum_count=1, singular_power=power)
        wanted = left[:, :5] * singular[:5] ** power
        np.testing.assert_allclose(products(found), wanted @ wanted.T, atol=1e-4)


def test_the_dimensions_come_by_the_size_of_their_singular_values():
    lengths = np.linalg.norm(train_vectors(RAIN, VectorTraining(8, minimum_count=1, singular_power=1.0)).matrix, axis=0)
    assert (np.diff(lengths) <= 1e-4).all()


def test_words_used_alike_have_near_vectors():
    vectors = train_vectors(RAIN, VectorTraining(6, minimum_count=1))
    assert cosine(vectors, "cat", "dog") > 0.9 > 0.5 > cosine(vectors, "cat", "rain")
    assert cosine(vectors, "rain", "snow") > 0.9 > 0.5 > cosine(vectors, "dog", "snow")


def test_the_same_vectors_twice():
    how = VectorTraining(6, minimum_count=1)
    assert train_vectors(RAIN, how).matrix.tobytes() == train_vectors(RAIN, how).matrix.tobytes()


def test_neither_the_seed_nor_the_order_of_the_texts_says_what_is_near():
    how = {"dimension": 30, "minimum_count": 1, "singular_power": 1.0}
    found = products(train_vectors(RAIN, VectorTraining(**how)))
    np.testing.assert_allclose(products(train_vectors(RAIN, VectorTraining(**how, seed=7))), found, atol=1e-4)
    np.testing.assert_allclose(products(train_vectors(RAIN[::-1], VectorTraining(**how))), found, atol=1e-4)


def test_more_dimensions_than_the_texts_have_are_no_noise():
    texts = [f"c{group} w{group}x{word} d{group}" for group in range(6) for word in range(5)]  # each w five times alike
    vectors = train_vectors(texts, VectorTraining(40, minimum_count=1))
    assert np.isfinite(vectors.matrix).all()
    assert np.linalg.matrix_rank(vectors.matrix, tol=1e-3) < 20
    assert cosine(vectors, "w2x0", "w2x4") == pytest.approx(1, abs=1e-5)
    assert cosine(vectors, "w2x0", "w3x0") == pytest.approx(0, abs=1e-5)


def test_the_most_frequent_word_comes_first_and_equals_by_name():
    texts = ["d b b", "b c a", "d a e", "E c b"]
    assert list(train_vectors(texts, VectorTraining(minimum_count=2)).words) == ["b", "a", "c", "d", "e"]
    assert list(train_vectors(texts, VectorTraining(minimum_count=1, maximum_words=3)).words) == ["b", "a", "c"]
    assert list(train_vectors(["a b a b b a b"]).words) == ["b", "a"]


def test_no_more_dimensions_are_made_than_there_are_words():
    assert train_vectors(["a b c"], VectorTraining(300, minimum_count=1)).matrix.shape == (3, 3)


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["one word of each only"], ["again again again"], ["apart"] * 3 + ["alone"] * 3],
    ids=["no text", "an empty text", "rare words", "one word", "words that never meet"],
)
def test_too_little_text_is_said_in_one_line(texts):
    with pytest.raises(InputError, match=r"^too little text to train word vectors: .*$") as error:
        train_vectors(texts)
    assert "\n" not in str(error.value)
