"""Learning two encoders with torch: the steps are Adam's, can be resumed, and stop before a loss that is no number."""

import subprocess
import sys

import numpy as np
import pytest

from isogloss.papers.examples import Pairs
from isogloss.papers.similarity import smooth_cosine
from isogloss.papers.smooth.losses import LOSSES, make_loss
from isogloss.storage.errors import InputError
from isogloss.text.ids import TextIds

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers import torch_steps
from isogloss.papers.smooth.learners.torch_pairs import TensorLoss, TorchPairs
from isogloss.papers.torch_encoder import load_encoders
from isogloss.papers.towers import KINDS, TextEncoder, Tower, TowerSizes, make_encoders, word_vectors

SIZES = TowerSizes(outputs=6, filters=8, hidden=5)
WORDS, DIMENSION, PAIRS = 12, 5, 40
BATCH, RATE = 4, 0.02
LOSS = make_loss("sosl")
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
ORDER = np.random.default_rng(3).permutation(PAIRS)


def texts(rng, number, longest):
    lengths = rng.integers(0, longest + 1, number)
    return TextIds(rng.integers(0, WORDS - 1, lengths.sum()).astype(np.int32), np.append(0, np.cumsum(lengths)))


def toy_pairs(seed=0):
    """Pairs of texts of all lengths, some empty; no text has the last word."""
    rng = np.random.default_rng(seed)
    numbers = [rng.integers(0, 10, PAIRS).astype(np.int32) for _ in range(2)]
    return Pairs(texts(rng, 10, 5), texts(rng, 10, 8), *numbers, rng.integers(0, 3, PAIRS).astype(np.int32))


def text(texts, number):
    return torch.tensor(texts.ids[texts.offsets[number] : texts.offsets[number + 1]], dtype=torch.int64)


def table(seed):
    return np.random.default_rng(seed).normal(0, 0.5, (WORDS, DIMENSION)).astype(np.float32)


def learner(kind="cnn", pairs=None, seed=0, clip=0.5, device="cpu", **how):
    encoders = make_encoders(kind, table(1), table(2), SIZES, seed=seed, **how)
    return TorchPairs(*encoders, pairs or toy_pairs(), LOSS, 0.5, clip, seed, device)


def assert_same(one, other, device="cpu"):
    """Bit for bit on the CPU; a GPU adds up in any order."""
    assert one.keys() == other.keys()
    for name, array in one.items():
        tolerance = 0 if device == "cpu" else 1e-4
        np.testing.assert_allclose(array, other[name], atol=tolerance, rtol=tolerance, err_msg=name)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_training_lowers_the_loss(kind, device):
    learning = learner(kind, device=device)
    epochs = [learning.advance(ORDER, BATCH, RATE).mean() for _ in range(15)]
    assert np.mean(epochs[-3:]) < 0.7 * epochs[0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_learner_goes_on_as_if_it_had_never_stopped(kind, device):
    whole, first, second = (learner(kind, seed=seed, device=device) for seed in (0, 0, 9))
    expected = whole.advance(ORDER, BATCH, RATE)
    losses = first.advance(ORDER[: 4 * BATCH], BATCH, RATE)
    state = first.state()
    first.advance(ORDER, BATCH, RATE)  # what comes later is no part of the state
    second.restore(state)
    losses = np.append(losses, second.advance(ORDER[4 * BATCH :], BATCH, RATE))
    assert_same({"losses": losses}, {"losses": expected}, device)
    assert_same(second.state(), whole.state(), device)


def test_the_size_of_a_chunk_makes_no_difference(monkeypatch):
    once, again = learner(), learner()
    losses = once.advance(ORDER, 3, RATE)
    monkeypatch.setattr(torch_steps, "_CHUNK", 2)
    np.testing.assert_array_equal(again.advance(ORDER, 3, RATE), losses)
    assert len(losses) == 14
    assert_same(again.state(), once.state())


@pytest.mark.parametrize("clip", [0.0, 0.05])
def test_steps_are_those_of_adam_on_the_mean_loss_of_each_batch(clip):
    pairs = toy_pairs()
    sizes = TowerSizes(outputs=6, hidden=5, dropout=0.0)
    ours, theirs = (make_encoders("lstm", table(1), table(2), sizes) for _ in range(2))
    learning = TorchPairs(*ours, pairs, LOSS, 0.5, clip)
    losses = learning.advance(ORDER, BATCH, RATE)
    parameters = [parameter for encoder in theirs for parameter in encoder.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=RATE)
    expected = []
    sides = (theirs[0], pairs.queries, pairs.query_of), (theirs[1], pairs.documents, pairs.document_of)
    for batch in ORDER.reshape(-1, BATCH):
        vectors = [torch.cat([alone(encoder, text(texts, i)) for i in of[batch]]) for encoder, texts, of in sides]
        loss = LOSS.values(smooth_cosine(*vectors, 0.5), torch.tensor(pairs.grades[batch], dtype=torch.int64)).mean()
        optimiser.zero_grad()
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        expected.append(loss.item())
    np.testing.assert_allclose(losses, expected, atol=1e-5)
    for one, other in zip(ours, theirs, strict=True):
        for name, parameter in one.named_parameters():
            torch.testing.assert_close(parameter, other.get_parameter(name), atol=1e-4, rtol=1e-4)


def alone(encoder, words):
    return encoder(words, torch.tensor([0, len(words)]))


def test_the_norm_of_all_gradients_together_is_clipped():
    learning = learner(clip=1e-3)
    learning.advance(ORDER[:BATCH], BATCH, RATE)
    moments = [array for name, array in learning.state().items() if name.startswith("first.")]
    assert np.sqrt(sum(np.square(each).sum() for each in moments)) == pytest.approx(0.1 * 1e-3, rel=1e-2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("bad", [0, 2, 9])
@pytest.mark.parametrize("stretch", [1, 32])
def test_training_stops_before_a_loss_that_is_not_a_number(bad, stretch, device, monkeypatch):
    monkeypatch.setattr(torch_steps, "_CHUNK", stretch)
    pairs, vectors = toy_pairs(), table(2)
    vectors[WORDS - 1] = np.nan
    pairs.document_of[pairs.document_of == 3] = 4
    pairs.document_of[ORDER[bad * BATCH + 1]] = 3
    pairs.documents.ids[pairs.documents.offsets[3]] = WORDS - 1
    stopped, before = (
        TorchPairs(*make_encoders("cnn", table(1), vectors, SIZES), pairs, LOSS, 0.5, 1.0, device=device)
        for _ in range(2)
    )
    losses = stopped.advance(ORDER, BATCH, RATE)
    expected = before.advance(ORDER[: bad * BATCH], BATCH, RATE)
    assert_same({"losses": losses}, {"losses": np.append(expected, np.nan)}, device)
    kept, good = (
        {name: array for name, array in each.state().items() if name != "random"} for each in (stopped, before)
    )
    assert kept["step"] == bad
    assert_same(kept, good, device)


class RootTower(Tower):
    """Has a loss at zero, and no derivative there."""

    outputs = DIMENSION

    def forward(self, table, words, lengths):
        return word_vectors(table, words, lengths).sum(dim=1).abs().sqrt()


def test_training_stops_before_a_gradient_that_is_not_a_number():
    encoders = [TextEncoder(np.zeros((WORDS, DIMENSION), dtype=np.float32), RootTower()) for _ in range(2)]
    learning = TorchPairs(*encoders, toy_pairs(), make_loss("mse"), 0.5, 0.0)
    before = learning.state()
    losses = learning.advance(ORDER, BATCH, RATE)
    assert len(losses) == 1 and not np.isfinite(losses[0])
    assert_same(learning.state(), before)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="recorded on GPUs only")
@pytest.mark.parametrize("kind", KINDS)
def test_replayed_steps_are_steps(kind):
    sizes = TowerSizes(outputs=6, filters=8, hidden=5, dropout=0.0)
    replayed, plain = (
        TorchPairs(*make_encoders(kind, table(1), table(2), sizes), toy_pairs(), LOSS, 0.5, 1.0, 0, "cuda", recorded)
        for recorded in (True, False)
    )
    for rate in (RATE, RATE / 2):
        losses = [each.advance(ORDER, 7, rate) for each in (replayed, plain)]
        np.testing.assert_allclose(*losses, atol=1e-4)
    replayed.use(toy_pairs(7))
    plain.use(toy_pairs(7))
    np.testing.assert_allclose(*(each.advance(ORDER, 7, RATE) for each in (replayed, plain)), atol=1e-4)
    assert_same(replayed.state(), plain.state(), "cuda")


def test_a_shared_tower_is_one():
    learning = learner(shared=True)
    before = learning.parameters()
    learning.advance(ORDER, BATCH, RATE)
    query, document = learning.encoders
    assert query.tower is document.tower
    assert {name.partition(".")[0] for name in before} == {"query", "document", "tower"}
    assert not any(name.startswith(("query.tower", "document.tower")) for name in before)
    assert not np.array_equal(before["tower.output.weight"], learning.parameters()["tower.output.weight"])


def test_frozen_vectors_stay_as_they_are():
    learning = learner(trained=False)
    before = learning.parameters()
    learning.advance(ORDER, BATCH, RATE)
    after = learning.parameters()
    for side in ("query", "document"):
        np.testing.assert_array_equal(after[f"{side}.table"], before[f"{side}.table"])
        assert not np.array_equal(after[f"{side}.tower.output.weight"], before[f"{side}.tower.output.weight"])
    assert "first.query.table" not in learning.state()
    with pytest.raises(InputError, match="nothing to learn"):
        learner("average", trained=False)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_learned_can_be_loaded(kind):
    learning, pairs = learner(kind), toy_pairs()
    learning.advance(ORDER, BATCH, RATE)
    query, _ = load_encoders(kind, learning.parameters(), SIZES)
    ids = torch.tensor(pairs.queries.ids, dtype=torch.int64)
    with torch.inference_mode():
        expected = learning.encoders[0].eval()(ids, torch.tensor(pairs.queries.offsets))
    np.testing.assert_allclose(query.encode(pairs.queries.ids, pairs.queries.offsets), expected, atol=1e-6)


def test_other_pairs_can_be_learned_from():
    other, learning, fresh = toy_pairs(7), learner(), learner(pairs=toy_pairs(7))
    learning.use(other)
    assert learning.examples == PAIRS
    np.testing.assert_array_equal(learning.advance(ORDER, BATCH, RATE), fresh.advance(ORDER, BATCH, RATE))


def test_no_pairs_are_no_steps():
    assert learner().advance(ORDER[:0], BATCH, RATE).shape == (0,)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_on_the_device_are_the_losses(name):
    loss = make_loss(name, slope=3.0) if name == "po" else make_loss(name)
    scores = torch.linspace(-1, 1, 41, dtype=torch.float64).repeat(3).requires_grad_()
    grades = torch.arange(3).repeat_interleave(41)
    for made in (loss, loss.compiled()):
        values = TensorLoss(made, torch.device("cpu")).values(scores, grades)
        slopes = torch.autograd.grad(values.sum(), scores)[0]
        np.testing.assert_allclose(values.detach(), loss.values(scores.detach().numpy(), grades.numpy()), atol=1e-6)
        np.testing.assert_allclose(slopes, loss.slopes(scores.detach().numpy(), grades.numpy()), atol=1e-6)


def test_what_cannot_work_is_said():
    pairs = toy_pairs()
    pairs.grades[5] = 3
    with pytest.raises(InputError, match="a pair has grade 3, but the loss knows grades 0 to 2"):
        learner(pairs=pairs)
    with pytest.raises(InputError, match="unknown device 'gpu'; use 'cpu' or 'cuda'"):
        learner(device="gpu")
    state = learner().state() | {"random": np.zeros(16, dtype=np.uint8)}
    with pytest.raises(InputError, match="another kind of device than cpu"):
        learner().restore(state)


def test_torch_is_imported_without_its_compiler():
    """It takes a second and a half, and only recorded steps need it."""
    modules = "isogloss.papers.smooth.learners.torch_pairs, isogloss.papers.layerwise.torch_triples"
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "torch._dynamo" not in done.stdout.split()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said():
    with pytest.raises(InputError, match="device 'cuda': torch sees no GPU here"):
        TorchPairs(*make_encoders("cnn", table(1), table(2), SIZES), toy_pairs(), LOSS, 0.5, 1.0, device="cuda")
