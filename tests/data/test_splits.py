"""Splits of queries, random or listed by the data, and random negatives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.dataset import load_dataset
from isogloss.data.splits import SPLITS, draw_from_splits, sample_negatives, split_queries
from isogloss.storage.errors import InputError

QUERIES = st.lists(st.text("abcde123", min_size=1, max_size=5), unique=True, max_size=40)
SEEDS = st.integers(0, 2**32)


def membership(parts):
    return {query: name for name, queries in parts.items() for query in queries}


@settings(max_examples=26, deadline=None)
@given(QUERIES, SEEDS)
def test_every_query_is_in_one_split_and_the_shares_are_3_1_1(queries, seed):
    parts = split_queries(queries, seed)
    assert sorted(query for part in parts.values() for query in part) == sorted(queries)
    assert tuple(parts) == SPLITS
    for name, share in zip(SPLITS, (0.6, 0.2, 0.2), strict=True):
        assert abs(len(parts[name]) - share * len(queries)) <= 1


@settings(max_examples=26, deadline=None)
@given(QUERIES.flatmap(lambda queries: st.tuples(st.just(queries), st.permutations(queries))), SEEDS)
def test_the_order_of_the_queries_does_not_matter(orders, seed):
    groups = {query: query[0] for query in orders[0]}
    for by_group in (None, groups):
        first, second = (membership(split_queries(order, seed, by_group)) for order in orders)
        assert first == second


@settings(max_examples=26, deadline=None)
@given(QUERIES, SEEDS)
def test_the_queries_of_a_group_stay_together_and_groups_are_split_3_1_1(queries, seed):
    groups = {query: query[0] for query in queries}
    parts = split_queries(queries, seed, groups)
    found = {name: {groups[query] for query in part} for name, part in parts.items()}
    assert sum(map(len, found.values())) == len(set(groups.values()))
    assert abs(len(found["train"]) - 0.6 * len(set(groups.values()))) <= 0.5


def test_a_query_without_a_group_is_its_own_group():
    parts = split_queries([str(n) for n in range(100)], 0, {"0": "g", "1": "g"})
    assert membership(parts)["0"] == membership(parts)["1"]
    assert [len(part) for part in parts.values()] in ([60, 20, 20], [59, 21, 20], [59, 20, 21])


def test_the_seed_decides_and_nothing_else():
    queries = [f"q{n}" for n in range(100)]
    assert split_queries(queries, 1) == split_queries(queries, 1)
    assert split_queries(queries, 1) != split_queries(queries, 2)


def test_the_split_of_a_seed_stays_the_same_for_good():
    assert split_queries(list("abcdefghij"), 7) == {
        "train": ["a", "b", "d", "g", "h", "i"], "dev": ["c", "e"], "test": ["f", "j"],
    }  # fmt: skip


def test_data_without_splits_are_split_by_the_seed(tiny, read):
    rows = {"wiki_en.queries": "".join(f"q{n}\t-\ttext\n" for n in range(50)), "en2fr.rel": ""}
    source = tiny("wikiclir", rows)
    first, again, other = (read(source, seed=seed).splits for seed in (3, 3, 4))
    assert first == again != other
    assert [len(part) for part in first.values()] == [30, 10, 10]


def test_all_queries_of_a_page_stay_in_one_split(read):
    data = read("demo")
    split_of = membership(data.splits)
    assert len(split_of) == len(data.queries)
    assert all(split_of[query] == split_of[query[:-1] + "1"] for query in split_of)


def test_pages_that_translate_each_other_are_in_the_same_split_whoever_asks(read):
    english, swahili = (membership(read("demo", pair).splits) for pair in ("en-fr", "sw-fr"))
    assert {query.removeprefix("en"): split for query, split in english.items() if query.endswith(".1")} == {
        query.removeprefix("sw"): split for query, split in swahili.items()
    }


def test_a_seed_below_0_is_refused(read):
    with pytest.raises(InputError, match=r"seed: -1 is below 0; choose 0 or more"):
        read("demo", seed=-1)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_splits_files_are_taken_as_they_are_and_only_those_can_be_asked_for(tiny, read, packed):
    source = tiny("wikiclir", {"splits/en.dev": "q2\n", "splits/en.train": "q3\r\n\nq1\n"}, packed)
    data = read(source)
    assert data.splits == {"train": ["q3", "q1"], "dev": ["q2"]}
    assert [query.id for query in data.split("train")] == ["q3", "q1"]
    with pytest.raises(InputError, match=r"has no split 'test'; there are train, dev and all"):
        data.split("test")


def test_a_splits_file_may_list_queries_without_judgments_for_the_pair(tiny, read):
    data = read(tiny("wikiclir", {"splits/en.dev": "q1\nq3\n"}))
    assert [query.id for query in data.split("dev")] == ["q1", "q3"]
    assert "q3" not in data.judgments
    assert not data.problems.errors
    assert not data.problems.warnings


def test_a_splits_file_that_lists_a_query_that_does_not_exist_is_wrong_in_that_line(tiny, read, gather):
    source = tiny("wikiclir", {"splits/en.train": "q1\n", "splits/en.dev": "q2\nq77\nq3\n"})
    data = gather(source)
    assert data.splits == {"train": ["q1"], "dev": ["q2", "q3"]}
    assert data.problems.errors == {"unknown query id": 1}
    with pytest.raises(InputError, match=r"splits/en\.dev:2: query id 'q77' does not exist"):
        read(source)


def test_splits_of_another_query_language_are_not_used(tiny, read):
    data = read(tiny("wikiclir", {"splits/fr.dev": "nothing of ours\n"}))
    assert tuple(data.splits) == SPLITS


@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(0, 60), st.integers(0, 20), st.integers(0, 2**32), st.text(max_size=5))
def test_negatives_are_distinct_unjudged_rows_enough_or_all(data, documents, count, seed, query):
    judged = data.draw(st.lists(st.integers(0, documents - 1), max_size=10)) if documents else []
    rows = sample_negatives(query, judged, documents, count, seed).tolist()
    assert len(rows) == len(set(rows)) == min(count, documents - len(set(judged)))
    assert all(0 <= row < documents for row in rows)
    assert not set(rows) & set(judged)
    assert rows == sample_negatives(query, judged[::-1], documents, count, seed).tolist()


def test_seed_and_query_decide():
    def draw(query="q", seed=0):
        return sample_negatives(query, [1, 2], 10_000, 40, seed).tolist()

    assert draw() == draw()
    assert draw() != draw(seed=1)
    assert draw() != draw("r")


def test_every_unjudged_document_has_its_chance():
    drawn = {row for n in range(300) for row in sample_negatives(f"q{n}", [0], 30, 3).tolist()}
    assert drawn == set(range(1, 30))


def test_the_draw_of_a_seed_stays_the_same_for_good():
    assert sample_negatives("q1", [3], 1000, 5, 42).tolist() == [701, 609, 674, 120, 378]


class TestLimit:
    @settings(max_examples=26, deadline=None)
    @given(st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(1, 120), st.integers(0, 5))
    def test_splits_keep_their_shares_and_the_number_is_exact(self, sizes, count, seed):
        splits = {f"s{number}": [f"{number}-{i}" for i in range(size)] for number, size in enumerate(sizes)}
        drawn = draw_from_splits(splits, count, seed)
        total = sum(sizes)
        assert sum(map(len, drawn.values())) == min(count, total)
        for name, ids in splits.items():
            assert [id_ for id_ in ids if id_ in set(drawn[name])] == drawn[name]
            assert abs(len(drawn[name]) - len(ids) * min(1, count / max(1, total))) <= 1
        assert draw_from_splits(splits, count, seed) == drawn

    def test_a_limited_dataset_has_fewer_queries_in_the_same_splits_and_all_documents(self):
        whole, few = load_dataset("demo", "en-fr"), load_dataset("demo", "en-fr", queries=50)
        assert {name: len(ids) for name, ids in few.splits.items()} == {"train": 30, "dev": 10, "test": 10}
        assert all(set(few.splits[name]) <= set(whole.splits[name]) for name in whole.splits)
        assert set(few.queries) == set(few.judgments.queries) == {id_ for ids in few.splits.values() for id_ in ids}
        assert all(few.judgments[query] == whole.judgments[query] for query in few.queries)
        assert few.documents.ids == whole.documents.ids
        assert few.judgments.top_grade == whole.judgments.top_grade
        assert load_dataset("demo", "en-fr", 1, queries=50).splits != few.splits
        assert len(load_dataset("demo", "en-fr", queries=10_000).queries) == len(whole.queries)
