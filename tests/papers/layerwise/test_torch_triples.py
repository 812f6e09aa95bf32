"""Learning from triples: the loss goes down, steps are Adam's, can be resumed, and stop before what is no number."""

import math

import numpy as np
import pytest

from isogloss.papers.layerwise.triples import HardNegatives, InBatchNegatives, RandomNegatives, Triples
from isogloss.papers.training_loop import Recipe, Training, TrainingStopped
from isogloss.storage.errors import InputError
from isogloss.text.ids import TextIds

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.adversary import CriticSettings, LayerwiseAdversary, doubts
from isogloss.papers.layerwise.matchers.layered import LayeredCnn, LayeredScorer, VectorPairNetwork
from isogloss.papers.layerwise.matchers.scorer import Compared, Scorer, WordTables
from isogloss.papers.layerwise.torch_triples import TorchTriples, ranking_loss
from isogloss.papers.torch_inference import DeviceTexts
from isogloss.papers.towers import Texts

WORDS, DIMENSION, PAIRS, BATCH, RATE = 15, 5, 40, 8, 0.01
ORDER = np.random.default_rng(3).permutation(PAIRS)
CRITICS = CriticSettings(hidden=8, steps=2, rate=0.01)
CPU = torch.device("cpu")
BETTER = CriticSettings(hidden=16, steps=5, rate=0.01)


def translations(seed=0):
    """Queries of three to six words, and documents that say the same in another language, word by word."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 7, PAIRS)
    offsets, ids = np.append(0, np.cumsum(lengths)), rng.integers(0, WORDS, lengths.sum()).astype(np.int32)
    numbers = np.arange(PAIRS, dtype=np.int32)
    return Triples(TextIds(ids, offsets), TextIds((ids + 1) % WORDS, offsets), numbers, numbers)


def scorer(seed=0, cosine=True, layers=2, whole_maps=False, dropout=0.1):
    rng = np.random.default_rng(seed)
    tables = [rng.normal(0, 0.5, (WORDS, DIMENSION)).astype(np.float32) for _ in range(2)]
    torch.manual_seed(seed)
    tower = LayeredCnn(DIMENSION, layers, (2, 3), kernels=6, k=3)
    network = None if cosine else VectorPairNetwork(tower.outputs, 8)
    return LayeredScorer(WordTables(*tables, dropout=dropout), tower, network, whole_maps)


def learner(
    alphas=(),
    beta=0.1,
    critics=CRITICS,
    negatives=RandomNegatives,
    margin=0.5,
    seed=0,
    device="cpu",
    recorded=True,
    **how,
):
    made, data = scorer(seed, **how), translations()
    extra = LayerwiseAdversary(made.feature_sizes, alphas, beta, critics, seed) if alphas else None
    return TorchTriples(made, data, negatives(data, seed), margin, 1.0, seed, device, extra, recorded)


def learn(made, epochs, rate=RATE):
    history = []
    for epoch in range(epochs):
        made.begin_epoch(epoch)
        history.append({"loss": made.advance(ORDER, BATCH, rate).mean(), **made.report()})
    return history


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.mark.parametrize(("cosine", "negatives"), [(True, RandomNegatives), (False, InBatchNegatives)])
def test_it_learns_to_prefer_positives(cosine, negatives):
    history = learn(learner(cosine=cosine, negatives=negatives), 12)
    assert history[-1]["loss"] < 0.5 * history[0]["loss"]


def test_the_loss_is_the_hinge_of_the_scores():
    made = learner(dropout=0.0)
    made.begin_epoch(0)
    data, drawn, rows = made.triples, made.negatives.of(np.arange(PAIRS)), ORDER[:BATCH]

    def texts(side, numbers):
        words = [side.ids[side.offsets[i] : side.offsets[i + 1]] for i in numbers]
        lengths = torch.tensor([len(each) for each in words])
        padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(each) for each in words], batch_first=True)
        return Texts(padded, lengths)

    with torch.no_grad():
        queries = texts(data.queries, data.query_of[rows])
        positive = made.scorer(queries, texts(data.documents, data.positive_of[rows]))
        negative = made.scorer(queries, texts(data.documents, drawn[rows, 0]))
    expected = (0.5 - positive + negative).clamp(min=0).mean()
    np.testing.assert_allclose(made.advance(rows, BATCH, RATE), [float(expected)], rtol=1e-5)


@pytest.mark.parametrize("alphas", [(), (-0.5, 1.0)])
def test_a_restored_learner_goes_on_as_if_it_had_never_stopped(alphas):
    whole, resumed = learner(alphas), learner(alphas, seed=1)
    learn(whole, 1)
    whole.begin_epoch(1)
    whole.advance(ORDER[: 2 * BATCH], BATCH, RATE)
    resumed.negatives.seed = 0
    resumed.restore(whole.state())
    for made in (whole, resumed):
        made.begin_epoch(1)
        made.advance(ORDER[2 * BATCH :], BATCH, RATE)
        made.begin_epoch(2)
        made.advance(ORDER, BATCH, RATE)
    assert_same(whole.state(), resumed.state())
    assert whole.report() == resumed.report()


def test_batches_in_several_calls_are_the_same_as_in_one():
    one, many = learner((0.5, 1.0)), learner((0.5, 1.0))
    one.begin_epoch(0)
    many.begin_epoch(0)
    losses = one.advance(ORDER, BATCH, RATE)
    parts = [many.advance(ORDER[start : start + 2 * BATCH], BATCH, RATE) for start in range(0, PAIRS, 2 * BATCH)]
    np.testing.assert_array_equal(losses, np.concatenate(parts))
    assert_same(one.state(), many.state())


def feature_gap(made):
    """How far apart the means of the two languages' vectors are, on each layer."""
    numbers = np.arange(PAIRS)
    with torch.no_grad():
        made.scorer.eval()
        layers = (
            made.scorer.query_layers(DeviceTexts(made.triples.queries, CPU).padded(numbers)),
            made.scorer.document_layers(DeviceTexts(made.triples.documents, CPU).padded(numbers)),
        )
    return [float((a.vectors.mean(dim=0) - b.vectors.mean(dim=0)).norm()) for a, b in zip(*layers, strict=True)]


def test_a_positive_alpha_brings_the_languages_together_and_a_negative_one_drives_them_apart():
    gaps = {}
    for alpha in (1.0, 0.0, -1.0):
        made = learner((alpha, 0.0), beta=0.3, dropout=0.0, critics=BETTER)
        made.scorer.tables.query.data += 0.7  # two languages in two places
        history = learn(made, 6, rate=0.005)
        gaps[alpha] = feature_gap(made)[0], history[-1]["W_1"]
    for gap in range(2):
        assert gaps[1.0][gap] < 0.5 * gaps[0.0][gap] and 1.5 * gaps[0.0][gap] < gaps[-1.0][gap]


def test_critics_with_no_say_change_nothing_but_watch():
    watched, alone = learner((1.0, 1.0), beta=0.0, dropout=0.0, critics=BETTER), learner(dropout=0.0)
    history = learn(watched, 2)
    learn(alone, 2)
    assert_same(watched.parameters(), alone.parameters())
    assert history[-1]["W_1"] > 0 and history[-1]["W_2"] > 0
    assert doubts(history[-1]) == []


def test_whole_maps_are_shown_to_the_critics():
    made = learner((0.5, 1.0), whole_maps=True)
    assert made.scorer.feature_sizes == [36, 12]
    assert learn(made, 2)[-1]["W_1"] > 0


def test_the_learner_stops_before_what_is_not_finite_and_stays_as_it_was():
    made = learner()
    made.begin_epoch(0)
    made.advance(ORDER, BATCH, RATE)
    before = made.parameters()
    made.scorer.tables.query.data[0, 0] = torch.inf
    losses = made.advance(ORDER, BATCH, RATE)
    assert not np.isfinite(losses[-1]) and np.isfinite(losses[:-1]).all()
    assert np.isfinite(made.parameters()["tower.layers.0.by_width.0.weight"]).all()
    if len(losses) == 1:
        np.testing.assert_array_equal(before["tables.document"], made.parameters()["tables.document"])


@pytest.mark.parametrize("critics", [CriticSettings(rate=1e9, steps=3), CriticSettings(rate=1e38, steps=1)])
def test_a_critic_that_explodes_stops_training_with_advice(critics):
    with pytest.raises(TrainingStopped, match=r"critic of layer . diverged.*critic_rate"):
        learn(learner((0.5, 1.0), critics=critics), 3)


def test_flat_critics_and_idle_steps_are_doubted():
    flat = learn(learner((0.5, 1.0), critics=CriticSettings(clip=1e-9)), 1)[-1]
    assert flat["slope_1"] < 1e-6
    assert any("critic of layer 1 is flat" in each for each in doubts(flat))
    made = learner(margin=1e-9, cosine=False)
    torch.nn.init.constant_(made.scorer.network.output.bias, 0.0)
    torch.nn.init.constant_(made.scorer.network.output.weight, 0.0)
    torch.nn.init.constant_(made.scorer.network.hidden.bias, -1e6)
    assert "all gradients are zero" in doubts(learn(made, 1)[-1])[0]


def test_the_loop_trains_it_with_hard_negatives():
    data = translations()
    candidates = np.random.default_rng(0).integers(0, PAIRS, (PAIRS, 5)).astype(np.int32)
    made = TorchTriples(scorer(), data, HardNegatives(data, 0, candidates), 0.5)
    trained = Training(made, Recipe(epochs=6, batch=BATCH, rate=RATE), lambda _: made.report()).run()
    assert trained.history[-1]["loss"] < trained.history[0]["loss"] and "idle" in trained.history[-1]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("cosine", [True, False])
def test_a_gpu_learns_the_same(recorded, cosine):
    """With weights clipped and nothing dropped no random number has a say; a GPU's convolutions round more (TF32)."""
    how = {"alphas": (0.5, 1.0), "critics": CriticSettings(clip=0.1, steps=3), "dropout": 0.0, "cosine": cosine}
    one, other = learner(**how), learner(**how, device="cuda", recorded=recorded)
    for left, right in zip(learn(one, 3), learn(other, 3), strict=True):
        for name, value in left.items():
            assert right[name] == pytest.approx(value, rel=5e-2, abs=5e-3), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_goes_on_where_it_stopped():
    whole, resumed = (learner((0.5, 1.0), device="cuda") for _ in range(2))
    learn(whole, 1)
    resumed.restore(whole.state())
    for made in (whole, resumed):
        made.begin_epoch(1)
    losses = [made.advance(ORDER, BATCH, RATE) for made in (whole, resumed)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3, atol=1e-4)


class _Product(Scorer):
    """One number a word: the scores of texts are products of sums."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.linspace(-1, 1, WORDS))

    def forward(self, queries, documents):
        return self.table[queries.words].sum(1) * self.table[documents.words].sum(1)


def test_any_scorer_compares_by_scoring_twice():
    words = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[5, 6], [7, 8]]), torch.tensor([[9, 1], [2, 3]])
    texts = [Texts(each, torch.tensor([2, 2])) for each in words]
    made = _Product()
    compared = made.compare(*texts)
    assert isinstance(compared, Compared) and compared.features == ()
    torch.testing.assert_close(compared.positive, made(texts[0], texts[1]))
    torch.testing.assert_close(compared.negative, made(texts[0], texts[2]))


def test_what_cannot_be_is_said():
    data = translations()
    with pytest.raises(InputError, match="unknown device 'gpu'"):
        TorchTriples(scorer(), data, RandomNegatives(data, 0), device="gpu")
    fixed = scorer()
    fixed.requires_grad_(False)
    with pytest.raises(InputError, match="nothing to learn"):
        TorchTriples(fixed, data, RandomNegatives(data, 0))


def test_the_softmax_loss_is_that_of_the_dssm_paper_and_the_hinge_a_mean_over_all_negatives():
    positive, negative = torch.tensor([1.0, -0.5]), torch.tensor([0.5, 0.0, -1.0, 2.0])  # of query 0, 1; 0, 1
    compared = Compared(positive, negative)
    shares = [math.exp(1) / (math.exp(1) + math.exp(0.5) + math.exp(-1))]
    shares.append(math.exp(-0.5) / (math.exp(-0.5) + math.exp(0) + math.exp(2)))
    assert float(ranking_loss(compared, None)) == pytest.approx(-np.log(shares).mean())
    assert float(ranking_loss(compared, 1.0)) == pytest.approx((0.5 + 1.5 + 0 + 3.5) / 4)


def test_it_learns_by_the_softmax_of_several_negatives():
    made = learner(margin=None, negatives=lambda data, seed: RandomNegatives(data, seed, draws=4))
    history = learn(made, 12)
    assert history[-1]["loss"] < 0.8 * history[0]["loss"]  # cosines are below 1
