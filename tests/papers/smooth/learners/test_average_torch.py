"""The torch learner of the average model has the closed form's gradients and dense Adam's steps."""

import numpy as np
import pytest

from isogloss.papers.examples import Pairs
from isogloss.papers.similarity import smooth_cosine, smooth_cosine_gradient
from isogloss.papers.smooth.learners.reference import NumpyAverage
from isogloss.papers.smooth.losses import make_loss
from isogloss.text.ids import TextIds

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.smooth.learners.torch_pairs import TorchPairs
from isogloss.papers.towers import TowerSizes, make_encoders

WORDS, DIMENSION, PAIRS = 15, 6, 30
ORDER = np.random.default_rng(5).permutation(PAIRS)
LOSSES = {
    "sosl": make_loss("sosl", (0.25, 0.75)),
    "mse": make_loss("mse", (0.25, 0.75)),
    "3part": make_loss("3part", (0.25, 0.5, 0.875)),
    "po": make_loss("po", (0.25, 0.75), slope=4.0),
    "po-open": make_loss("po-open", (0.25, 0.75), slope=4.0),
}  # fmt: skip


def texts(rng, number, longest):
    lengths = rng.integers(0, longest + 1, number)
    return TextIds(rng.integers(0, WORDS, lengths.sum()).astype(np.int32), np.append(0, np.cumsum(lengths)))


def toy_pairs():
    rng = np.random.default_rng(1)
    numbers = [rng.integers(0, 8, PAIRS).astype(np.int32) for _ in range(2)]
    return Pairs(texts(rng, 8, 4), texts(rng, 8, 9), *numbers, rng.integers(0, 3, PAIRS).astype(np.int32))


def tables(dtype=np.float32):
    rng = np.random.default_rng(2)
    return [rng.normal(0, 0.7, (WORDS, DIMENSION)).astype(dtype) for _ in range(2)]


def torch_average(query_table, document_table, *rest):
    """Dense Adam over every row, by torch."""
    return TorchPairs(*make_encoders("average", query_table, document_table, TowerSizes()), *rest)


def learner(loss="sosl", eps=0.5, clip=0.0, dtype=np.float32):
    return torch_average(*tables(dtype), toy_pairs(), LOSSES[loss].compiled(), eps, clip)


def closed_form(loss, eps, batch):
    """The mean loss and its gradients, pair by pair and word by word, in double precision."""
    pairs, found = toy_pairs(), tables(np.float64)
    total, gradients = 0.0, [np.zeros_like(each) for each in found]
    for pair in batch:
        sides = [
            text.ids[slice(*text.offsets[of[pair] : of[pair] + 2])]
            for text, of in ((pairs.queries, pairs.query_of), (pairs.documents, pairs.document_of))
        ]
        means = [
            each[ids].mean(axis=0) if len(ids) else np.zeros(DIMENSION) for each, ids in zip(found, sides, strict=True)
        ]
        vectors = [np.tanh(mean)[None] for mean in means]
        score, grade = smooth_cosine(*vectors, eps), pairs.grades[pair : pair + 1]
        total += loss.values(score, grade)[0] / len(batch)
        slope = loss.slopes(score, grade)[0] / len(batch)
        for gradient, towards, vector, ids in zip(
            gradients, smooth_cosine_gradient(*vectors, eps), vectors, sides, strict=True
        ):
            for word in ids:
                gradient[word] += slope * towards[0] * (1 - vector[0] ** 2) / len(ids)
    return total, gradients


@pytest.mark.parametrize("eps", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-5)])
def test_gradients_are_those_of_the_closed_form(loss, eps, dtype, tolerance):
    learning = learner(loss, eps, dtype=dtype)
    batch = ORDER[:12]
    found = learning.advance(batch, len(batch), 0.01)
    total, gradients = closed_form(LOSSES[loss], eps, batch)
    np.testing.assert_allclose(found, [total], atol=tolerance)
    for side, gradient in zip(("query", "document"), gradients, strict=True):
        np.testing.assert_allclose(learning.state()[f"first.{side}.table"] / 0.1, gradient, atol=tolerance)


@pytest.mark.parametrize("clip", [0.0, 0.01])
def test_the_first_step_is_that_of_the_plain_learner(clip):
    ours, plain = learner(clip=clip), NumpyAverage(*tables(), toy_pairs(), LOSSES["sosl"].compiled(), 0.5, clip)
    np.testing.assert_allclose(ours.advance(ORDER, PAIRS, 0.01), plain.advance(ORDER, PAIRS, 0.01), atol=1e-6)
    expected = plain.parameters()
    for side in ("query", "document"):
        np.testing.assert_allclose(ours.parameters()[f"{side}.table"], expected[f"{side}_table"], atol=1e-5)


def test_every_row_that_was_ever_touched_keeps_moving():
    one, three = (TextIds(np.arange(n, dtype=np.int32), np.arange(n + 1)) for n in (1, 3))
    both = np.array([0, 1], dtype=np.int32)
    pairs = Pairs(one, three, query_of=0 * both, document_of=both, grades=2 + 0 * both)
    learning = torch_average(*tables(), pairs, LOSSES["sosl"].compiled(), 0.5, 0.0)
    learning.advance(both[:1], 1, 0.01)
    before = learning.parameters()["document.table"]
    learning.advance(both[1:], 1, 0.01)
    moved = np.flatnonzero((learning.parameters()["document.table"] != before).any(axis=1))
    assert moved.tolist() == [0, 1]


def test_training_lowers_the_loss_and_can_be_resumed():
    whole, half, rest = learner(clip=1.0), learner(clip=1.0), learner(clip=1.0)
    losses = [whole.advance(ORDER, 5, 0.02).mean() for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]
    for _ in range(12):
        half.advance(ORDER, 5, 0.02)
    rest.restore(half.state())
    for _ in range(8):
        rest.advance(ORDER, 5, 0.02)
    state = rest.state()
    assert (state["step"], state["step"].shape) == (120, ())
    for name, array in whole.state().items():
        np.testing.assert_array_equal(state[name], array, err_msg=name)
