"""Facets: what is counted is what a search finds, field by field."""

from __future__ import annotations

from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.data.documents import Document
from isogloss.retrieval.field_lists import build_field_lists, field_keys, value_counts
from isogloss.retrieval.postings import JoinedPostings
from isogloss.search.facets import Facets, count_facets
from isogloss.search.hits import Hits
from isogloss.search.public import Index

VALUES = st.one_of(st.sampled_from(["a", "a=b", "b", "é", "", "a>"]), st.integers(0, 3), st.booleans())
FIELDS = st.dictionaries(st.sampled_from(["k", "kind", "kin", "k>"]), st.one_of(VALUES, st.lists(VALUES, max_size=3)))


@given(st.lists(st.lists(FIELDS, max_size=4), min_size=1, max_size=3), st.data())
def test_values_are_counted_as_if_every_document_were_read(segments, data):
    documents = [Document(str(number), "", fields=fields) for number, fields in enumerate(chain(*segments))]
    cuts = np.cumsum([0, *map(len, segments)]).tolist()
    lists = JoinedPostings([build_field_lists(documents[a:b]) for a, b in pairwise(cuts)])
    rows = data.draw(st.lists(st.integers(0, len(documents) - 1), unique=True) if documents else st.just([]))
    for name in ("k", "kind", "kin", "k>", "none"):
        expected = Counter(
            key.removeprefix(f"{name}=")
            for row in rows
            for key in field_keys(documents[row])
            if key.startswith(f"{name}=")
        )
        assert value_counts(lists, name, np.asarray(rows, np.int64)) == expected


@pytest.fixture(scope="module")
def index():
    pages = [
        Document(
            f"{language}{number}",
            f"{word} {number}",
            language=language,
            fields={"kind": kind, "year": 2000 + number % 2},
        )
        for language, word in (("fr", "miel"), ("es", "miel"))
        for number, kind in enumerate(["book", "page", "page", ["page", "book"]])
    ]
    pages.append(Document("fr9", "vent", language="fr", fields={"kind": "page"}))
    return Index.make(
        pages, ["fr", "es"], system="bm25-dict", lexicon={"honey": "miel", "wind": "vent"}, facets=["kind"]
    )


def test_the_facets_of_an_index_are_counted_over_all_languages(index):
    facets = index.facets("honey")
    assert (facets.counted, facets.complete) == (8, True)
    assert facets.values == {"kind": [("page", 6), ("book", 4)]}
    assert index.facets("honey", languages=["es"]).values == {"kind": [("page", 3), ("book", 2)]}
    assert index.facets("wind").values == {"kind": [("page", 1)]}
    assert index.facets("xyzzy").values == {"kind": []}


def test_a_value_counts_what_its_filter_finds(index):
    for name in ("kind", "year"):
        for value, count in index.facets("honey", [name]).values[name]:
            assert len(index.search("honey", 100, filters={name: value})) == count
            assert index.facets("honey", filters={name: value}).counted == count


def test_deleted_documents_are_not_counted_and_added_ones_are():
    pages = [Document(str(number), "miel", fields={"kind": "page"}) for number in range(3)]
    index = Index.make(pages, "es", system="bm25-dict", lexicon={"honey": "miel"}, facets=["kind"])
    index.delete(["1"])
    index.add([Document("7", "miel", fields={"kind": "book"})], "es")
    assert index.facets("honey").values == {"kind": [("page", 2), ("book", 1)]}


def test_only_the_best_are_counted_where_there_are_very_many(index):
    searcher = Index.open(index.path).searcher
    for each in searcher.languages.values():
        object.__setattr__(each, "countable", 2)
    facets = count_facets(searcher, "honey", ["kind"])
    assert (facets.counted, facets.complete) == (4, False)


def test_a_facet_that_no_document_has_is_named(caplog):
    with caplog.at_level("WARNING", logger="isogloss"):
        Index.make(
            [Document("1", "miel", fields={"kind": "x"})], "es", system="bm25", query_language="es", facets=["sort"]
        )
    assert "no document has the field 'sort'; they have kind" in caplog.text


def test_facets_that_were_counted_over_all_hits_say_how_many_there_are():
    hits = Hits()
    hits.total, hits.total_is_exact = 5, False
    Facets(8, False, {}).count(hits)
    assert (hits.total, hits.total_is_exact) == (8, False)
    Facets(8, True, {}).count(hits)
    assert (hits.total, hits.total_is_exact) == (8, True)
    Facets(7, False, {}).count(hits)
    assert (hits.total, hits.total_is_exact) == (8, True)
