"""Many queries at once find what each finds alone, and cost no more."""

import sys

import pytest

from isogloss import Index, load_dataset

SYSTEMS = {
    "bridge": {"lexicon": "bundled"},
    "bm25": {},
    "psq": {"passages": 20, "lexicon": "bundled"},
    "aligned": {"passages": 20, "dimension": 12},
    "hybrid": {"dense_options": "dimension=20;pairs=300", "weight": 0.4},
}
LEARN = ("aligned", "hybrid")


@pytest.fixture(scope="module")
def data():
    return load_dataset("demo", "en-fr")


@pytest.fixture(scope="module")
def documents(data):
    return list(data.documents)


@pytest.fixture(scope="module")
def queries(data):
    """More than any system remembers, none of them twice."""
    return list(dict.fromkeys(query.text for query in data.queries.values()))[:140]


def calls(function):
    """The number of calls of Python functions, and what the function returns."""
    count = 0

    def count_it(frame, event, argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_it)
    try:
        result = function()
    finally:
        sys.setprofile(before)
    return count, result


@pytest.mark.parametrize("system", SYSTEMS)
def test_many_queries_at_once_do_no_more_than_one_after_the_other(system, documents, queries):
    with Index.make("demo" if system in LEARN else documents, "fr", system=system, **SYSTEMS[system]) as index:
        alone = [index.search(query, k=10) for query in queries[:2]]
        assert [list(hits) for hits in index.search_many(queries[:2], k=10)] == alone
        loop, one_by_one = calls(lambda: [index.search(query, k=10) for query in queries])
        many, together = calls(lambda: index.search_many(queries, k=10))
    assert [[hit.id for hit in hits] for hits in together] == [[hit.id for hit in hits] for hits in one_by_one]
    assert all(
        [hit.passage for hit in one] == [hit.passage for hit in other]
        for one, other in zip(together, one_by_one, strict=True)
    )
    assert many <= loop
