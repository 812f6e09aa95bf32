"""CLANN's adversary: it grows with the epochs, makes the languages alike, and can be resumed."""

import math

import numpy as np
import pytest

from isogloss.papers.layerwise.triples import RandomNegatives, Triples
from isogloss.text.ids import TextIds

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.adversary import LanguageAdversary
from isogloss.papers.layerwise.matchers.clann import Clann
from isogloss.papers.layerwise.matchers.scorer import WordTables
from isogloss.papers.layerwise.torch_triples import TorchTriples

WORDS, TEXTS = 20, 40


def texts(seed):
    rng = np.random.default_rng(seed)
    return TextIds(rng.integers(0, WORDS, 3 * TEXTS).astype(np.int32), np.arange(0, 3 * TEXTS + 1, 3))


def learner(strength, epochs=10, margin=1.0):
    rng = np.random.default_rng(0)
    tables = [rng.normal(shift, 0.3, (WORDS, 6)).astype(np.float32) for shift in (0.5, -0.5)]
    torch.manual_seed(0)
    scorer = Clann(WordTables(*tables), 6, 5, 4)
    numbers = np.arange(TEXTS, dtype=np.int32)
    triples = Triples(texts(1), texts(2), numbers, numbers)
    extra = LanguageAdversary(scorer, strength, epochs)
    return TorchTriples(scorer, triples, RandomNegatives(triples, 0), margin, extra=extra)


def language_losses(strength, epochs=40):
    """Epoch by epoch, where there is nothing to rank: any order is good enough."""
    learning, losses = learner(strength, epochs, margin=-100.0), []
    for epoch in range(epochs):
        learning.begin_epoch(epoch)
        learning.advance(np.arange(TEXTS), 8, 0.01)
        losses.append(learning.report()["language_loss"])
    return losses


def test_the_strength_grows_with_the_epochs():
    learning = learner(0.5, epochs=4)
    found = []
    for epoch in (0, 1, 4):
        learning.begin_epoch(epoch)
        found.append(learning.report()["lambda"])
    expected = [0.5 * (2 / (1 + math.exp(-10 * share)) - 1) for share in (0, 0.25, 1)]
    assert found == pytest.approx(expected)


def test_an_adversary_makes_the_languages_harder_to_tell():
    assert np.mean(language_losses(0.0)[-5:]) < 0.05
    assert np.mean(language_losses(0.5)[10:]) > 0.3  # the encoder moves whenever it is found out


def test_a_restored_adversary_goes_on_as_if_it_had_never_stopped():
    whole, first, second = (learner(1.0) for _ in range(3))
    order = np.arange(TEXTS)
    for each in (whole, first):
        each.begin_epoch(2)
    expected = whole.advance(order, 8, 0.01)
    first.advance(order[:16], 8, 0.01)
    second.restore(first.state())
    second.begin_epoch(2)
    np.testing.assert_array_equal(second.advance(order[16:], 8, 0.01), expected[2:])
    assert second.report() == pytest.approx(whole.report())
