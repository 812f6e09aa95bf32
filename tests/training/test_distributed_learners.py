"""Several processes that share each batch take the steps of one process with the whole batch, whatever they learn.

The processes are threads here that run in turn and exchange what they have in memory; tests/training/
test_distributed_processes.py has real ones.
"""

import copy
import itertools
import threading

import numpy as np
import pytest

from isogloss.nn.losses import make_loss
from isogloss.storage.errors import InputError
from isogloss.text.ids import TextIds
from isogloss.training.distributed import PeerLost, Team
from isogloss.training.examples import Pairs
from isogloss.training.learner import Learner
from isogloss.training.loop import Checkpointer, Recipe, Training, TrainingStopped
from isogloss.training.triples import HardNegatives, InBatchNegatives, RandomNegatives, Triples
from isogloss.training.word_average.reference import NumpyAverage

WORDS, SIZE, EXAMPLES, BATCH = 15, 6, 23, 5  # the last batch has 3 examples, fewer than some teams have processes
RECIPE = Recipe(epochs=3, batch=BATCH, rate=0.02)
LOSS = make_loss("sosl")


class Room:
    """Where threads meet: one of them runs at a time, and when all are there each sees what the others brought."""

    def __init__(self, size):
        self.size, self.turn, self.someone_left = size, threading.Condition(), False
        self.rounds, self.brought = [0] * size, {}

    def exchange(self, rank, value):
        brought = self.brought.setdefault(self.rounds[rank], {})
        brought[rank] = value
        self.rounds[rank] += 1
        self.turn.notify_all()
        self.turn.wait_for(lambda: len(brought) == self.size or self.someone_left)
        if len(brought) < self.size:
            raise PeerLost("another process is gone")
        return [brought[each] for each in range(self.size)]

    def leave(self):
        self.someone_left = True
        self.turn.notify_all()


class ThreadTeam(Team):
    def __init__(self, room, rank):
        self.room, self.rank, self.size = room, rank, room.size
        self.floats = 0

    def agree(self, value):
        return copy.deepcopy(self.room.exchange(self.rank, value)[0])

    def any(self, flag):
        return any(self.room.exchange(self.rank, flag))

    def gather(self, rows, number):
        assert len(rows) == len(range(number)[self.rows(number)])
        self.floats += rows.size
        return np.concatenate(self.room.exchange(self.rank, rows))

    def gather_tensor(self, rows, number):
        return torch().from_numpy(self.gather(rows.numpy(), number))

    def add_up(self, tensor):
        self.floats += tensor.numel()
        tensor.copy_(sum(self.room.exchange(self.rank, tensor.clone())))


def together(size, act):
    """What ``act(team)`` gives in each process, or raises."""
    room, given = Room(size), [None] * size

    def process(rank):
        with room.turn:
            try:
                given[rank] = act(ThreadTeam(room, rank))
            except Exception as error:
                given[rank] = error
                room.leave()

    threads = [threading.Thread(target=process, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return given


def torch():
    found = pytest.importorskip("torch")
    found.set_num_threads(1)
    return found


def in_float64(*modules):
    """Adam makes steps of rounding errors where a gradient is zero (of a bias that both scores have, say): fewer so."""
    return [module.double() for module in modules]


def texts(rng, number, longest):
    lengths = rng.integers(0, longest + 1, number)
    return TextIds(rng.integers(0, WORDS, lengths.sum()).astype(np.int32), np.append(0, np.cumsum(lengths)))


def toy_pairs(seed=0):
    rng = np.random.default_rng(seed)
    numbers = [rng.integers(0, 10, EXAMPLES).astype(np.int32) for _ in range(2)]
    return Pairs(texts(rng, 10, 5), texts(rng, 10, 8), *numbers, rng.integers(0, 3, EXAMPLES).astype(np.int32))


def table(seed):
    return np.random.default_rng(seed).normal(0, 0.5, (WORDS, SIZE)).astype(np.float32)


def plain_average():
    made = NumpyAverage(table(1), table(2), toy_pairs(), LOSS.compiled(), 0.5, 0.05)
    made.renew = toy_pairs
    return made


def compiled_average():
    pytest.importorskip("numba").set_num_threads(1)
    from isogloss.training.word_average.cpu import NumbaAverage

    made = NumbaAverage(table(1), table(2), toy_pairs(), LOSS.compiled(), 0.5, 0.05)
    made.renew = toy_pairs
    return made


def encoders(kind, **how):
    torch()
    from isogloss.nn.encoders.towers import TowerSizes, make_encoders
    from isogloss.training.torch_pairs import TorchPairs

    sizes = TowerSizes(outputs=4, filters=5, hidden=3)
    made = in_float64(*make_encoders(kind, table(1), table(2), sizes, **how))
    return TorchPairs(*made, toy_pairs(), LOSS, 0.5, 0.05)


def toy_triples():
    rng = np.random.default_rng(0)
    numbers = np.arange(EXAMPLES, dtype=np.int32)
    return Triples(texts(rng, EXAMPLES, 6), texts(rng, EXAMPLES, 7), numbers, rng.permutation(numbers))


def triples_learner(scorer, extra=None, negatives=RandomNegatives, **how):
    from isogloss.training.torch_triples import TorchTriples

    data = toy_triples()
    in_float64(scorer, *getattr(extra, "critics", []))
    return TorchTriples(scorer, data, negatives(data, 0, **how), 0.5, 0.5, extra=extra)


def tables(dropout=0.2, shared=False):
    torch().manual_seed(0)
    from isogloss.nn.matchers.scorer import WordTables

    return WordTables(table(1), None if shared else table(2), dropout)


def layerwise(negatives=RandomNegatives, alphas=(-0.5, 1.0), shared=False, whole_maps=False, **how):
    made = tables(shared=shared)
    from isogloss.nn.matchers.layered import LayeredCnn, LayeredScorer, VectorPairNetwork
    from isogloss.training.adversary import CriticSettings, LayerwiseAdversary

    tower = LayeredCnn(SIZE, 2, (2, 3), kernels=3, k=2)
    scorer = LayeredScorer(made, tower, VectorPairNetwork(tower.outputs, 4), whole_maps)
    critics = CriticSettings(hidden=4, steps=2, rate=0.01)
    extra = LayerwiseAdversary(scorer.feature_sizes, alphas, 0.1, critics) if alphas else None
    return triples_learner(scorer, extra, negatives, **how)


def mining():
    candidates = np.full((EXAMPLES, 4), -1, np.int32)
    made = layerwise(HardNegatives, candidates=candidates)
    from isogloss.training.torch_triples import nearest_documents

    made.negatives.mine = lambda: nearest_documents(made.scorer, made.triples, 4)
    return made


def clann():
    made = tables()
    from isogloss.nn.matchers.clann import Clann
    from isogloss.training.adversary import LanguageAdversary

    scorer = Clann(made, 4, 4, 3)
    return triples_learner(scorer, LanguageAdversary(scorer, 0.5, RECIPE.epochs))


def matcher(name, *sizes, **how):
    made = tables(**how)
    from isogloss.nn.matchers import ai_cnn, cntn, dssm, match_srnn

    kinds = {"dssm": dssm.Dssm, "ai-cnn": ai_cnn.AiCnn, "cntn": cntn.Cntn, "match-srnn": match_srnn.MatchSrnn}
    return triples_learner(kinds[name](made, *sizes), negatives=InBatchNegatives)


LEARNERS = {
    "average, plain": plain_average,
    "average, compiled": compiled_average,
    "average, dense Adam": lambda: encoders("average"),
    "cnn": lambda: encoders("cnn"),
    "lstm": lambda: encoders("lstm"),
    "cnn, one tower, fixed vectors": lambda: encoders("cnn", shared=True, trained=False),
    "layerwise": layerwise,
    "layerwise, maps, one language": lambda: layerwise(whole_maps=True, shared=True),
    "layerwise, no critics": lambda: layerwise(alphas=()),
    "layerwise, mined negatives": mining,
    "clann": clann,
    "dssm": lambda: matcher("dssm", 5, 4, 10.0),
    "ai-cnn": lambda: matcher("ai-cnn", 4, 2, 2),
    "cntn": lambda: matcher("cntn", 3, 2, 2, 2, 4, 2),
    "match-srnn": lambda: matcher("match-srnn", 2, 3),
}
SAME_BITS = ("average, plain", "average, compiled")


def close(one, other, tolerance=1e-6):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_allclose(other[name], array, rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize(("kind", "size"), list(zip(LEARNERS, itertools.cycle([4, 2]), strict=False)))
def test_processes_that_share_batches_learn_what_one_learns_with_all_of_them(kind, size):
    """Batches of 5 and a last one of 3; words are dropped, gradients clipped."""

    def act(team):
        learner = LEARNERS[kind]()
        trained = Training(learner, RECIPE, team=team).run()
        return learner.state(), [entry["loss"] for entry in trained.history]

    alone = LEARNERS[kind]()
    expected = [entry["loss"] for entry in Training(alone, RECIPE).run().history]
    first, *others = together(size, act)
    if isinstance(first, Exception):
        raise first
    close(alone.state(), first[0], 0 if kind in SAME_BITS else 1e-6)
    np.testing.assert_allclose(first[1], expected, rtol=1e-6)
    for state, losses in others:
        close(first[0], state, 0)
        assert losses == first[1]


class Memory(Checkpointer):
    how_to_resume = "say please"

    def __init__(self, checkpoint=None):
        self.kept, self.records = checkpoint, []

    def resume(self):
        return self.kept

    def checkpoint(self, position, state, best):
        self.kept = position, state, best

    def record(self, history):
        self.records.append(list(history))


@pytest.mark.parametrize("kind", ["average, compiled", "layerwise, mined negatives"])
def test_a_checkpoint_of_some_processes_goes_on_with_another_number(kind):
    whole, cut = LEARNERS[kind](), Memory()
    Training(whole, RECIPE).run()
    short = Recipe(epochs=2, batch=BATCH, rate=0.02)
    together(2, lambda team: Training(LEARNERS[kind](), short, checkpointer=cut, team=team).run())

    def go_on(team):
        learner = LEARNERS[kind]()
        Training(learner, RECIPE, checkpointer=Memory(cut.kept) if team.rank == 0 else None, team=team).run()
        return learner.state()

    for state in together(3, go_on):
        close(whole.state(), state)


def test_only_the_first_process_measures_and_keeps():
    asked, checkpointers = [], [Memory(), Memory()]

    def act(team):
        def evaluate(parameters):
            asked.append(team.rank)
            return {"NDCG@5": 0.5}

        recipe = Recipe(epochs=9, batch=BATCH, rate=0.02, patience=2)
        return Training(plain_average(), recipe, evaluate, checkpointers[team.rank], team=team).run().history

    first, second = together(2, act)
    assert [entry["NDCG@5"] for entry in second] == [0.5, 0.5, 0.5]  # the first epoch, and two without a better one
    assert len(first) == len(second) == 3
    assert asked == [0, 0, 0]
    assert checkpointers[0].records
    assert not checkpointers[1].records


def test_what_is_not_finite_stops_all_before_the_step():
    def act(team):
        learner = compiled_average()
        state = learner.state()
        state["query_rows"][3, 0] = np.nan
        learner.restore(state)
        Training(learner, RECIPE, team=team).run()

    given = together(2, act)
    assert all(isinstance(error, TrainingStopped) and "the loss of batch" in str(error) for error in given)


def test_a_process_that_fails_ends_the_others():
    class Failing(NumpyAverage):
        def gradients(self, batch):
            if self._team.rank == 1 and self._step == 2:
                raise InputError("the disk is full")
            return super().gradients(batch)

    def act(team):
        made = Failing(table(1), table(2), toy_pairs(), LOSS.compiled(), 0.5, 0.0)
        Training(made, RECIPE, checkpointer=Memory(), team=team).run()

    first, second = together(2, act)
    assert isinstance(first, PeerLost)
    assert "say please" in str(first)
    assert str(second) == "the disk is full"


def test_processes_that_read_different_data_are_told_so():
    def act(team):
        made = plain_average()
        made.pairs = Pairs(
            *(getattr(made.pairs, name) for name in ("queries", "documents")), *[np.zeros(9, np.int32)] * 3
        )
        Training(made if team.rank else plain_average(), RECIPE, team=team).run()

    _, second = together(2, act)
    assert "read different data" in str(second)


def test_what_cannot_be_shared_says_so():
    class Solitary(plain_average().__class__):
        join = Learner.join

    def act(team):
        Training(Solitary(table(1), table(2), toy_pairs(), LOSS.compiled(), 0.5, 0.0), RECIPE, team=team).run()

    for error in together(2, act):
        assert "cannot be trained by 2 processes" in str(error)


@pytest.mark.parametrize(
    ("kind", "floats"),
    [("average, compiled", (EXAMPLES + 1) // 2 * (2 * SIZE + 2)), ("cnn, one tower, fixed vectors", None)],
)
def test_only_what_is_needed_travels(kind, floats):
    """Of the average two vectors a pair; never the tables."""

    def act(team):
        learner = LEARNERS[kind]()
        learner.join(team)
        learner.advance(np.arange(EXAMPLES), EXAMPLES, 0.01)
        return team.floats

    sent = max(together(2, act))
    assert sent <= (floats or 2 * WORDS * SIZE)
