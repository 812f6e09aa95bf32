"""Candidate lists drawn from a system, and their way through the file into the protocol."""

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.evaluation.protocols import draw_candidates, make_task, write_candidates
from isogloss.storage.errors import InputError

DOCUMENTS = {f"d{number:02}": float(number) for number in range(40)}
QUERIES = {f"q{number:02}": number + 0.2 for number in range(30)}
GRADES = {f"q{number:02}": {f"d{number:02}": 2, f"d{number + 1:02}": 1, "d39": 0} for number in range(0, 30, 2)}


@pytest.fixture
def dataset(make_dataset):
    return make_dataset(DOCUMENTS, QUERIES, GRADES)


@pytest.fixture
def system(nearness, dataset):
    made = nearness()
    made.index(dataset.documents, ("text",))
    return made


def test_the_lists_are_the_best_k_of_judged_queries(dataset, system):
    lists = draw_candidates(system, dataset, "dev", 6, 4)
    assert len(lists.queries) == 6
    assert set(lists.queries) <= set(GRADES)
    assert lists.queries == sorted(lists.queries)  # in the order of the split
    for query in lists.queries:
        best = system.search(str(QUERIES[query]), 4).rows.tolist()
        assert set(lists[query]) == {dataset.documents.ids[row] for row in best}


def test_label_1_is_any_judged_relevance_and_all_else_is_0(dataset, system):
    lists = draw_candidates(system, dataset, "dev", 100, 40)
    for query in lists.queries:
        number = int(query[1:])
        assert {d for d, label in lists[query].items() if label} == {f"d{number:02}", f"d{number + 1:02}"}
    assert set(lists.grade_counts()) == {0, 1}
    assert lists.top_grade == 1


def test_the_draw_is_fixed_by_the_seed_and_the_order_gives_nothing_away(dataset, system):
    def drawn(seed, count=8):
        return list(draw_candidates(system, dataset, "dev", count, 5, seed))

    assert drawn(1) == drawn(1)
    assert {line.query for line in drawn(1)} != {line.query for line in drawn(2)}
    lists = draw_candidates(system, dataset, "dev", 100, 5)
    assert {next(iter(lists[query])) == f"d{query[1:]}" for query in lists.queries} == {True, False}


def test_more_queries_than_there_are_gives_all_of_them(dataset, system):
    assert draw_candidates(system, dataset, "dev", 500, 3).queries == list(GRADES)


def test_a_short_or_empty_result_makes_a_short_list_or_none(dataset, nearness):
    system = nearness(horizon=0.5)
    system.index(dataset.documents, ("text",))
    lists = draw_candidates(system, dataset, "dev", 500, 3)
    assert [len(lists[query]) for query in lists.queries] == [1] * len(GRADES)
    blind = nearness(horizon=0.0)
    blind.index(dataset.documents, ("text",))
    assert len(draw_candidates(blind, dataset, "dev", 500, 3)) == 0


def test_a_split_without_judged_queries_is_an_error(dataset, system):
    with pytest.raises(InputError, match="no query of the split 'test' is judged for en-fr"):
        draw_candidates(system, dataset, "test", 5, 3)


def test_written_lists_are_what_the_candidates_protocol_ranks(dataset, system, tmp_path):
    (tmp_path / "wiki_fr.documents").write_text("".join(f"{d}\t\t{n}\n" for d, n in DOCUMENTS.items()))
    (tmp_path / "wiki_en.queries").write_text("".join(f"{q}\t\t{n}\n" for q, n in QUERIES.items()))
    (tmp_path / "en2fr.rel").write_text("".join(f"{q}\t{d}\t{g}\n" for q, d, g in dataset.judgments))
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits" / "en.dev").write_text("".join(f"{q}\n" for q in QUERIES))
    lists = draw_candidates(system, dataset, "dev", 4, 3)
    write_candidates(tmp_path / "candidates" / "en2fr.dev", lists)
    task = make_task(load_dataset(WikiClir(str(tmp_path)), ("en", "fr")), "dev", "candidates")
    assert task.judgments == lists
    assert task.unjudged == len(QUERIES) - 4
    run = task.run(system)
    assert {query: set(run.documents(query)) for query in lists.queries} == {q: set(lists[q]) for q in lists.queries}


def test_the_file_is_three_columns_and_never_overwritten_unasked(dataset, system, tmp_path):
    lists = draw_candidates(system, dataset, "dev", 1, 2)
    write_candidates(tmp_path / "lists", lists)
    written = (tmp_path / "lists").read_text()
    assert written == "".join(f"{query}\t{document}\t{label}\n" for query, document, label in lists)
    with pytest.raises(InputError, match="exists"):
        write_candidates(tmp_path / "lists", lists)
    assert (tmp_path / "lists").read_text() == written
