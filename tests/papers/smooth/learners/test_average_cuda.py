"""The GPU learner against torch autograd and Adam over all rows in float64 on the CPU."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU here", allow_module_level=True)

from isogloss.papers.examples import Pairs
from isogloss.papers.similarity import smooth_cosine
from isogloss.papers.smooth.learners.cuda import CudaAverage
from isogloss.papers.smooth.learners.reference import NumpyAverage
from isogloss.papers.smooth.losses import make_loss
from isogloss.text.ids import TextIds

WORDS = (40, 60)
RATE = 0.01


def random_texts(random, number, words, longest):
    lengths = random.integers(0, longest + 1, number)
    lengths[:2] = 0, longest
    ids = random.integers(0, words, lengths.sum()).astype(np.int32)
    return TextIds(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def random_problem(seed=0, size=64, pairs=23, longest=(7, 30), words=WORDS):
    """Tables, pairs (some with empty texts) and an order that ends with a smaller batch."""
    random = np.random.default_rng(seed)
    tables = [random.normal(0, 0.5, (count, size)).astype(np.float32) for count in words]
    texts = [random_texts(random, 12, *of) for of in zip(words, longest, strict=True)]
    numbers = random.integers(0, 12, (2, pairs)).astype(np.int32)
    numbers[:, :3] = [[0, 0, 1], [0, 1, 0]]
    grades = random.integers(0, 3, pairs).astype(np.int32)
    return tables, Pairs(*texts, *numbers, grades), random.permutation(pairs)


class Reference:
    """The same mathematics written down plainly."""

    def __init__(self, tables, pairs, loss, eps, clip):
        self.tables = [torch.tensor(table, dtype=torch.float64, requires_grad=True) for table in tables]
        self.moments = [(torch.zeros_like(table), torch.zeros_like(table)) for table in self.tables]
        self.pairs, self.loss, self.eps, self.clip, self.steps = pairs, loss, eps, clip, 0

    def words(self, side, example):
        texts = (self.pairs.queries, self.pairs.documents)[side]
        number = (self.pairs.query_of, self.pairs.document_of)[side][example]
        return torch.tensor(texts.ids[texts.offsets[number] : texts.offsets[number + 1]], dtype=torch.int64)

    def vectors(self, side, batch):
        table = self.tables[side]
        pooled = [table[ids].mean(0) if len(ids) else table.new_zeros(table.shape[1]) for ids in self.of(side, batch)]
        return torch.tanh(torch.stack(pooled))

    def of(self, side, batch):
        return [self.words(side, example) for example in batch]

    def step(self, batch, rate):
        scores = smooth_cosine(self.vectors(0, batch), self.vectors(1, batch), self.eps)
        loss = self.loss.values(scores, torch.tensor(self.pairs.grades[batch], dtype=torch.int64)).mean()
        loss = loss + 0.0 * sum(table.sum() for table in self.tables)  # texts may all be empty
        gradients = torch.autograd.grad(loss, self.tables)
        norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients))
        scale = min(1.0, self.clip / float(norm)) if self.clip > 0 and norm > 0 else 1.0
        self.steps += 1
        for table, gradient, (first, second) in zip(self.tables, gradients, self.moments, strict=True):
            first.lerp_(gradient * scale, 0.1)
            second.lerp_((gradient * scale) ** 2, 0.001)
            size = torch.sqrt(second / (1 - 0.999**self.steps)) + 1e-8
            with torch.no_grad():
                table.sub_(rate / (1 - 0.9**self.steps) * first / size)
        return float(loss.detach())

    def advance(self, order, batch_size, rate):
        batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        return np.array([self.step(batch, rate) for batch in batches])


def learner(tables, pairs, loss="sosl", eps=0.25, clip=0.0):
    return CudaAverage(*tables, pairs, make_loss(loss).compiled(), eps, clip)


def assert_same_path(ours, reference, start):
    """The difference is small beside the way that was gone."""
    for name, table, before in zip(("query_table", "document_table"), reference.tables, start, strict=True):
        expected = table.detach().numpy()
        way = np.linalg.norm(expected - before)
        assert way > 0
        assert np.linalg.norm(ours.parameters()[name] - expected) < 2e-3 * way


@pytest.mark.parametrize("size", [32, 50, 64, 300])
@pytest.mark.parametrize(
    ("loss", "eps", "clip"), [("sosl", 0.25, 0.0), ("po", 0.0, 0.05), ("po-open", 0.5, 0.0), ("mse", 1.0, 1e3)]
)
def test_steps_agree_with_autograd_in_float64(size, loss, eps, clip):
    tables, pairs, order = random_problem(seed=size, size=size)
    ours = learner(tables, pairs, loss, eps, clip)
    reference = Reference(tables, pairs, make_loss(loss), eps, clip)
    for rate in (RATE, RATE, RATE / 4):  # another rate makes all rows catch up
        expected = reference.advance(order, 5, rate)
        np.testing.assert_allclose(ours.advance(order, 5, rate), expected, rtol=1e-4, atol=1e-6)
    assert_same_path(ours, reference, tables)
    assert int(ours.state()["step"]) == 15


def test_rows_that_miss_many_steps_catch_up_within_a_recording_and_after_it():
    tables, pairs, order = random_problem(seed=12, longest=(2, 4))
    ours, reference = learner(tables, pairs), Reference(tables, pairs, make_loss("sosl"), 0.25, 0.0)
    for part in (order[:1], order, np.tile(order, 3)):  # batches of one: most rows wait
        np.testing.assert_allclose(ours.advance(part, 1, RATE), reference.advance(part, 1, RATE), rtol=1e-3, atol=1e-6)
    assert_same_path(ours, reference, tables)
    assert len(np.unique(ours.state()["document_since"])) > 5


@pytest.mark.parametrize("clip", [0.0, 0.01])
def test_the_gradient_of_one_batch_agrees_to_five_digits(clip):
    tables, pairs, order = random_problem(seed=3)
    ours = learner(tables, pairs, "3part", 0.25, clip)
    reference = Reference(tables, pairs, make_loss("3part"), 0.25, clip)
    ours.advance(order, len(order), RATE)
    reference.advance(order, len(order), RATE)
    for rows, (first, second) in zip(("query_rows", "document_rows"), reference.moments, strict=True):
        for column, moment in ((1, first.numpy()), (2, second.numpy())):
            assert np.abs(ours.state()[rows][:, column] - moment).max() < 1e-5 * np.abs(moment).max()


def test_long_texts_and_words_that_are_everywhere():
    tables, pairs, order = random_problem(seed=5, longest=(300, 700), words=(3, 5))
    ours = learner(tables, pairs, clip=0.02)
    reference = Reference(tables, pairs, make_loss("sosl"), 0.25, 0.02)
    for batch_size in (1, 4, 23, 100):
        expected = reference.advance(order, batch_size, RATE)
        np.testing.assert_allclose(ours.advance(order, batch_size, RATE), expected, rtol=1e-3, atol=1e-6)
    assert_same_path(ours, reference, tables)


def test_texts_without_words_move_nothing():
    empty = TextIds(np.zeros(0, dtype=np.int32), np.zeros(3, dtype=np.int64))
    tables, pairs, _ = random_problem()
    nothing = np.zeros(4, dtype=np.int32)
    ours = learner(tables, Pairs(empty, empty, nothing, nothing, nothing), eps=0.0, clip=1.0)
    assert np.isfinite(ours.advance(np.arange(4), 2, RATE)).all()
    np.testing.assert_array_equal(ours.parameters()["query_table"], tables[0])
    ours.use(pairs)
    assert np.isfinite(ours.advance(np.arange(len(pairs)), 4, RATE)).all()
    assert not np.array_equal(ours.parameters()["query_table"], tables[0])


def test_a_zero_vector_is_safe_without_smoothing():
    tables, pairs, order = random_problem()
    tables = [np.zeros_like(tables[0]), tables[1]]
    ours = learner(tables, pairs, eps=0.0)
    assert np.isfinite(ours.advance(order, 4, RATE)).all()
    assert np.isfinite(ours.parameters()["document_table"]).all()


def test_runs_repeat_bit_by_bit():
    tables, pairs, order = random_problem(seed=7, words=(10, 10))
    runs = [learner(tables, pairs, clip=0.05) for _ in range(2)]
    losses = [run.advance(np.tile(order, 20), 8, RATE) for run in runs]
    np.testing.assert_array_equal(*losses)
    np.testing.assert_array_equal(*[run.state()["document_rows"] for run in runs])


def test_a_restored_learner_goes_on_as_if_it_had_never_stopped():
    tables, pairs, order = random_problem(seed=8)
    whole = learner(tables, pairs, clip=0.05)
    whole.advance(np.tile(order, 5), 4, RATE)
    stopped = learner(tables, pairs, clip=0.05)
    stopped.advance(np.tile(order, 5)[:60], 4, RATE)
    resumed = learner(tables, pairs, clip=0.05)
    resumed.restore(stopped.state())
    resumed.advance(np.tile(order, 5)[60:], 4, RATE)
    for name, array in whole.state().items():
        np.testing.assert_array_equal(resumed.state()[name], array)


def test_states_go_to_the_cpu_and_back():
    tables, pairs, order = random_problem(seed=9)
    ours = learner(tables, pairs)
    ours.advance(order, 4, RATE)
    other = NumpyAverage(*tables, pairs, make_loss("sosl").compiled(), 0.25, 0.0)
    other.restore(ours.state())
    np.testing.assert_allclose(other.advance(order, 4, RATE), ours.advance(order, 4, RATE), rtol=1e-4, atol=1e-6)
    ours.restore(other.state())
    np.testing.assert_allclose(
        ours.parameters()["query_table"], other.parameters()["query_table"], rtol=2e-5, atol=1e-7
    )  # rows that catch up are rounded otherwise


def test_it_stops_before_the_first_step_whose_loss_is_not_finite():
    tables, pairs, _ = random_problem(seed=10)
    good = np.flatnonzero(pairs.document_of != 1)
    bad = np.flatnonzero(pairs.document_of == 1)[:1]
    numbers = pairs.documents
    word = numbers.ids[numbers.offsets[1]]
    harmless = [pair for pair in good if word not in Reference(tables, pairs, None, 0, 0).words(1, pair)]
    tables[1][word, 3] = np.nan
    ours = learner(tables, pairs, clip=0.05)
    until = ours.advance(np.array(harmless[:4]), 2, RATE)
    before, parameters = ours.state(), ours.parameters()
    losses = ours.advance(np.concatenate([bad, np.tile(harmless, 40)]), 2, RATE)
    assert np.isfinite(until).all() and len(losses) == 1 and np.isnan(losses[0])
    np.testing.assert_allclose(ours.parameters()["document_table"], parameters["document_table"], atol=1e-6)
    assert ours.state()["step"] == before["step"]
    later = ours.advance(np.concatenate([harmless[:4], bad]), 2, RATE)
    assert np.isfinite(later[:2]).all() and len(later) == 3 and np.isnan(later[2])
    assert int(ours.state()["step"]) == int(before["step"]) + 2
