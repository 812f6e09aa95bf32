"""Scales of the languages of an index: measured when it is made, written, and used to compare scores."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index, re_encode
from isogloss.index.reader import open_index
from isogloss.index.score_scales import divisors, usual_scores
from isogloss.search.searcher import Searcher


def systems(comparable=(), **bounds):
    return {
        name: SimpleNamespace(comparable=name in comparable, best_possible=lambda _, bound=bound: bound)
        for name, bound in bounds.items()
    }


def test_comparable_scores_have_no_scale():
    found = divisors("q", systems(["fr", "it"], fr=4.0, it=1.0), {"fr": 2.0, "it": 1.0})
    assert found == {"fr": 1.0, "it": 1.0}


def test_one_language_with_other_scores_gives_all_a_scale():
    found = divisors("q", systems(["fr"], fr=4.0, it=1.0), {})
    assert found["fr"] > found["it"]


def test_one_language_keeps_its_scores():
    assert divisors("sea", systems(fr=7.0), {"fr": 0.3}) == {"fr": 1.0}


def test_languages_that_are_alike_get_shares_of_the_most_they_could_reach():
    assert divisors("sea", systems(fr=7.0, it=7.0), {}) == pytest.approx({"fr": 7.0, "it": 7.0})
    assert divisors("sea", systems(fr=7.0, it=7.0), {"fr": 0.3, "it": 0.3}) == pytest.approx({"fr": 7.0, "it": 7.0})


def test_a_language_that_could_reach_more_is_divided_by_more_but_not_by_all_of_it():
    found = divisors("sea", systems(fr=9.0, it=4.0), {})
    assert found["fr"] / found["it"] == pytest.approx(1.5)


def test_a_language_whose_best_is_usually_better_is_held_back():
    found = divisors("sea", systems(fr=4.0, it=4.0, sw=4.0), {"fr": 16.0, "it": 1.0})
    assert found["fr"] / found["it"] == pytest.approx(2.0)
    assert found["it"] < found["sw"] < found["fr"]  # of sw nothing is known


def test_a_query_that_can_reach_nothing_anywhere_divides_by_something():
    assert all(value > 0 for value in divisors("", systems(fr=1.0, it=1.0), {}).values())


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("usual") / "index"
    make_index(path, "psq", Demo(), ["fr", "sw"])
    return path


def test_they_are_measured_and_kept(index):
    opened = open_index(index)
    assert set(opened.manifest.usual) == {"en"}
    assert set(opened.manifest.usual["en"]) == {"fr", "sw"}
    assert usual_scores(opened)["en"] == pytest.approx(opened.manifest.usual["en"])
    assert all(0 < value < 10 for value in opened.manifest.usual["en"].values())


def test_the_language_with_the_higher_usual_scores_is_held_back(index):
    opened = open_index(index)
    usual = opened.manifest.usual["en"]
    low, _ = sorted(usual, key=usual.get)
    plain = Searcher(replace(opened, manifest=replace(opened.manifest, usual={})))
    for query in ("how bees make honey", "water and fire"):
        scores = [
            {hit.document.id: hit.score for hit in searcher.search(query, 50)} for searcher in (Searcher(opened), plain)
        ]
        for id_ in scores[0].keys() & scores[1].keys():
            assert (scores[0][id_] > scores[1][id_]) == id_.startswith(low)


def test_they_are_measured_again_with_another_model(index):
    before = open_index(index).manifest.usual["en"]
    re_encode(index, "bm25-dict", Demo())
    after = open_index(index).manifest.usual["en"]
    assert set(after) == set(before)
    assert after != before


@pytest.mark.parametrize(
    ("languages", "options"), [(["fr"], {}), (["fr", "sw"], {"source_documents": False}), (["en", "fr"], {})]
)
def test_without_samples_or_with_one_language_there_are_none(tmp_path, languages, options):
    manifest = make_index(tmp_path / "index", "bm25", Demo(), languages, **options)
    assert manifest.usual == {}
