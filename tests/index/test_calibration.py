"""Usual scores of the languages of an index: measured when it is made, kept, and used to compare."""

import pytest

from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index
from isogloss.index.re_encoding import re_encode
from isogloss.index.reader import open_index
from isogloss.index.scales import usual_scores
from isogloss.search.searcher import Searcher


@pytest.fixture
def index(tmp_path):
    make_index(tmp_path / "index", "psq", Demo(), ["fr", "sw"])
    return tmp_path / "index"


def test_they_are_measured_and_kept(index):
    opened = open_index(index)
    assert set(opened.manifest.usual) == {"fr", "sw"}
    assert usual_scores(Searcher(opened)) == pytest.approx(opened.manifest.usual)
    assert all(0 < value < 10 for value in opened.manifest.usual.values())


def test_the_language_with_the_higher_usual_scores_is_held_back(index):
    opened = open_index(index)
    low, _ = sorted(opened.manifest.usual, key=opened.manifest.usual.get)
    plain = type(Searcher(opened))(opened.languages)
    for query in ("how bees make honey", "water and fire"):
        scores = [
            {hit.document.id: hit.score for hit in searcher.search(query, 50)} for searcher in (Searcher(opened), plain)
        ]
        for id_ in scores[0].keys() & scores[1].keys():
            assert (scores[0][id_] > scores[1][id_]) == id_.startswith(low)


def test_they_are_measured_again_with_another_model(index):
    before = open_index(index).manifest.usual
    re_encode(index, "bm25-dict", Demo())
    after = open_index(index).manifest.usual
    assert set(after) == set(before)
    assert after != before


@pytest.mark.parametrize(
    ("languages", "options"), [(["fr"], {}), (["fr", "sw"], {"source_documents": False}), (["en", "fr"], {})]
)
def test_without_samples_or_with_one_language_there_are_none(tmp_path, languages, options):
    manifest = make_index(tmp_path / "index", "bm25", Demo(), languages, **options)
    assert manifest.usual == {}
