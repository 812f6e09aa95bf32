"""The matchers as systems: each learns a toy ranking, is kept, resumed, and measured from arrays alone."""

import subprocess
import sys

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.papers.layerwise.matchers.ranking_data import RankingData
from isogloss.papers.layerwise.matchers.systems import (
    AiCnn,
    Clann,
    Cntn,
    Dssm,
    MatchSrnn,
    TranslatingCntn,
    TranslatingMatchSrnn,
)
from isogloss.papers.training_loop import Training
from isogloss.storage.errors import InputError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

DOCUMENTS, WORDS = 30, 14
QUICK = {"dimension": 12, "epochs": 12, "batch": 8, "rate": 0.01, "dropout": 0.0, "patience": 0}
SYSTEMS = {
    Dssm: {"hidden": 12, "outputs": 8},
    Cntn: {"filters": 12, "window": 2, "outputs": 12, "layers": 1, "top": 1},
    AiCnn: {"filters": 12, "window": 2, "slices": 6},
    MatchSrnn: {"channels": 4, "hidden": 5, "epochs": 8},
    Clann: {"outputs": 12, "hidden": 8, "discriminator": 4},
}
TRANSLATING = {
    TranslatingCntn: SYSTEMS[Cntn],
    TranslatingMatchSrnn: SYSTEMS[MatchSrnn],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Documents of four words; queries of three of them, in either language; candidates for one pair."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("toy")
    texts = [rng.permutation(WORDS)[:4] for _ in range(DOCUMENTS)]
    asked = [rng.permutation(texts[number % DOCUMENTS])[:3] for number in range(4 * DOCUMENTS)]
    for language, word in (("en", "word"), ("fr", "mot")):
        lines = [f"q{n}\t-\t{' '.join(f'{word}{w}' for w in query)}\n" for n, query in enumerate(asked)]
        (path / f"wiki_{language}.queries").write_text("".join(lines), encoding="utf-8")
        lines = [f"d{n}\t-\t{' '.join(f'{word}{w}' for w in text)}\n" for n, text in enumerate(texts)]
        (path / f"wiki_{language}.documents").write_text("".join(lines), encoding="utf-8")
        for other in ("en", "fr"):
            lines = [f"q{n}\td{n % DOCUMENTS}\t2\n" for n in range(len(asked))]
            (path / f"{language}2{other}.rel").write_text("".join(lines), encoding="utf-8")
        for folder, names in (("train", range(90)), ("dev", range(90, 120))):
            (path / "splits").mkdir(exist_ok=True)
            (path / "splits" / f"{language}.{folder}").write_text("".join(f"q{n}\n" for n in names), encoding="utf-8")
    (path / "candidates").mkdir()
    lists = [
        f"q{n}\td{document}\t{int(document == n % DOCUMENTS)}\n"
        for n in range(90, 110)
        for document in dict.fromkeys([(7 * n + 1) % DOCUMENTS, n % DOCUMENTS, *rng.integers(DOCUMENTS, size=8)])
    ]
    (path / "candidates" / "en2fr.dev").write_text("".join(lists), encoding="utf-8")
    lexicon = [f"word{w}\tmot{w}\n" for w in range(WORDS)]
    (path / "lexicon.tsv").write_text("".join(lexicon), encoding="utf-8")
    return path


def dataset(folder, pair=("en", "fr")):
    return load_dataset(WikiClir(str(folder)), pair)


def made(system, pair=("en", "fr"), **changes):
    sizes = SYSTEMS.get(system) or TRANSLATING[system]
    return system(system.options_type(**{**QUICK, **sizes, **changes}), *pair)


def mean_map(system, data, protocol="candidates"):
    system.index(data.documents, ("text",))
    task = make_task(data, "dev", protocol)
    return evaluate_run(task.run(system), task).means()["MAP"]


@pytest.mark.parametrize(
    ("system", "negatives"), [*((system, "random") for system in SYSTEMS), (Dssm, "hard"), (AiCnn, "in-batch")]
)
def test_each_learns_to_rank_across_languages(folder, system, negatives):
    data, learning = dataset(folder), made(system, negatives=negatives)
    trained = learning.train(data)
    assert trained.epochs[-1]["loss"] < 0.5 * trained.epochs[0]["loss"]
    found = mean_map(learning, data)
    assert found > 0.5  # by chance: .3
    assert found == pytest.approx(trained.epochs[-1]["MAP"])  # the dev evaluator measures what evaluate does


@pytest.mark.parametrize("system", [Dssm, MatchSrnn])
def test_one_language_has_one_vocabulary_and_equal_words_count_at_once(folder, system):
    data, learning = dataset(folder, ("fr", "fr")), made(system, ("fr", "fr"), epochs=3)
    learning.train(data)
    assert learning.model.words["query"] is learning.model.words["document"]
    assert mean_map(learning, data, "sampled") > 0.6


@pytest.mark.parametrize("system", [*SYSTEMS, *TRANSLATING])
def test_what_is_kept_scores_the_same(folder, system, tmp_path):
    data = dataset(folder)
    extra = {"lexicon": str(folder / "lexicon.tsv")} if system in TRANSLATING else {}
    learning = made(system, epochs=1, **extra)
    learning.fit(data)
    learning.index(data.documents, ("text",))
    learning.save(tmp_path)
    again = made(system, **extra).load(tmp_path)
    query = "word3 word5 nothing"
    np.testing.assert_array_equal(again.scores(query), learning.scores(query))
    assert len(learning.scores(query)) == DOCUMENTS
    rows = np.array([4, 2])
    np.testing.assert_allclose(learning.score(query, rows), learning.scores(query)[rows], rtol=1e-5, atol=1e-6)
    assert again.unknown_words(query) == ["nothing"]
    assert np.isfinite(learning.score("nothing", rows)).all()


class Interrupted:
    """Keeps a state after some batches, as a run directory would."""

    def __init__(self):
        self.kept = None

    def resume(self):
        return self.kept

    def checkpoint(self, position, state, best):
        self.kept = position, state, best

    def record(self, history):
        pass

    how_to_resume = ""


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_resumed_training_comes_to_the_same_end(folder, system):
    data = made(system, negatives="hard").read(dataset(folder))
    small = {"epochs": 3, "negatives": "hard", "dropout": 0.3}
    whole = made(system, **small).train_arrays(data)
    learner, _ = made(system, **small).prepare_arrays(data)
    checkpointer, recipe = Interrupted(), made(system, **small).recipe
    first = Training(learner, recipe, checkpointer=checkpointer)
    learner.begin_epoch(0)
    learner.advance(recipe.order(0, learner.examples), recipe.batch, recipe.rate_of(0))
    learner.begin_epoch(1)
    learner.advance(recipe.order(1, learner.examples)[: 4 * recipe.batch], recipe.batch, recipe.rate_of(1))
    position = first._position
    position.epoch, position.batch = 1, 4
    checkpointer.checkpoint(position, learner.state(), {})
    resumed = made(system, **small).train_arrays(data, checkpointer)
    assert resumed.parameters.keys() == whole.parameters.keys()
    for name, array in whole.parameters.items():
        np.testing.assert_array_equal(resumed.parameters[name], array, err_msg=name)


def test_arrays_alone_are_enough(folder, tmp_path):
    data, learning = dataset(folder), made(Dssm)
    learning.read(data).save(tmp_path / "toy.npz")
    arrays = RankingData.load(tmp_path / "toy.npz")
    trained = made(Dssm).train_arrays(arrays)
    measured = made(Dssm)
    measured.train_arrays(arrays)
    found = measured.measure_lists(arrays.dev, arrays.triples.documents)
    assert len(found["MAP"]) == 20
    assert found["MAP"].mean() == pytest.approx(trained.history[-1]["MAP"])
    assert mean_map(measured, data) == pytest.approx(found["MAP"].mean())


def test_numpy_and_torch_are_enough_where_texts_are_not_read():
    missing = "'icu4py', 'rich', 'numba', 'safetensors', 'Stemmer', 'py3langid', 'scipy', 'matplotlib'"
    modules = ("matchers.systems", "matchers.matcher")
    script = f"import sys; sys.modules.update(dict.fromkeys([{missing}])); " + "; ".join(
        [f"import isogloss.papers.layerwise.{module}" for module in modules]
        + ["import isogloss.papers.torch_inference", "import isogloss.papers.layerwise.torch_triples"]
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("trained_on", ["translated", "monolingual"])
@pytest.mark.parametrize("system", TRANSLATING)
def test_translated_queries_are_matched_within_one_language(folder, system, trained_on):
    data = dataset(folder)
    learning = made(system, epochs=4, lexicon=str(folder / "lexicon.tsv"), trained_on=trained_on)
    learning.train(data)
    assert mean_map(learning, data) > 0.5
    assert learning.translations("word3 word4") == [("word3", ["mot3"]), ("word4", ["mot4"])]
    assert "word3" not in list(learning.model.words["query"])


def test_without_a_dev_split_training_goes_to_its_end(folder):
    data = dataset(folder)
    data.splits = {"train": data.splits["train"]}
    trained = made(Dssm, patience=3, epochs=2).train(data)
    assert len(trained.epochs) == 2
    assert "MAP" not in trained.epochs[0]


def test_what_cannot_work_is_said(folder):
    with pytest.raises(InputError, match=r"dssm.negatives: 'soft' is not one of random, in-batch, hard"):
        made(Dssm, negatives="soft")
    with pytest.raises(InputError, match=r"cntn-mt.trained_on: 'air' is not one of translated, monolingual"):
        made(TranslatingCntn, trained_on="air")
    data = dataset(folder)
    data.splits = {"train": []}
    with pytest.raises(InputError, match="no query of the train split has a relevant document for en-fr"):
        made(Dssm).train(data)
