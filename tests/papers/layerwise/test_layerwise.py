"""The layer-wise system: options and ablations, learning from the demo, what is kept, what critics and probes say."""

import json
import logging
from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.papers.checkpoints import RunCheckpoints
from isogloss.papers.layerwise.matchers.ranking_data import RankingData
from isogloss.papers.layerwise.system import (
    PAPER_GRID,
    VARIANTS,
    Layerwise,
    LayerwiseOptions,
    PaperLayerwise,
    PaperOptions,
    alpha_grid,
)
from isogloss.storage.errors import InputError
from isogloss.systems.registry import parse_options
from isogloss.systems.run_directory import RunDirectory

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

PAIR = ("en", "fr")
QUICK = {
    "dimension": 16, "widths": "2,3", "kernels": 8, "k": 3, "hidden": 8, "epochs": 2, "batch": 64, "rate": 0.01,
    "query_words": 20, "document_words": 20, "critic_steps": 2, "critic_hidden": 8, "dropout": 0.0, "patience": 0,
    "query_vectors": "random", "document_vectors": "random", "layers": 2, "pooling": "k-max", "mean": False,
    "weights": "none",
}  # fmt: skip


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), PAIR)


@pytest.fixture(scope="module")
def small(demo):
    """Some of the queries: enough where nothing is said of how well it learns."""
    return replace(demo, splits={"train": demo.splits["train"][:40], "dev": demo.splits["dev"][:10]})


def made(**changes):
    return Layerwise(LayerwiseOptions(**{**QUICK, **changes}), *PAIR)


def dev_map(system, data):
    system.index(data.documents, ("text",))
    task = make_task(data, "dev", "sampled")
    return evaluate_run(task.run(system), task).means()["MAP"]


@pytest.mark.parametrize("scorer", ["cosine", "feed-forward"])
def test_it_learns_the_demo_and_what_is_kept_scores_the_same(demo, scorer, tmp_path):
    system = made(scorer=scorer, epochs=4)
    history = system.train(demo).epochs
    assert history[-1]["loss"] < 0.9 * history[0]["loss"]
    assert dev_map(system, demo) == pytest.approx(history[-1]["MAP"], abs=1e-6)
    system.save(tmp_path)
    again = made(scorer=scorer).load(tmp_path)
    query = "the history of the river and the city"
    np.testing.assert_allclose(again.scores(query), system.scores(query), rtol=1e-6)
    best = system.search(query, 5)
    assert best.rows.tolist() == np.lexsort((system.id_order, -system.scores(query)))[:5].tolist()
    np.testing.assert_allclose(system.score(query, best.rows), best.scores, rtol=1e-5, atol=1e-6)
    (ranking,) = system.search_all([next(iter(demo.queries.values()))], 3)
    assert len(ranking.rows) == 3
    assert again.unknown_words("zzyzx the") == ["zzyzx"]


def test_the_history_has_the_distance_of_each_layer(small):
    history = made(layers=3, beta=0.1).train(small).epochs
    for entry in history:
        assert {"W_1", "W_2", "W_3", "slope_1", "slope_2", "slope_3", "idle", "MAP"} <= entry.keys()
    assert "W_1" not in made(beta=0.0, critic_steps=0, epochs=1).train(small).epochs[0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_ablation_learns_and_is_the_same_by_its_options(small, variant):
    system = made(variant=variant, layers=2, alphas="-0.5", epochs=1)
    by_options = Layerwise(system.options.with_variant(), *PAIR)
    assert system.train(small).epochs[0]["loss"] == by_options.train(small).epochs[0]["loss"]


def test_what_the_ablations_mean():
    def written(variant, **changes):
        return LayerwiseOptions(**{"layers": 3, "alphas": "-0.5,0.2", "variant": variant, **changes}).with_variant()

    assert written("").all_alphas() == [-0.5, 0.2, 1]
    assert written("enc-k").all_widths() == [3]
    wide = written("enc-k-wide")
    assert (wide.all_widths(), wide.kernels) == ([3], 400)
    assert written("enc-p", pooling="k-max").features == "map"
    assert written("adv-non").beta == 0
    assert written("adv-one").all_alphas() == [0, 0, 1]
    assert written("adv-all").all_alphas() == [0.5, 0.2, 1]
    assert written("adv-top").all_alphas() == [-0.5, 0.2, -1]
    assert written("adv-all", layers=1, alphas="").all_alphas() == [1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alphas": "1,2,3"}, "give 1 .the last is 1. or 2"),
        ({"alphas": "a"}, "not a list of numbers"),
        ({"widths": "2,0"}, "whole numbers like 2,3,4,5"),
        ({"widths": ""}, "whole numbers like 2,3,4,5"),
        ({"pooling": "median"}, "k-max, average"),
        ({"scorer": "dot"}, "feed-forward, cosine"),
        ({"critic": "none"}, "penalty, clipping"),
        ({"variant": "adv"}, "enc-k, enc-k-wide, enc-p, adv-non, adv-one, adv-all, adv-top"),
        ({"variant": "enc-p", "pooling": "average"}, "map needs pooling=k-max"),
        ({"critic_steps": 0, "beta": 1.0}, "set beta=0 too"),
        ({"layers": 0}, "leaves nothing of the text"),
        ({"weights": "tf"}, "none, idf"),
    ],
)
def test_options_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        made(**changes)


def test_the_papers_grid_and_all_alphas_are_options():
    for name, values in {**PAPER_GRID, "alphas": alpha_grid(2)}.items():
        for value in values:
            Layerwise(parse_options("layerwise", LayerwiseOptions, {name: value}), *PAIR)
    assert len(alpha_grid(3, [0.1, 1])) == 25
    for alphas in alpha_grid(3):
        assert LayerwiseOptions(layers=3, alphas=alphas).all_alphas()[-1] == 1


@pytest.mark.parametrize("negatives", [{"negatives": "in-batch"}, {"negatives": "hard", "mined": True}])
def test_a_killed_run_goes_on_to_the_same_model(small, negatives, tmp_path, monkeypatch):
    settings = {"epochs": 3, "dropout": 0.2, "beta": 0.1, "batch": 16, **negatives}
    whole = made(**settings)
    whole.train(small)

    class Killed(RunCheckpoints):
        def checkpoint(self, position, state, best):
            super().checkpoint(position, state, best)
            if position.epoch == 1 and position.batch:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("isogloss.papers.training_loop._CHECKPOINT_SECONDS", -1.0)
        patch.setattr("isogloss.papers.checkpoints.RunCheckpoints", Killed)
        made(**settings).train(small, RunDirectory.create(tmp_path, {}))
    resumed = made(**settings)
    history = resumed.train(small, RunDirectory.open(tmp_path)).epochs
    assert len(history) == 3
    for name, array in whole.model.parameters.items():
        np.testing.assert_array_equal(array, resumed.model.parameters[name], err_msg=name)


def test_mined_negatives_are_near_their_queries(demo):
    system = made(negatives="hard", mined=True, hard_share=1.0, neighbours=10)
    learner, _ = system.prepare(demo)
    near = learner.negatives.mine()
    assert near.shape == (len(learner.triples.queries), 10)
    learner.begin_epoch(1)
    drawn = learner.negatives.of(np.arange(len(learner.triples)))
    assert np.mean([row in near[query] for query, row in zip(learner.triples.query_of, drawn, strict=True)]) > 0.9


def test_arrays_alone_are_enough(small, tmp_path):
    system = made(negatives="hard", epochs=2)
    system.read(small).save(tmp_path / "demo.npz")
    data = RankingData.load(tmp_path / "demo.npz")
    history = system.train_arrays(data).history
    found = system.measure_lists(data.dev, data.triples.documents)
    assert found["MAP"].mean() == pytest.approx(history[-1]["MAP"])
    shares = system.probe(data.dev.queries, data.triples.documents)
    assert len(shares) == 2 and all(0.3 <= share <= 1 for share in shares)
    json.dumps(history)


def test_a_language_that_can_be_told_is_told_by_the_probe(small):
    system = made(epochs=1, rate=1e-9)
    system.fit(small)
    data = system.read(small)
    system.model.scorer.tables.query.data += 5
    assert min(system.probe(data.dev.queries, data.triples.documents)) > 0.95


def test_flat_critics_are_spoken_of(small, caplog):
    with caplog.at_level(logging.WARNING, logger="isogloss"):
        history = made(critic="clipping", critic_clip=1e-9).train(small).epochs
    assert caplog.text.count("critic of layer 1 is flat") == 1 and "raise critic_clip" in caplog.text
    assert [entry["doubts"] for entry in history] == [2, 2]


def test_training_starts_from_the_weighted_mean_and_keeps_it_where_no_epoch_is_better(small):
    system = made(mean=True, weights="idf", layers=1, patience=1, rate=1e-9, epochs=1)
    history = system.train(small).epochs
    assert [entry["epoch"] for entry in history] == [0, 1]
    assert dev_map(system, small) == pytest.approx(max(entry["MAP"] for entry in history), abs=1e-6)
    data = system.read(small)
    assert data.weights["document"].shape == (len(data.words["document"]),)
    assert (data.weights["query"] > 0).any()


def test_the_papers_model_has_the_papers_choices():
    options = PaperLayerwise(PaperOptions(query_vectors="random", document_vectors="random"), *PAIR).options
    assert (options.scorer, options.margin, options.negatives, options.mined) == ("feed-forward", 1, "random", False)
    assert (options.kernels, options.dimension, options.batch, options.critic_hidden) == (100, 300, 128, 64)
    assert (options.mean, options.weights, options.layers) == (False, "none", 2)
    assert PaperOptions().query_vectors == PaperOptions().document_vectors == "skip-gram"
