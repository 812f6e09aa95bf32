"""Which queries count and which documents are ranked under each protocol."""

from dataclasses import replace

import numpy as np
import pytest

from isogloss.evaluation.protocols import PROTOCOLS, make_task
from isogloss.evaluation.report import evaluate_run
from isogloss.storage.errors import InputError

DOCUMENTS = {f"d{number:03}": float(number) for number in range(200)}
QUERIES = {"near7": 7.2, "near100": 100.2, "unjudged": 3.0, "near50": 50.2, "alone": 1.0}
GRADES = {
    "near7": {"d007": 2, "d008": 1},
    "near100": {"d100": 1, "d150": 2, "d199": 0},
    "near50": {"d050": 2},
    "of another split": {"d000": 2},
}
LISTS = {"near7": {"d100": 1, "d008": 0, "d007": 0}, "near50": {"d049": 0}}


@pytest.fixture
def dataset(make_dataset):
    return make_dataset(DOCUMENTS, QUERIES, GRADES, LISTS)


@pytest.fixture
def system(nearness, dataset):
    made = nearness()
    made.index(dataset.documents, ("text",))
    return made


@pytest.mark.parametrize(
    ("protocol", "queries", "unjudged"),
    [("full", ["near7", "near100", "near50"], 2), ("sampled", ["near7", "near100", "near50"], 2),
     ("candidates", ["near7", "near50"], 3)],
)  # fmt: skip
def test_only_judged_queries_count_and_the_others_are_counted(dataset, system, protocol, queries, unjudged):
    task = make_task(dataset, "dev", protocol)
    run = task.run(system)
    assert ([query.id for query in task.queries], task.unjudged) == (queries, unjudged)
    assert list(run.rankings) == queries
    result = evaluate_run(run, task)
    assert all(len(values) == len(queries) for values in result.values.values())


def test_full_ranks_the_whole_collection_to_the_depth(dataset, system):
    assert len(make_task(dataset, "dev", "full").run(system).documents("near7")) == 200
    run = make_task(dataset, "dev", "full", depth=3).run(system)
    assert run.documents("near7") == ["d007", "d008", "d006"]
    assert run.rankings["near7"].scores.tolist() == pytest.approx([-0.2, -0.8, -1.2])


def test_full_leaves_out_what_the_system_has_not_found(dataset, nearness):
    system = nearness(horizon=1.0)
    system.index(dataset.documents, ("text",))
    assert make_task(dataset, "dev", "full").run(system).documents("near50") == ["d050", "d051"]


@pytest.mark.parametrize("protocol", ["sampled", "candidates"])
def test_a_given_set_is_ranked_whole_even_where_the_system_finds_nothing(dataset, nearness, protocol):
    system = nearness(horizon=0.1)
    system.index(dataset.documents, ("text",))
    task = make_task(dataset, "dev", protocol, negatives=5)
    expected = {"sampled": [7, 8, 6], "candidates": [3, 1]}[protocol]
    assert [len(task.run(system).documents(query.id)) for query in task.queries] == expected


@pytest.mark.parametrize("negatives", [0, 1, 40, 150])
def test_sampled_ranks_the_judged_and_n_others_that_are_not_judged(dataset, system, negatives):
    task = make_task(dataset, "dev", "sampled", negatives=negatives)
    run = task.run(system)
    for query in task.queries:
        ranked, judged = run.documents(query.id), set(GRADES[query.id])
        assert judged <= set(ranked)
        assert len(ranked) == len(set(ranked)) == len(judged) + negatives


def test_sampled_takes_all_there_is_where_the_collection_is_small(make_dataset, nearness):
    dataset = make_dataset({"a": 1, "b": 2, "c": 3}, {"q": 0}, {"q": {"b": 2}})
    system = nearness()
    system.index(dataset.documents, ("text",))
    assert make_task(dataset, "dev", "sampled").run(system).documents("q") == ["a", "b", "c"]


def test_the_sample_is_fixed_by_the_seed_and_the_query(dataset, make_dataset, system):
    def sample(data, seed):
        run = make_task(data, "dev", "sampled", seed=seed).run(system)
        return {query: run.documents(query) for query in run.rankings}

    turned = make_dataset(DOCUMENTS, dict(reversed(QUERIES.items())), GRADES)
    assert sample(dataset, 1) == sample(dataset, 1) == sample(turned, 1)
    assert all(sample(dataset, 1)[query] != sample(dataset, 2)[query] for query in ("near7", "near100", "near50"))
    others = [set(documents) - set(GRADES[query]) for query, documents in sample(dataset, 1).items()]
    assert others[0] != others[1]


def test_candidates_ranks_just_the_lists_and_uses_their_labels(dataset, system):
    task = make_task(dataset, "dev", "candidates")
    run = task.run(system)
    assert run.documents("near7") == ["d007", "d008", "d100"]  # graded 2 and 1 in the judgments, but labelled 0
    assert run.documents("near50") == ["d049"]
    result = evaluate_run(run, task)
    assert result.values["MRR_r"].tolist() == pytest.approx([1 / 3, 0])
    assert result.values["MRR_mr"].tolist() == pytest.approx([1 / 3, 0])
    assert result.means()["MAP"] == pytest.approx(1 / 6)


def test_a_source_without_candidates_is_an_error_that_says_how_to_make_them(make_dataset):
    dataset = make_dataset(DOCUMENTS, QUERIES, GRADES)
    with pytest.raises(InputError, match="has no candidate lists for en-fr dev; make some with 'isogloss data candid"):
        make_task(dataset, "dev", "candidates")


@pytest.mark.parametrize(
    ("split", "protocol", "message"),
    [("dev", "halves", "'halves' is not one of full, sampled, candidates"), ("train", "full", "has no split 'train'"),
     ("test", "full", "no query of the split 'test' is judged for en-fr")],
)  # fmt: skip
def test_a_task_that_cannot_be_is_an_error(dataset, split, protocol, message):
    with pytest.raises(InputError, match=message):
        make_task(dataset, split, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_task_gives_the_same_run_twice(dataset, system, protocol):
    first, second = (make_task(dataset, "dev", protocol, seed=3).run(system) for _ in range(2))
    assert list(first.rankings) == list(second.rankings)
    for query, ranking in first.rankings.items():
        assert np.array_equal(ranking.rows, second.rankings[query].rows)
        assert np.array_equal(ranking.scores, second.rankings[query].scores)


def test_the_rows_asked_for_are_the_rows_ranked_however_few_the_system_scores(dataset, nearness):
    class Picky(nearness):
        def scores(self, query):
            raise AssertionError("scores everything")

        def score(self, query, rows):
            assert rows.dtype == np.int64
            return -np.abs(self.numbers[rows] - float(query))

    system = Picky()
    system.index(dataset.documents, ("text",))
    assert make_task(dataset, "dev", "candidates").run(system).documents("near7") == ["d007", "d008", "d100"]
    assert make_task(dataset, "dev", "sampled").run(system).documents("near50")[0] == "d050"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_queries_may_be_asked_by_their_titles(dataset, system, protocol):
    titles = dict.fromkeys(QUERIES, "150.1")
    queries = {id_: replace(query, title=titles[id_]) for id_, query in dataset.queries.items()}
    titled = replace(dataset, queries=queries)
    task = make_task(titled, "dev", protocol, query_field="title")
    assert [query.id for query in task.queries] == [q.id for q in make_task(titled, "dev", protocol).queries]
    assert all(query.text == titles[query.id] for query in task.queries)
    assert titled.queries["near7"].text == str(QUERIES["near7"])  # what systems are fitted on
    if protocol == "full":
        assert task.run(system).documents("near7")[0] == "d150"


def test_queries_without_a_title_are_counted_in_the_error(dataset):
    one = next(query.id for query in dataset.split("dev") if query.id in dataset.judgments)
    queries = {id_: replace(query, title="7" if id_ == one else " ") for id_, query in dataset.queries.items()}
    with pytest.raises(InputError, match="2 of 3 queries of the split 'dev' have no title; ask with their texts"):
        make_task(replace(dataset, queries=queries), "dev", "full", query_field="title")
    with pytest.raises(InputError, match="query field: 'links' is not one of title, text"):
        make_task(dataset, "dev", "full", query_field="links")
