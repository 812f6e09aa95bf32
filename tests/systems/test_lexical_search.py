"""Lexical systems answer alike, whichever way their words are searched."""

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.retrieval import bm25 as bm25_search
from isogloss.retrieval.bm25 import compile_later
from isogloss.retrieval.ranking import top_k
from isogloss.systems import bm25 as lexical
from isogloss.systems.registry import make_system


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), ("en", "fr"))


@pytest.fixture(params=["compiled", "numpy"])
def way(request, monkeypatch):
    fast = compile_later()
    if request.param == "compiled":
        pytest.importorskip("numba")
        fast.begin()
    monkeypatch.setattr(bm25_search, "FAST", fast)
    monkeypatch.setattr(bm25_search, "_FEW_DOCUMENTS", 0)


@pytest.mark.parametrize("name", ["bm25", "bm25-dict", "psq"])
def test_a_search_is_the_best_of_all_scores_in_parts_and_without_what_is_gone(name, way, demo, tmp_path):
    """The documents are saved as two parts, one of which holds some that are gone."""
    system = make_system(name, ("en", "fr"), source=Demo())
    system.index(demo.documents, ("title", "text"))
    count = len(demo.documents)
    is_first = np.arange(count) < count // 3
    for directory, keep in (("one", is_first), ("two", ~is_first)):
        (tmp_path / directory).mkdir()
        system.save_part(tmp_path / directory, keep)
    system.load_parts([tmp_path / "one", tmp_path / "two"], demo.documents.id_order)
    random = np.random.default_rng(0)
    live = random.random(count) < 0.8
    system.count_only(live)
    for query in list(demo.queries.values())[:60]:
        scores = system.scores(query.text)
        for allowed in (None, live, live & (random.random(count) < 0.5)):
            wanted = top_k(scores if allowed is None else np.where(allowed, scores, 0), 10, system.id_order, above=0.0)
            found = system.search(query.text, 10, allowed)
            assert found.rows.tolist() == wanted.rows.tolist()
            assert found.scores.tolist() == wanted.scores.tolist()


@pytest.mark.parametrize(("many", "calls"), [(3, [1]), (1_000, [])])
def test_the_search_of_a_large_index_is_compiled_with_it(many, calls, monkeypatch):
    asked = []
    monkeypatch.setattr(lexical, "_MANY_DOCUMENTS", many)
    monkeypatch.setattr(lexical, "compile_ahead", lambda: asked.append(1))
    make_system("bm25", ("en", "fr")).index_texts(["un", "deux", "trois"])
    assert asked == calls
