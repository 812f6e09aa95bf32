"""Integrated gradients: the shares of words in what networks make of them add up, and are right where that is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.integrated_gradients import shares_along, word_shares
from isogloss.papers.layerwise.matchers.layered import LayeredCnn
from isogloss.papers.smooth.word_average import squashed_shares
from isogloss.papers.towers import TowerSizes, make_tower

DIMENSION = 5


def tower_encoder(kind, seed):
    """An encoder of copies with random weights, biases too."""
    torch.manual_seed(seed)
    tower = make_tower(kind, DIMENSION, TowerSizes(4, 6, 2, 3)).eval()
    with torch.no_grad():
        for parameter in tower.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))

    def encode(copies):
        number, length, _ = copies.shape
        words = torch.arange(number * length).reshape(number, length)
        return tower(copies.reshape(-1, DIMENSION), words, torch.full((number,), length))

    return encode


def layered_encoder(seed, **changes):
    torch.manual_seed(seed)
    tower = LayeredCnn(DIMENSION, widths=(2, 3), kernels=4, k=3, **changes).eval()
    return lambda copies: tower(copies, torch.full((len(copies),), copies.shape[1]))[-1].vectors


def words(seed, count):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["average", "cnn", "lstm"]), st.integers(0, 1000), st.integers(1, 7))
def test_the_shares_of_words_and_the_rest_are_the_vector(kind, seed, count):
    encode, vectors = tower_encoder(kind, seed), words(seed, count)
    found = word_shares(encode, vectors)
    whole, none = encode(torch.stack([vectors, torch.zeros_like(vectors)])).detach()
    torch.testing.assert_close(found.words.sum(dim=0) + found.rest, whole)
    torch.testing.assert_close(found.rest, none, atol=1e-3 * float(whole.norm()), rtol=0)
    assert found.error < 1e-3


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["k-max", "average"]), st.integers(1, 2), st.integers(0, 1000), st.integers(1, 7))
def test_layers_of_convolutions_come_apart_too(pooling, layers, seed, count):
    encode, vectors = layered_encoder(seed, layers=layers, pooling=pooling), words(seed, count)
    found = word_shares(encode, vectors)
    torch.testing.assert_close(found.words.sum(dim=0) + found.rest, encode(vectors[None])[0].detach())
    assert found.error < 1e-2  # where one of the k largest makes way for another, their order jumps


def test_of_a_squashed_mean_they_are_what_is_known():
    vectors = words(3, 6)
    found = word_shares(tower_encoder("average", 0), vectors)
    np.testing.assert_allclose(found.words.numpy(), squashed_shares(vectors.numpy()), atol=1e-5)
    assert float(found.rest.norm()) < 1e-5


@pytest.mark.parametrize("kind", ["cnn", "lstm"])
def test_products_with_directions_are_those_of_the_shares(kind):
    encode, vectors = tower_encoder(kind, 1), words(1, 5)
    directions = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    found = shares_along(encode, vectors, directions)
    torch.testing.assert_close(found.words, word_shares(encode, vectors).words @ directions.T, atol=1e-3, rtol=1e-3)


def test_a_linear_encoder_gives_each_word_its_own():
    matrix = torch.randn(DIMENSION, 2, generator=torch.Generator().manual_seed(0))
    vectors = words(0, 3)
    found = word_shares(lambda copies: (copies @ matrix).sum(dim=1), vectors)
    torch.testing.assert_close(found.words, vectors @ matrix)
