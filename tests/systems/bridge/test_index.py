"""Documents of ``bridge`` in several parts, some of them gone: answers are those of one index of what there is."""

import json
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Document
from isogloss.data.readers.demo import Demo
from isogloss.encoders import pretrained_encoder as pretrained
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.systems.bridge.weights import Calibration
from isogloss.systems.registry import make_system

PAIR = ("en", "fr")
QUICK = {"epochs": "1", "dimension": "8"}
QUERIES = ("why is the sea salty", "honey bees", "zzyzx", "the sea, Assurbanipal and Ninive", "Orlane 1840", "")


class Lengths:
    """Stands in for a sentence encoder."""

    batch, version = 32, "1"

    def encode(self, texts, is_query):
        rows = [[1.0, len(text) % 7, len(text) % 11] for text in texts]
        return np.array(rows, np.float32)


@pytest.fixture(scope="module")
def demo():
    return load_dataset(Demo(), PAIR)


@pytest.fixture(scope="module", params=["as it is", "whole texts", "pretrained"])
def fitted(demo, request):
    settings = {"whole texts": {"passages": "0"}, "pretrained": {"pretrained": "lengths"}}.get(request.param, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(pretrained.ENCODERS, "lengths", (Lengths, PAIR))
        system = make_system("bridge", PAIR, QUICK | settings, Demo())
        system.fit(demo)
        calibration = Calibration(1.0, (0.6, 0.1, -0.2), (0.0, 1.0), -1.0)  # all that it may show
        system.model = replace(system.model, calibration=calibration)
        yield system


def alike(one, other, rows=None):
    """Whether rows of one system are all documents of the other."""
    rows = np.arange(len(other.documents)) if rows is None else rows
    for query in QUERIES:
        np.testing.assert_allclose(one.score(query, rows), other.scores(query), rtol=1e-5, atol=1e-5)
        first = [
            each.documents.best(each.retriever.query_features(query).statistics, 99, each.id_order, each.documents.live)
            for each in (one, other)
        ]
        assert first[0].rows.tolist() == rows[first[1].rows].tolist()
        assert first[0].scores.tolist() == first[1].scores.tolist()
        assert one.unknown_words(query) == other.unknown_words(query)
        for row in (0, len(rows) - 1):
            assert one.passage(query, int(rows[row])) == other.passage(query, row)
            lines = [one.explain(query, int(rows[row]), ""), other.explain(query, row, "")]
            assert [line.document_words for line in lines[0]] == [line.document_words for line in lines[1]]


def of(system, texts):
    made = copy(system)
    made.index_texts(texts)
    return made


@pytest.fixture
def parts(fitted, demo, tmp_path):
    """Texts in three parts, the second without any."""
    texts = [*demo.documents.texts(("text",))[:30], "", "le moulin Orlane"]
    cuts = (texts[:11], [], texts[11:])
    folders = []
    for number, cut in enumerate(cuts):
        folders.append(tmp_path / str(number))
        folders[-1].mkdir()
        of(fitted, cut).save_part(folders[-1])
    return texts, folders


def test_parts_joined_are_one_index(fitted, parts, tmp_path):
    texts, folders = parts
    joined = copy(fitted).load_parts(folders, np.arange(len(texts)))
    alike(joined, of(fitted, texts))
    (tmp_path / "merged").mkdir()
    joined.save_part(tmp_path / "merged")
    merged = copy(fitted).load_parts([tmp_path / "merged"], np.arange(len(texts)))
    assert len(merged.documents.parts) == 1
    alike(merged, of(fitted, texts))


@pytest.mark.parametrize("gone", [[3], [0, 1, 2, 3, 31], list(range(11)), list(range(32))], ids=len)
def test_what_is_gone_counts_no_more_and_can_be_left_out(fitted, parts, tmp_path, gone):
    texts, folders = parts
    live = ~np.isin(np.arange(len(texts)), gone)
    joined = copy(fitted).load_parts(folders, np.arange(len(texts)))
    joined.count_only(live)
    fresh = of(fitted, [text for text, stays in zip(texts, live, strict=True) if stays])
    if live.any():
        alike(joined, fresh, np.flatnonzero(live))
    (tmp_path / "kept").mkdir()
    joined.save_part(tmp_path / "kept", live)
    kept = copy(fitted).load_parts([tmp_path / "kept"], np.arange(int(live.sum())))
    assert len(kept.documents) == live.sum()
    if live.any():
        alike(kept, fresh)
    else:
        assert len(kept.search("sea", 5).rows) == 0


@pytest.mark.parametrize("name", ["texts.offsets", "texts.times", "texts.spans", "impacts.starts", "impacts.lists"])
def test_a_part_that_does_not_fit_is_found(fitted, parts, name):
    _, folders = parts
    array = np.load(folders[0] / f"{name}.npy")
    for wrong in (array[:-1], np.append(array, array[-1:], axis=0)):
        np.save(folders[0] / f"{name}.npy", wrong)
        with pytest.raises(ValueError, match="does not fit"):
            copy(fitted).load_parts(folders, np.arange(32))


@pytest.fixture(scope="module")
def new_index(tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "index"
    make_index(path, "bridge", Demo(), ["fr"], settings=QUICK)
    return path


def test_a_name_that_no_document_has_any_more_is_unknown_again(new_index):
    """A word of its own is one that documents have: those that were deleted have none."""
    index = open_index(new_index)
    before = [(hit.document.id, hit.score) for hit in Searcher(index).search("Orlane sea", k=5)]
    assert Searcher(index).unknown_words("Orlane sea") == ["orlane"]
    with IndexWriter(new_index) as writer:
        writer.add([Document("mill", "le moulin Orlane au bord de la mer", "Moulin", "fr")])
        writer.commit()
        index = index.refreshed()
        (first, *_) = Searcher(index).search("Orlane sea", k=5)
        assert first.document.id == "mill"
        assert {line.query_word: line.document_words for line in first.explanation}["orlane"] == ("orlan",)
        assert Searcher(index).unknown_words("Orlane sea") == []
        writer.delete(["mill"])
        writer.commit()
        for opened in (index.refreshed(), open_index(new_index)):
            after = [(hit.document.id, hit.score) for hit in Searcher(opened).search("Orlane sea", k=5)]
            assert [id_ for id_, _ in after] == [id_ for id_, _ in before]
            assert [score for _, score in after] == pytest.approx([score for _, score in before], rel=1e-5)
            assert Searcher(opened).unknown_words("Orlane sea") == ["orlane"]
        writer.compact()
    compacted = open_index(new_index)
    assert [hit.document.id for hit in Searcher(compacted).search("Orlane sea", k=5)] == [id_ for id_, _ in before]
    assert compacted.manifest.system == "bridge"
    json.dumps(compacted.about())


def test_hits_have_passages_classes_and_explanations_that_add_up(new_index):
    searcher = Searcher(open_index(new_index))
    for query in QUERIES:
        for hit in searcher.search(query, k=7):
            begin, end = hit.passage
            assert 0 <= begin < end <= len(searcher.text_of(hit.document))
            assert hit.relevance in ("not relevant", "partially relevant", "relevant")
            assert sum(line.score for line in hit.explanation) == pytest.approx(hit.score, abs=1e-4)


def test_several_languages_stand_in_one_list(tmp_path):
    make_index(tmp_path / "index", "bridge", Demo(), ["fr", "it"], settings=QUICK)
    index = open_index(tmp_path / "index")
    hits = Searcher(index).search("honey bees", k=10)
    assert {hit.language for hit in hits} == {"fr", "it"}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(sum(line.score for line in hit.explanation) == pytest.approx(hit.score, abs=1e-4) for hit in hits)
