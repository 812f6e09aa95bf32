"""The one training loop: order, rates, early stopping; stopped anywhere, it goes on to the same result."""

import copy
import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers import training_loop as loop
from isogloss.papers.examples import Pairs
from isogloss.papers.learner import Learner
from isogloss.papers.smooth.learners.reference import NumpyAverage
from isogloss.papers.smooth.losses import make_loss
from isogloss.papers.training_loop import Checkpointer, Interruption, Recipe, Training, TrainingStopped
from isogloss.storage.errors import InputError
from isogloss.text.ids import TextIds

PAIRS, WORDS, SIZE = 33, 12, 4
EPOCHS, BATCH, BATCHES = 4, 5, 7
RECIPE = Recipe(epochs=EPOCHS, batch=BATCH, rate=0.05, decay=0.8)
TIMES = ("seconds", "examples_per_second")


@pytest.fixture(autouse=True)
def one_batch_a_chunk(monkeypatch):
    monkeypatch.setattr(loop, "_CHUNK_SECONDS", 0.0)


@pytest.fixture
def interruptible():
    """Nothing of the test runner is in the way of Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


class Fake(Learner):
    """Remembers what it was asked for; its one parameter counts the steps."""

    def __init__(self, examples=PAIRS):
        self._examples, self.steps = examples, 0
        self.seen, self.begun, self.rates = [], [], []

    @property
    def examples(self):
        return self._examples

    def begin_epoch(self, epoch):
        self.begun.append(epoch)

    def advance(self, order, batch_size, rate):
        losses = []
        for start in range(0, len(order), batch_size):
            self.seen.append(order[start : start + batch_size].tolist())
            self.rates.append(rate)
            losses.append(self.step())
            if not np.isfinite(losses[-1]):
                break
            self.steps += 1
        return np.asarray(losses)

    def step(self):
        return 1.0 / (1 + self.steps)

    def parameters(self):
        return {"steps": np.asarray(self.steps)}

    state = parameters

    def restore(self, state):
        self.steps = int(state["steps"])


class Memory(Checkpointer):
    """Keeps every checkpoint; goes on from the last, or from a given one."""

    how_to_resume = "say please"

    def __init__(self, checkpoint=None):
        self.checkpoints = [checkpoint] if checkpoint else []
        self.records = []

    def resume(self):
        return copy.deepcopy(self.checkpoints[-1]) if self.checkpoints else None

    def checkpoint(self, position, state, best):
        self.checkpoints.append(copy.deepcopy((position, state, best)))

    def record(self, history):
        self.records.append(copy.deepcopy(history))


def toy_pairs(seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 6, (2, 10))
    texts = [
        TextIds(rng.integers(0, WORDS, own.sum()).astype(np.int32), np.append(0, np.cumsum(own))) for own in lengths
    ]
    numbers = [rng.integers(0, 10, PAIRS).astype(np.int32) for _ in range(2)]
    return Pairs(*texts, *numbers, rng.integers(0, 3, PAIRS).astype(np.int32))


def real(kind=NumpyAverage):
    """A learner with negatives of its own in each epoch."""
    rng = np.random.default_rng(1)
    tables = [rng.normal(0, 0.5, (WORDS, SIZE)).astype(np.float32) for _ in range(2)]
    learning = kind(*tables, toy_pairs(), make_loss("sosl").compiled(), 0.5, 0.2)
    learning.renew = toy_pairs
    return learning


def compiled():
    pytest.importorskip("numba").set_num_threads(1)
    from isogloss.papers.smooth.learners.cpu import NumbaAverage

    return NumbaAverage


@pytest.fixture(params=["plain", "compiled"], scope="module")
def average(request):
    return NumpyAverage if request.param == "plain" else compiled()


def evaluate(parameters):
    """Up and down, but always the same for the same parameters."""
    return {"NDCG@5": float(np.cos(20 * parameters["query_table"].sum(dtype=np.float64)))}


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def assert_same(one, other):
    assert [strip(entry) for entry in one.history] == [strip(entry) for entry in other.history]
    assert one.parameters.keys() == other.parameters.keys()
    for name, array in one.parameters.items():
        np.testing.assert_array_equal(array, other.parameters[name], err_msg=name)


def strip(entry):
    return {name: value for name, value in entry.items() if name not in TIMES}


def test_every_epoch_has_every_example_in_an_order_of_its_own():
    learner = Fake()
    Training(learner, RECIPE).run()
    assert learner.begun == [0, 1, 2, 3]
    assert [len(batch) for batch in learner.seen] == [5, 5, 5, 5, 5, 5, 3] * EPOCHS
    epochs = np.reshape([number for batch in learner.seen for number in batch], (EPOCHS, PAIRS)).tolist()
    assert all(sorted(epoch) == list(range(PAIRS)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == EPOCHS


@given(st.integers(0, 2**31 - 1), st.integers(0, 1000), st.integers(0, 60))
def test_the_order_depends_on_seed_and_epoch_alone(seed, epoch, examples):
    order = Recipe(seed=seed).order(epoch, examples)
    np.testing.assert_array_equal(np.sort(order), np.arange(examples))
    np.testing.assert_array_equal(order, Recipe(seed=seed, epochs=3, batch=1, rate=1.0).order(epoch, examples))
    if examples > 20:
        assert order.tolist() != Recipe(seed=seed + 1).order(epoch, examples).tolist()
        assert order.tolist() != Recipe(seed=seed).order(epoch + 1, examples).tolist()


def test_without_shuffling_the_order_is_as_given():
    assert Recipe(shuffle=False, seed=3).order(5, 4).tolist() == [0, 1, 2, 3]


def test_the_rate_falls_after_each_epoch():
    learner = Fake()
    history = Training(learner, RECIPE).run().history
    expected = [0.05 * 0.8**epoch for epoch in range(EPOCHS)]
    assert learner.rates == [rate for rate in expected for _ in range(BATCHES)]
    assert [entry["rate"] for entry in history] == expected


@pytest.mark.parametrize("seconds", [-1.0, 1e9])
def test_what_was_measured_is_recorded_as_it_goes_and_at_the_end(monkeypatch, seconds):
    monkeypatch.setattr(loop, "_RECORD_SECONDS", seconds)
    checkpointer = Memory()
    history = Training(Fake(), RECIPE, lambda _: {"NDCG@5": 0.5}, checkpointer).run().history
    assert sorted({len(record) for record in checkpointer.records}) == ([0, 1, 2, 3, 4] if seconds < 0 else [4])
    assert checkpointer.records[-1] == history
    assert strip(history[0]) == {
        "epoch": 1, "loss": pytest.approx(np.mean([1 / n for n in range(1, 8)])), "rate": 0.05, "batches": 7,
        "NDCG@5": 0.5,
    }  # fmt: skip


def test_chunks_grow_until_they_take_a_while_and_make_no_difference(monkeypatch):
    small = Fake()
    expected = Training(small, RECIPE).run()
    calls = []
    monkeypatch.setattr(loop, "_CHUNK_SECONDS", 1e9)
    learner = Fake()
    monkeypatch.setattr(learner, "advance", lambda *given: calls.append(len(given[0])) or Fake.advance(learner, *given))
    assert_same(Training(learner, RECIPE).run(), expected)
    assert calls == [5, 10, 18] * EPOCHS
    assert learner.seen == small.seen


@pytest.mark.parametrize(("patience", "epochs", "best"), [(0, 8, 8), (1, 2, 1), (2, 6, 4), (3, 7, 4), (5, 8, 8)])
def test_early_stopping_keeps_the_best_epoch(patience, epochs, best):
    values = [0.3, 0.2, 0.4, 0.5, 0.5, 0.4, 0.1, 0.6]
    recipe = Recipe(epochs=8, batch=BATCH, patience=patience, measure="MAP")
    trained = Training(Fake(), recipe, lambda p: {"MAP": values[int(p["steps"]) // BATCHES - 1]}).run()
    assert len(trained.history) == epochs
    assert trained.parameters["steps"] == best * BATCHES


@pytest.mark.parametrize(("start", "kept"), [(0.1, 1), (0.9, 0)])
def test_the_start_is_kept_where_no_epoch_is_better(start, kept):
    recipe = Recipe(epochs=3, batch=BATCH, patience=2, measure="MAP", measures_start=True)
    trained = Training(Fake(), recipe, lambda p: {"MAP": 0.5 if p["steps"] else start}).run()
    assert [entry["epoch"] for entry in trained.history] == [0, 1, 2, 3][: 4 - (1 - kept)]
    assert trained.parameters["steps"] == kept * BATCHES


def test_what_cannot_be_trained_is_said():
    with pytest.raises(InputError, match="no examples to train on"):
        Training(Fake(0), RECIPE).run()
    with pytest.raises(InputError, match="patience: early stopping needs judged dev queries"):
        Training(Fake(), Recipe(patience=2))


class Interrupted:
    """Makes a learner that is interrupted before one of its batches."""

    def __init__(self, learner, batch):
        self._left, self._advance = batch, learner.advance
        learner.advance = self.advance

    def advance(self, order, batch_size, rate):
        if self._left == 0:
            interrupt()
        self._left -= 1
        return self._advance(order, batch_size, rate)


@settings(max_examples=25, deadline=None)
@given(batch=st.integers(0, EPOCHS * BATCHES - 1), patience=st.sampled_from([0, 1, 2]))
def test_an_interrupted_run_goes_on_to_the_same_result(average, batch, patience):
    recipe = Recipe(**{**vars(RECIPE), "patience": patience})
    expected = Training(real(average), recipe, evaluate).run()
    checkpointer, learner = Memory(), real(average)
    Interrupted(learner, batch)
    if batch < BATCHES * len(expected.history):
        with pytest.raises(TrainingStopped, match="it is kept; say please"):
            Training(learner, recipe, evaluate, checkpointer).run()
        position = checkpointer.checkpoints[-1][0]
        assert position.epoch * BATCHES + position.batch == batch + 1
    assert_same(Training(real(average), recipe, evaluate, checkpointer).run(), expected)


@pytest.mark.parametrize("patience", [0, 1])
def test_a_killed_run_goes_on_from_any_checkpoint_to_the_same_result(average, patience, monkeypatch):
    monkeypatch.setattr(loop, "_CHECKPOINT_SECONDS", -1.0)
    recipe, checkpointer = Recipe(**{**vars(RECIPE), "patience": patience}), Memory()
    expected = Training(real(average), recipe, evaluate, checkpointer).run()
    assert len(checkpointer.checkpoints) == len(expected.history) * (BATCHES + 1) + 1  # each batch, each epoch, the end
    for checkpoint in checkpointer.checkpoints:
        assert_same(Training(real(average), recipe, evaluate, Memory(checkpoint)).run(), expected)


def test_a_checkpoint_is_kept_within_a_long_epoch(monkeypatch):
    monkeypatch.setattr(loop, "_CHECKPOINT_SECONDS", -1.0)
    checkpointer = Memory()
    Training(Fake(), Recipe(epochs=1, batch=BATCH), checkpointer=checkpointer).run()
    assert [position.batch for position, *_ in checkpointer.checkpoints][:3] == [1, 2, 3]


def test_a_checkpoint_of_other_data_is_said():
    checkpointer = Memory()
    Training(real(), RECIPE, checkpointer=checkpointer).run()
    checkpointer.checkpoints[-1][1]["query_rows"] = np.zeros((WORDS + 1, 3, SIZE), np.float32)
    with pytest.raises(InputError, match=r"does not fit what is learned now .*13, 3, 4.* have the data changed"):
        Training(real(), RECIPE, checkpointer=checkpointer).run()


class Diverging(Fake):
    """Has no loss from some step on; with ``spoilt`` it was no good before that."""

    def __init__(self, last, loss=np.nan, spoilt=False):
        super().__init__()
        self._last, self._loss, self._spoilt = last, loss, spoilt

    def step(self):
        return self._loss if self.steps == self._last else super().step()

    def state(self):
        return {"steps": np.asarray(np.inf if self._spoilt and self.steps == self._last else float(self.steps))}


@pytest.mark.parametrize(("chunk", "loss"), [(0.0, np.nan), (1e9, np.inf)])
def test_a_loss_that_is_not_finite_stops_at_once_and_says_where(monkeypatch, chunk, loss):
    monkeypatch.setattr(loop, "_CHUNK_SECONDS", chunk)
    checkpointer, learner = Memory(), Diverging(BATCHES + 4, loss)
    with pytest.raises(TrainingStopped) as caught:
        Training(learner, RECIPE, checkpointer=checkpointer).run()
    expected = f"training: the loss of batch 5 of 7 in epoch 2 is {loss}; the last good checkpoint is kept; try a lower"
    assert str(caught.value).startswith(expected)
    position, state, _ = checkpointer.checkpoints[-1]
    assert (position.epoch, position.batch, state["steps"]) == (1, 4, BATCHES + 4)
    with pytest.raises(TrainingStopped, match=f"^training: the loss of batch 5 of 7 in epoch 2 is {loss}; try a lower"):
        Training(Diverging(BATCHES + 4, loss), RECIPE).run()


def test_what_is_not_finite_never_takes_the_place_of_a_good_checkpoint(monkeypatch):
    monkeypatch.setattr(loop, "_CHECKPOINT_SECONDS", -1.0)
    checkpointer = Memory()
    with pytest.raises(TrainingStopped, match="the last good checkpoint is kept"):
        Training(Diverging(3, spoilt=True), RECIPE, checkpointer=checkpointer).run()
    assert checkpointer.checkpoints[-1][1]["steps"] == 2


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_while_measuring_saves_and_says_how_to_go_on():
    checkpointer, calls = Memory(), []

    def slow(parameters):
        calls.append(parameters)
        if len(calls) in (2, 4):
            interrupt()
        return {"NDCG@5": 0.5}

    for epoch in (2, 4):  # the last is no different
        with pytest.raises(TrainingStopped, match=f"^interrupted after epoch {epoch}: it is kept; say please$"):
            Training(Fake(), RECIPE, slow, checkpointer).run()
        assert checkpointer.checkpoints[-1][0].epoch == epoch
    assert len(Training(Fake(), RECIPE, slow, checkpointer).run().history) == EPOCHS
    assert len(calls) == EPOCHS


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_without_a_place_to_keep_it_is_said_to_lose_it():
    learner = Fake()
    Interrupted(learner, 9)
    with pytest.raises(TrainingStopped, match=r"^interrupted in epoch 2, batch 3: it is lost$"):
        Training(learner, RECIPE).run()


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_does_not_wait():
    learner = Fake()

    def advance(*_):
        interrupt()
        interrupt()

    learner.advance = advance
    with pytest.raises(KeyboardInterrupt):
        Training(learner, RECIPE, checkpointer=Memory()).run()


@pytest.mark.usefixtures("interruptible")
def test_what_ctrl_c_does_is_as_before_after_an_error_too():
    with pytest.raises(TrainingStopped):
        Training(Diverging(3), RECIPE).run()
    Training(Fake(), RECIPE).run()
    with pytest.raises(KeyboardInterrupt):
        interrupt()


@pytest.mark.usefixtures("interruptible")
def test_training_works_where_no_signal_can_be_caught():
    found = []
    thread = threading.Thread(target=lambda: found.append(Training(Fake(), RECIPE).run()))
    thread.start()
    thread.join()
    assert found[0].parameters["steps"] == EPOCHS * BATCHES
    with Interruption() as interruption:
        assert not interruption.requested
        interrupt()
        assert interruption.requested


def test_the_watcher_sees_every_chunk_and_the_end():
    class Recorder:
        seen, ended = (), 0

        def show(self, position, batches, recipe, rate):
            assert (batches, recipe) == (BATCHES, RECIPE)
            assert rate > 0
            self.seen += ((position.epoch, position.batch),)

        def end(self):
            self.ended += 1

    progress = Recorder()
    Training(Fake(), RECIPE, progress=progress).run()
    assert progress.seen == tuple((epoch, batch) for epoch in range(EPOCHS) for batch in range(1, BATCHES + 1))
    assert progress.ended == 1
    with pytest.raises(TrainingStopped):
        Training(Diverging(0), RECIPE, progress=progress).run()
    assert progress.ended == 2
