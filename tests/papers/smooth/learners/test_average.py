"""The learners of the average model: gradients, Adam, the compiled against the plain one, what is not finite."""

import numpy as np
import pytest

from isogloss.papers.examples import Pairs, measure_scores
from isogloss.papers.similarity import smooth_cosine, smooth_scale
from isogloss.papers.smooth.learners.reference import NumpyAverage
from isogloss.papers.smooth.losses import BAND, CompiledLoss, make_loss
from isogloss.storage.errors import InputError
from isogloss.text.ids import TextIds

WORDS, TEXTS, PAIRS = 30, 20, 53
ZERO_WORD = 0  # its vector is zero
RATE = 0.02
ORDER = np.random.default_rng(11).permutation(PAIRS)
LOSSES = {
    "sosl": make_loss("sosl", (0.25, 0.75)),
    "mse": make_loss("mse", (0.25, 0.75)),
    "3part": make_loss("3part", (0.25, 0.5, 0.875)),
    "po": make_loss("po", (0.25, 0.75), slope=4.0),
    "po-open": make_loss("po-open", (0.25, 0.75), slope=4.0),
}  # fmt: skip


def text_ids(words):
    """Texts as lists of words."""
    return TextIds(np.array([word for text in words for word in text], np.int32), np.cumsum([0, *map(len, words)]))


def random_texts(rng, longest):
    """The first is empty, the second has only the word with the zero vector, the third one word many times."""
    lengths = rng.integers(0, longest + 1, TEXTS - 3)
    return text_ids([[], [ZERO_WORD], [5, 5, 5, 7], *(rng.integers(0, WORDS, n).tolist() for n in lengths)])


def toy_pairs(seed=0):
    rng = np.random.default_rng(seed)
    numbers = [rng.permutation(np.arange(PAIRS) % TEXTS).astype(np.int32) for _ in range(2)]
    return Pairs(random_texts(rng, 5), random_texts(rng, 9), *numbers, rng.integers(0, 3, PAIRS).astype(np.int32))


def tables(size=6):
    rng = np.random.default_rng(1)
    made = [rng.normal(0, 0.7, (WORDS, size)).astype(np.float32) for _ in range(2)]
    for table in made:
        table[ZERO_WORD] = 0
    return made


def learner(kind=NumpyAverage, loss="sosl", eps=0.5, clip=0.0, size=6, pairs=None):
    return kind(*tables(size), pairs or toy_pairs(), LOSSES[loss].compiled(), eps, clip)


def numba_average():
    """The compiled learner, on one thread: waiting for others takes long where many programs run."""
    pytest.importorskip("numba").set_num_threads(1)
    from isogloss.papers.smooth.learners.cpu import NumbaAverage

    return NumbaAverage


@pytest.fixture(params=["plain", "compiled"])
def average(request):
    return NumpyAverage if request.param == "plain" else numba_average()


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def mean_loss(torch, leaves, pairs, batch, loss, eps):
    """The model as its definition says, for torch to differentiate."""
    sides = []
    for leaf, texts, of in zip(
        leaves, (pairs.queries, pairs.documents), (pairs.query_of, pairs.document_of), strict=True
    ):
        words = [texts.ids[texts.offsets[i] : texts.offsets[i + 1]].astype(np.int64) for i in of[batch]]
        zero = torch.zeros(leaf.shape[1], dtype=leaf.dtype)
        means = [leaf(own).mean(dim=0) if len(own) else zero for own in map(torch.from_numpy, words)]
        sides.append(torch.tanh(torch.stack(means)))
    grades = torch.from_numpy(pairs.grades[batch].astype(np.int64))
    return loss.values(smooth_cosine(*sides, eps), grades).mean()


class Leaf:
    """A table that torch differentiates."""

    def __init__(self, torch, table):
        self.table = torch.tensor(table, requires_grad=True)
        self.dtype, self.shape = self.table.dtype, self.table.shape

    def __call__(self, ids):
        return self.table[ids]


@pytest.mark.parametrize("eps", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_torch_finds_in_double_precision(torch, loss, eps):
    pairs, batch = toy_pairs(), ORDER[:40]
    leaves = [Leaf(torch, table.astype(np.float64)) for table in tables()]
    expected = mean_loss(torch, leaves, pairs, batch, LOSSES[loss], eps)
    expected.backward()
    found, gradients = learner(loss=loss, eps=eps).gradients(batch)
    assert found == pytest.approx(expected.item(), abs=1e-6)
    for leaf, (touched, rows) in zip(leaves, gradients, strict=True):
        dense = np.zeros(leaf.shape)
        dense[touched] = rows
        np.testing.assert_allclose(dense, leaf.table.grad.numpy(), atol=1e-5)
        assert len(np.unique(touched)) == len(touched)


@pytest.mark.parametrize("batch", [2, 8])
def test_parameters_are_those_of_torchs_adam_over_all_rows(torch, average, batch):
    """Also of the rows that a batch does not touch, and after the rate has changed."""
    learning, pairs = learner(average), toy_pairs()
    leaves = [Leaf(torch, table.astype(np.float64)) for table in tables()]
    optimiser = torch.optim.Adam([leaf.table for leaf in leaves], lr=RATE)
    for epoch, rate in enumerate((RATE, RATE, RATE / 4)):
        order, losses = np.random.default_rng(epoch).permutation(PAIRS), []
        optimiser.param_groups[0]["lr"] = rate
        for first in range(0, PAIRS, batch):
            optimiser.zero_grad()
            loss = mean_loss(torch, leaves, pairs, order[first : first + batch], LOSSES["sosl"], 0.5)
            (loss + sum(0 * leaf.table.sum() for leaf in leaves)).backward()  # the texts may all be empty
            optimiser.step()
            losses.append(loss.item())
        np.testing.assert_allclose(learning.advance(order, batch, rate), losses, rtol=1e-4, atol=1e-6)
        for leaf, table, start in zip(leaves, learning.parameters().values(), tables(), strict=True):
            expected = leaf.table.detach().numpy()
            assert np.linalg.norm(table - expected) < 1e-4 * np.linalg.norm(expected - start)


def test_the_norm_of_both_tables_gradients_together_is_clipped(average):
    free, loose, tight = (learner(average, clip=clip) for clip in (0.0, 1e3, 1e-3))
    moments = []
    for learning in (free, loose, tight):
        learning.advance(ORDER[:9], 9, RATE)
        state = learning.state()
        moments.append(np.concatenate([state[f"{side}_rows"][:, 1].ravel() for side in ("query", "document")]))
    np.testing.assert_array_equal(moments[0], moments[1])
    norms = [np.linalg.norm(moment) for moment in moments]
    assert norms[0] > 2e-4
    assert norms[2] == pytest.approx(0.1 * 1e-3, rel=1e-4)
    np.testing.assert_allclose(moments[2] / norms[2], moments[0] / norms[0], atol=1e-5)


SETTINGS = [
    ("sosl", 0.5, 0.0, 10, 8), ("sosl", 1.0, 0.05, 64, 16), ("sosl", 0.0, 1.0, 10, 7), ("sosl", 0.5, 0.05, 1, 8),
    ("mse", 0.3, 0.3, 10, 53), ("3part", 0.3, 1e-3, 64, 100), ("po", 0.5, 0.0, 10, 1), ("po", 0.0, 0.1, 64, 9),
    ("po-open", 0.5, 0.1, 64, 9),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "eps", "clip", "size", "batch"), SETTINGS)
def test_the_compiled_learner_takes_the_plain_ones_steps(loss, eps, clip, size, batch):
    plain, compiled = (learner(kind, loss, eps, clip, size) for kind in (NumpyAverage, numba_average()))
    for first in range(0, PAIRS, batch):
        before = plain.state()
        compiled.restore(before)
        one, other = (each.advance(ORDER[first : first + batch], batch, RATE) for each in (plain, compiled))
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-7)
        expected, found = plain.state(), compiled.state()
        assert found["step"] == expected["step"] == 1 + first // batch
        for rows in ("query_rows", "document_rows"):
            np.testing.assert_allclose(found[rows][:, 1:], expected[rows][:, 1:], rtol=1e-4, atol=1e-7)
            np.testing.assert_allclose(found[rows][:, 0], expected[rows][:, 0], atol=RATE / 50)
            untouched = (expected[rows][:, 1] == before[rows][:, 1]).all(axis=1)
            np.testing.assert_array_equal(found[rows][untouched], before[rows][untouched])


@pytest.mark.parametrize("loss", ["sosl", "po"])
def test_the_compiled_learner_learns_what_the_plain_one_learns(loss):
    plain, compiled = (learner(kind, loss, clip=0.5) for kind in (NumpyAverage, numba_average()))
    one, other = (np.concatenate([each.advance(ORDER, 8, RATE) for _ in range(20)]) for each in (plain, compiled))
    np.testing.assert_allclose(other, one, atol=1e-3)
    assert one[-7:].mean() < 0.7 * one[:7].mean()


@pytest.mark.parametrize("clip", [0.0, 0.05])
def test_the_number_of_threads_makes_no_difference(clip):
    kind, numba = numba_average(), pytest.importorskip("numba")
    states = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        learning = learner(kind, clip=clip, size=10)
        losses = np.concatenate([learning.advance(ORDER, 8, RATE) for _ in range(3)])
        states.append(learning.state() | {"losses": losses})
    assert_same(*states)


def test_the_size_of_a_chunk_makes_no_difference(average):
    whole, parts = learner(average, clip=0.1), learner(average, clip=0.1)
    losses = whole.advance(ORDER, 8, RATE)
    found = [parts.advance(ORDER[a:b], 8, RATE) for a, b in ((0, 8), (8, 40), (40, PAIRS))]
    np.testing.assert_array_equal(np.concatenate(found), losses)
    assert len(losses) == 7
    assert_same(parts.state(), whole.state())


def test_a_restored_learner_goes_on_as_if_it_had_never_stopped(average):
    whole, other = learner(average), learner(average)
    whole.advance(ORDER[:16], 8, RATE)
    state = whole.state()
    rest = whole.advance(ORDER[16:], 8, RATE)
    other.restore(state)
    np.testing.assert_array_equal(other.advance(ORDER[16:], 8, RATE), rest)
    assert_same(other.state(), whole.state())
    assert (state["step"], state["step"].shape) == (2, ())  # what came later is no part of the state
    with pytest.raises(ValueError, match=r"shape \(30, 3, 7\), not \(30, 3, 6\)"):
        learner(average).restore(learner(average, size=7).state())
    older = {name: state[name] for name in ("query_rows", "document_rows", "step")}
    with pytest.raises(InputError, match="an earlier version, which knew lazy Adam; begin the run again"):
        learner(average).restore(older)


def test_no_pairs_are_no_steps(average):
    assert learner(average).advance(ORDER[:0], 8, RATE).shape == (0,)


def test_texts_without_a_word_at_all_change_nothing(average):
    grades = np.arange(3, dtype=np.int32)
    nothing = Pairs(text_ids([[]]), text_ids([[]]), 0 * grades, 0 * grades, grades)
    learning = learner(average, pairs=nothing)
    before = learning.parameters()
    assert learning.advance(np.arange(3), 2, RATE) == pytest.approx([0.25**2 / 2, 0.75**2])  # all score 0
    assert_same(learning.parameters(), before)


def test_other_pairs_can_be_learned_from(average):
    learning, fresh = learner(average), learner(average, pairs=toy_pairs(7))
    learning.use(toy_pairs(7))
    assert learning.examples == PAIRS
    np.testing.assert_array_equal(learning.advance(ORDER, 8, RATE), fresh.advance(ORDER, 8, RATE))


def spoilt(how):
    """Pairs, tables and a loss of which the pair ORDER[20] has no finite loss, or no finite gradient."""
    pairs, (queries, documents), loss = toy_pairs(), tables(), LOSSES["sosl"].compiled()
    pairs.documents.ids[pairs.documents.ids >= WORDS - 2] = 1
    repeated = 2
    pairs.document_of[pairs.document_of == repeated] = 4
    pairs.document_of[ORDER[20]] = repeated
    pairs.documents.ids[pairs.documents.offsets[repeated] :][:2] = WORDS - 2, WORDS - 1
    if how == "not a number":
        documents[WORDS - 1, 3] = np.nan
    elif how == "infinite vectors":
        documents[WORDS - 2], documents[WORDS - 1] = np.inf, -np.inf
    else:
        pairs.grades[ORDER[20]] = 3
        lower, upper = (np.append(ends, np.float32(np.inf)) for ends in (loss.lower, loss.upper))
        loss = CompiledLoss(BAND, lower, upper, 1.0)
    return queries, documents, pairs, loss, 0.5, 1.0


@pytest.mark.parametrize("how", ["not a number", "infinite vectors", "infinite loss"])
def test_learning_stops_before_a_step_that_is_not_finite(average, how):
    stopped, before = average(*spoilt(how)), average(*spoilt(how))
    losses = stopped.advance(ORDER, 8, RATE)
    expected = before.advance(ORDER[:16], 8, RATE)
    np.testing.assert_array_equal(losses[:2], expected)
    assert len(losses) == 3
    assert not np.isfinite(losses[2])
    assert stopped.state()["step"] == before.state()["step"] == 2
    for name, table in before.parameters().items():
        np.testing.assert_allclose(stopped.parameters()[name], table, atol=1e-6)
    after = (each.advance(ORDER[24:], 8, RATE) for each in (stopped, before))
    np.testing.assert_allclose(*after, rtol=1e-4)  # it can go on elsewhere


def words_of_topics(rng, topics, texts_a_topic, words_a_topic=8, noise=0.4):
    """Texts of ten words, most of them of their topic's own, the others of any."""
    made = []
    for topic in np.repeat(np.arange(topics), texts_a_topic):
        own = topic * words_a_topic + rng.integers(0, words_a_topic, 10)
        made.append(np.where(rng.random(10) < noise, rng.integers(0, topics * words_a_topic, 10), own).tolist())
    return text_ids(made)


def test_every_learner_ranks_as_well(torch):
    """Unseen queries, among documents of their topic (grade 2), of the next one (grade 1) and of any other."""
    from isogloss.papers.smooth.learners.torch_pairs import TorchAverage
    from isogloss.papers.towers import TowerSizes, make_encoders

    def torch_average(query_table, document_table, *rest):
        return TorchAverage(*make_encoders("average", query_table, document_table, TowerSizes()), *rest)

    rng, topics, queries_a_topic = np.random.default_rng(0), 12, 30
    documents = words_of_topics(rng, topics, 8)
    queries = words_of_topics(rng, topics, queries_a_topic)
    query_of = np.repeat(np.arange(len(queries), dtype=np.int32), 24)
    document_of = np.concatenate([rng.permutation(len(documents))[:24] for _ in range(len(queries))]).astype(np.int32)
    apart = (document_of // 8 - query_of // queries_a_topic) % topics
    grades = np.select([apart == 0, apart == 1], [2, 1], 0).astype(np.int32)
    unseen = query_of % queries_a_topic >= 20
    pairs = Pairs(queries, documents, *(each[~unseen] for each in (query_of, document_of, grades)))
    first = [rng.normal(0, 0.1, (topics * 8, 16)).astype(np.float32) for _ in range(2)]
    found = {}
    for name, kind in (("plain", NumpyAverage), ("compiled", numba_average()), ("torch", torch_average)):
        learning = kind(*first, pairs, LOSSES["sosl"].compiled(), 1.0, 1.0)
        for epoch in range(8):
            learning.advance(np.random.default_rng(epoch).permutation(len(pairs)), 64, RATE)
        learned = learning.parameters()
        query_vectors, document_vectors = (
            smooth_scale(np.tanh(learned[side][texts.ids].reshape(len(texts), 10, -1).mean(axis=1)), 1.0)
            for side, texts in (("query_table", queries), ("document_table", documents))
        )
        scores = (query_vectors[query_of[unseen]] * document_vectors[document_of[unseen]]).sum(axis=1)
        values = measure_scores(query_of[unseen], grades[unseen], scores, document_of[unseen], 2, ("NDCG@5",))
        found[name] = values["NDCG@5"].mean()
    assert 0.7 < found["torch"] < 0.9
    assert found["plain"] == pytest.approx(found["torch"], abs=0.005)
    assert found["compiled"] == pytest.approx(found["torch"], abs=0.005)
