"""Impact lists: the pruned search finds what reading all lists finds; damaged files are named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval import impacts
from isogloss.retrieval.impacts import CHUNK, LEVELS, ImpactLists, ImpactQuery, Run, search_impacts

DIMENSIONS = 12


def runs_of(documents):
    """One run a chunk; a document is a mapping from dimensions to levels."""
    for first in range(0, len(documents), CHUNK):
        chunk = documents[first : first + CHUNK]
        pairs = [pair for document in chunk for pair in document.items()]
        dimensions, levels = np.array(pairs, np.int64).reshape(-1, 2).T
        ends = np.cumsum([len(document) for document in chunk])
        yield Run(dimensions.astype(np.int32), levels.astype(np.uint8), ends)


def lists_of(documents):
    return ImpactLists.build(len(documents), DIMENSIONS, runs_of(documents))


def many(count, seed=0):
    random = np.random.default_rng(seed)
    often = random.random(DIMENSIONS) ** 3
    present = random.random((count, DIMENSIONS)) < often
    levels = random.integers(1, LEVELS, (count, DIMENSIONS))
    return [
        {int(dimension): int(levels[row, dimension]) for dimension in np.flatnonzero(present[row])}
        for row in range(count)
    ]


def tables_of(rows, seed=0):
    random = np.random.default_rng(seed)
    tables = np.sort(random.integers(0, 1 << 20, (rows, LEVELS)), axis=1) // random.integers(1, 50, (rows, 1))
    tables[:, 0] = 0
    return tables.astype(np.int32)


DOCUMENTS = st.lists(
    st.dictionaries(st.integers(0, DIMENSIONS - 1), st.integers(1, LEVELS - 1), max_size=6), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(st.lists(DOCUMENTS, min_size=1, max_size=3), st.data())
def test_the_pruned_search_finds_what_reading_everything_finds(parts, data):
    pytest.importorskip("numba")
    count = sum(map(len, parts))
    lists = [lists_of(part) for part in parts]
    dimensions = data.draw(st.lists(st.integers(-1, DIMENSIONS - 1), max_size=8, unique=True))
    tables = tables_of(len(dimensions), data.draw(st.integers(0, 9))) // data.draw(st.sampled_from([1, 100_000]))
    order = np.array(data.draw(st.permutations(range(count))), np.int64)
    allowed = np.array([data.draw(st.booleans()) for _ in range(count)], bool) if data.draw(st.booleans()) else None
    query = ImpactQuery([np.array(dimensions, np.int64)] * len(parts), tables)
    k = data.draw(st.integers(0, 12))
    fast, slow = (search_impacts(lists, query, k, order, allowed, compiled) for compiled in (True, False))
    assert (fast.rows.tolist(), fast.scores.tolist()) == (slow.rows.tolist(), slow.scores.tolist())
    documents = [document for part in parts for document in part]
    expected = {
        row: score
        for row, document in enumerate(documents)
        if (allowed is None or allowed[row])
        and (score := sum(int(tables[i, document[d]]) for i, d in enumerate(dimensions) if d in document)) > 0
    }
    ranked = sorted(expected, key=lambda row: (-expected[row], order[row]))[:k]
    assert slow.rows.tolist() == ranked
    assert slow.scores.tolist() == [expected[row] for row in ranked]


@pytest.mark.parametrize("k", [1, 10, 300])
@pytest.mark.parametrize("share", [None, 0.5, 0.001])
def test_many_windows_and_chunks(k, share):
    pytest.importorskip("numba")
    parts = [lists_of(many(CHUNK + 3_000)), lists_of(many(9_000, 1))]
    size = sum(part.size for part in parts)
    random = np.random.default_rng(2)
    allowed = None if share is None else random.random(size) < share
    for seed in range(3):
        dimensions = random.permutation(DIMENSIONS)[:7]
        query = ImpactQuery([dimensions, dimensions], tables_of(len(dimensions), seed))
        fast, slow = (
            search_impacts(parts, query, k, random.permutation(size), allowed, compiled) for compiled in (True, True)
        )
        assert fast.scores.tolist() == slow.scores.tolist()  # whatever the order of ids
        order = np.arange(size)
        fast, slow = (search_impacts(parts, query, k, order, allowed, compiled) for compiled in (True, False))
        assert (fast.rows.tolist(), fast.scores.tolist()) == (slow.rows.tolist(), slow.scores.tolist())


@pytest.mark.parametrize("compiled", [False, True])
def test_lists_are_sorted_alike_with_and_without_compiled_code(compiled, monkeypatch):
    if compiled:
        pytest.importorskip("numba")
    monkeypatch.setattr(impacts, "pays", lambda seconds: compiled)
    documents = many(500)
    lists = lists_of(documents)
    for dimension in range(DIMENSIONS):
        rows = [row for row, document in enumerate(documents) if dimension in document]
        assert lists.rows(dimension).tolist() == rows
        assert lists.count(dimension) == len(rows)
        (begin, end) = lists.lists[dimension : dimension + 2]
        highest = max((documents[row][dimension] for row in rows), default=0)
        assert [*lists.tops[begin:end]] == [highest] * (end - begin)


def test_no_documents_and_no_dimensions():
    for documents in ([], [{}, {}]):
        lists = lists_of(documents)
        for compiled in (False, True):
            for dimensions in ([], [3]):
                query = ImpactQuery([np.array(dimensions, np.int64)], tables_of(len(dimensions)))
                found = search_impacts([lists], query, 5, np.arange(len(documents)), None, compiled)
                assert len(found.rows) == 0
    assert len(search_impacts([], ImpactQuery([], tables_of(0)), 5, np.arange(0)).rows) == 0


def test_what_is_saved_is_loaded(tmp_path):
    documents = many(300)
    lists_of(documents).save(tmp_path)
    lists = ImpactLists.load(tmp_path, 300, DIMENSIONS)
    query = ImpactQuery([np.arange(5)], tables_of(5))
    one, other = (search_impacts([each], query, 9, np.arange(300)) for each in (lists, lists_of(documents)))
    assert one.rows.tolist() == other.rows.tolist()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lists", lambda a: a[::-1]),
        ("lists", lambda a: a[:-1]),
        ("lists", lambda a: a.astype(np.int32)),
        ("chunks", lambda a: a - 1),
        ("chunks", lambda a: a + 1),
        ("starts", lambda a: a - 1),
        ("starts", lambda a: a + 1),
        ("sizes", lambda a: a + 1),
        ("sizes", lambda a: -a),
        ("tops", lambda a: a[:-1]),
        ("documents", lambda a: a[:-1]),
        ("documents", lambda a: a.astype(np.int32)),
        ("levels", lambda a: a[:-1]),
        ("levels", lambda a: a.reshape(1, -1)),
    ],
)
def test_arrays_that_do_not_fit_are_refused_before_compiled_code_reads_them(name, change, tmp_path):
    lists_of(many(300)).save(tmp_path)
    path = tmp_path / f"impacts.{name}.npy"
    np.save(path, change(np.load(path)))
    with pytest.raises(ValueError, match=r"impacts\."):
        ImpactLists.load(tmp_path, 300, DIMENSIONS)


@pytest.mark.parametrize("name", ["documents", "levels", "tops"])
def test_postings_of_noise_do_no_harm(name, tmp_path):
    """They give wrong scores, which checksums find, but nothing is read or written outside the arrays."""
    pytest.importorskip("numba")
    lists_of(many(3_000)).save(tmp_path)
    path = tmp_path / f"impacts.{name}.npy"
    noise = np.load(path)
    np.save(path, np.random.default_rng(0).integers(0, np.iinfo(noise.dtype).max, len(noise)).astype(noise.dtype))
    lists = ImpactLists.load(tmp_path, 3_000, DIMENSIONS)
    query = ImpactQuery([np.arange(9)], tables_of(9))
    found = search_impacts([lists], query, 20, np.arange(3_000))
    assert ((found.rows >= 0) & (found.rows < 3_000)).all()
