"""``hybrid``: two systems fused, fitted and kept together, and explained as one."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.retrieval.fusion import FUSIONS
from isogloss.storage.errors import InputError
from isogloss.systems.hybrid import Hybrid
from isogloss.systems.registry import make_system
from isogloss.systems.trainable import hold_out, save_model

PAIR = ("en", "fr")
QUICK = {"dense_options": "dimension=20;pairs=300", "weight": "0.4", "depth": "20"}
QUERIES = ("why is the sea salty", "honey bees and flowers", "zzyzx", "the sea zzyzx")


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), PAIR)


def made(demo, **settings):
    system = make_system("hybrid", PAIR, QUICK | settings, Demo())
    system.fit(demo)
    system.index(demo.documents, ("text",))
    return system


@pytest.fixture(scope="module", params=FUSIONS)
def fitted(demo, request):
    return made(demo, fusion=request.param)


@pytest.fixture(scope="module")
def parts(demo):
    """The same two systems, each for itself."""
    dense = make_system("aligned", PAIR, {"dimension": "20", "pairs": "300"}, Demo())
    lexical = make_system("psq", PAIR, {}, Demo())
    for part in (dense, lexical):
        part.fit(demo)
        part.index(demo.documents, ("text",))
    return dense, lexical


@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_the_weighted_shares_of_both_parts(fitted, parts, query):
    shares = FUSIONS[fitted.options.fusion].shares
    rows = np.arange(len(parts[0].scores(query)))
    dense, lexical = (shares(part.search(query, 20), rows, part.scores(query)) for part in parts)
    np.testing.assert_allclose(fitted.scores(query), 0.4 * dense + 0.6 * lexical, rtol=1e-5)
    some = np.array([5, 2, 9])
    np.testing.assert_allclose(fitted.score(query, some), fitted.scores(query)[some], rtol=1e-6)


@pytest.mark.parametrize("query", QUERIES)
def test_search_orders_what_either_part_finds(fitted, parts, demo, query):
    listed = sorted({row for part in parts for row in part.search(query, 20).rows.tolist()})
    scores = fitted.scores(query)
    order = sorted(listed, key=lambda row: (-scores[row], demo.documents.id_order[row]))
    assert fitted.search(query, 5).rows.tolist() == order[:5]
    allowed = np.arange(len(scores)) % 2 == 0
    found = fitted.search(query, 5, allowed)
    assert allowed[found.rows].all()
    np.testing.assert_allclose(found.scores, scores[found.rows], rtol=1e-6)
    assert len(fitted.search(query, 30, allowed).rows) >= len(found.rows)


@pytest.mark.parametrize("query", QUERIES)
def test_an_explanation_adds_up_to_the_fused_score(fitted, demo, query):
    for row in (*fitted.search(query, 4).rows.tolist(), 0):
        lines = fitted.explain(query, row, demo.documents[row].text)
        assert sum(line.score for line in lines) == pytest.approx(fitted.scores(query)[row], abs=1e-5)
        assert len({line.query_word for line in lines}) == len(lines)
        assert fitted.scores(query)[row] <= fitted.best_possible(query) * (1 + 1e-6)


def test_it_speaks_for_both_parts(fitted, parts):
    assert fitted.unknown_words("the sea zzyzx") == ["zzyzx"]
    listed, near = dict(parts[1].translations("sea bees")), dict(parts[0].translations("sea bees"))
    assert dict(fitted.translations("sea bees")) == near | listed
    assert fitted.term_of("abeilles") == parts[1].term_of("abeilles")
    assert fitted.passage("sea", 0) is None
    assert fitted.thresholds() == ()


def test_what_is_kept_answers_the_same(fitted, demo, tmp_path):
    fitted.save(tmp_path)
    loaded = make_system("hybrid", PAIR, {"fusion": fitted.options.fusion, "depth": "20"}).load(tmp_path)
    assert loaded.weight == 0.4
    for query in QUERIES:
        np.testing.assert_array_equal(loaded.scores(query), fitted.scores(query))
        assert loaded.search(query, 7).rows.tolist() == fitted.search(query, 7).rows.tolist()


def test_parts_are_joined_and_some_rows_kept(demo, tmp_path):
    system = made(demo, dense="aligned", lexical="bm25-dict", passages="12")
    assert system.joins
    (tmp_path / "shared").mkdir()
    system.save_shared(tmp_path / "shared")
    keep = np.arange(len(demo.documents)) < 40
    for number, part in enumerate((keep, ~keep)):
        (tmp_path / str(number)).mkdir()
        system.save_part(tmp_path / str(number), part)
    both = make_system("hybrid", PAIR, QUICK | {"passages": "12"}).load_shared(tmp_path / "shared")
    both.load_parts([tmp_path / "0", tmp_path / "1"], demo.documents.id_order)
    for query in QUERIES[:2]:
        np.testing.assert_allclose(both.scores(query), system.scores(query), rtol=1e-5)
        best = int(both.search(query, 1).rows[0])
        assert both.passage(query, best) == system.passage(query, best) is not None


def test_a_copy_is_given_other_documents_without_touching_the_first(fitted, demo):
    before = fitted.scores("sea")
    other = copy(fitted)
    other.index(Collection(demo.documents.documents[:5], "fr"), ("text",))
    assert len(other.scores("sea")) == 5
    np.testing.assert_array_equal(fitted.scores("sea"), before)
    other.count_only(np.array([True, True, False, True, True]))


def test_the_weight_is_found_with_queries_that_nobody_has_seen(demo, monkeypatch):
    seen = []
    fit = Hybrid._fitted

    def watched(self, training):
        seen.append(set(training.splits["train"]))
        return fit(self, training)

    monkeypatch.setattr(Hybrid, "_fitted", watched)
    system = made(demo, weight="auto")
    without, everything = seen
    assert everything == set(demo.splits["train"])
    assert without < everything
    assert len(without) == len(everything) - len(everything) // 5
    rest, held = hold_out(demo)
    assert set(rest.splits["train"]) == without
    assert set(held) <= everything - without
    assert 0 <= system.weight <= 1
    assert round(system.weight * 10, 6) == int(round(system.weight * 10, 6))


def test_without_judgments_the_weight_is_the_usual_one(demo):
    untold = replace(demo, judgments=Judgments(), queries={}, splits={"train": []})
    system = make_system("hybrid", PAIR, QUICK | {"weight": "auto"}, Demo())
    system.fit(untold)
    assert system.weight == 0.3


def test_a_run_is_a_dense_part(demo, tmp_path):
    trained = make_system("smooth", PAIR, {"dimension": "8", "epochs": "1", "negatives": "4", "dev_queries": "0"})
    trained.fit(demo)
    save_model(trained, tmp_path / "run", {})
    system = make_system("hybrid", PAIR, {"dense": str(tmp_path / "run"), "passages": "20"}, Demo())
    system.fit(demo)
    assert system.weight == 0.3
    system.index(demo.documents, ("text",))
    row = int(system.search("sea", 1).rows[0])
    begin, end = system.passage("sea", row)
    assert 0 <= begin < end <= len(demo.documents[row].text)
    lines = system.explain("sea salt", row, demo.documents[row].text)
    assert sum(line.score for line in lines) == pytest.approx(system.scores("sea salt")[row], abs=1e-5)
    other = make_system("hybrid", ("en", "it"), {"dense": str(tmp_path / "run")})
    with pytest.raises(InputError, match="trained for en-fr, not for en-it"):
        other.fit(load_dataset(Demo(), ("en", "it")))
    with pytest.raises(InputError, match="cannot be changed"):
        make_system("hybrid", PAIR, {"dense": str(tmp_path / "run"), "dense_options": "eps=1"}).fit(demo)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fusion": "sum"}, "hybrid.fusion: 'sum' is not one of weighted, rrf"),
        ({"weight": "2"}, "neither auto nor a number from 0 to 1"),
        ({"weight": "nan"}, "neither auto nor a number from 0 to 1"),
        ({"weight": "much"}, "neither auto nor a number from 0 to 1"),
        ({"dense_options": "dimension"}, "is not a list like KEY=VALUE;KEY=VALUE"),
    ],
)
def test_wrong_options_are_refused_at_once(settings, message):
    with pytest.raises(InputError, match=message):
        make_system("hybrid", PAIR, settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dense": "smoth"}, "system: 'smoth' is not one of"),
        ({"lexical": "hybrid"}, "a hybrid of a hybrid"),
        ({"lexical_options": "k9=1"}, "psq: has no option 'k9'"),
    ],
)
def test_wrong_parts_are_refused_before_anything_is_learned(demo, settings, message):
    with pytest.raises(InputError, match=message):
        make_system("hybrid", PAIR, QUICK | settings, Demo()).fit(demo)
