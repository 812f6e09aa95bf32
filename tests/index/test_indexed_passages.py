"""Passages and hybrid systems in an index that changes: found, shown, explained, added and deleted."""

import pytest

from isogloss.data.documents import Document
from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher

SYSTEMS = {
    "psq": {"passages": "20"},
    "hybrid": {"passages": "20", "dense_options": "dimension=20;pairs=300", "weight": "0.4"},
}
NEW = Document("neu", "La mer est salée: le sel de la mer vient des roches. " + "Autre chose. " * 30, "Mer", "fr")


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_index_of_passages_lives(name, tmp_path):
    make_index(tmp_path / "index", name, Demo(), ["fr"], settings=SYSTEMS[name])
    query = "why is the sea salty"
    before = [hit.document.id for hit in Searcher(open_index(tmp_path / "index")).search(query, 3, exact=True)]
    with IndexWriter(tmp_path / "index") as writer:
        writer.add([NEW])
        writer.commit()
    searcher = Searcher(open_index(tmp_path / "index"))
    best, *others = searcher.search(query, 3, exact=True)
    assert best.document.id == "neu"
    begin, end = best.passage
    assert "sel de la mer" in searcher.text_of(best.document)[begin:end]
    for hit in (best, *others):
        assert sum(part.score for part in hit.explanation) == pytest.approx(hit.score, abs=1e-5)
        assert hit.explanation == searcher.explain(query, "fr", hit.document.id)
    with IndexWriter(tmp_path / "index") as writer:
        assert writer.delete(["neu"]) == 1
        writer.commit()
        writer.compact()
    after = Searcher(open_index(tmp_path / "index")).search(query, 3, exact=True)
    assert [hit.document.id for hit in after] == before
