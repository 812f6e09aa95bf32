"""What every System can do from the few things it must say."""

import numpy as np
import pytest

from isogloss.data.documents import Collection, Document, Query
from isogloss.systems.base import System

DOCUMENTS = Collection([Document("b", "4", "1"), Document("a", "4", "2"), Document("c", "9", "3")])


@pytest.fixture
def system(nearness):
    made = nearness()
    made.index(DOCUMENTS, ("text",))
    return made


def test_a_system_must_say_how_it_indexes_scores_saves_and_loads():
    assert System.__abstractmethods__ == {"index_texts", "scores", "save_part", "load_parts"}


def test_searching_is_the_best_of_the_scores_ties_by_id(system):
    rows, scores = system.search("5", 2)
    assert (rows.tolist(), scores.tolist()) == ([1, 0], [-1.0, -1.0])


@pytest.mark.parametrize(("k", "found"), [(0, 0), (1, 1), (3, 3), (10, 3)])
def test_searching_gives_k_documents_or_all_there_are(system, k, found):
    assert len(system.search("5", k).rows) == found


def test_what_does_not_score_above_the_floor_is_not_found(nearness):
    system = nearness(horizon=1.0)
    system.index(DOCUMENTS, ("text",))
    assert system.search("8.5", 10).rows.tolist() == [2]
    assert system.search("5", 10).rows.tolist() == []  # at the floor is not above it


def test_only_what_is_allowed_is_found(system):
    allowed = np.asarray([True, False, True])
    assert system.search("5", 3, allowed).rows.tolist() == [0, 2]
    assert system.search("5", 3, np.zeros(3, bool)).rows.tolist() == []
    for query, ranking in zip(["5", "9"], system.search_texts(["5", "9"], 2, allowed), strict=True):
        assert ranking.rows.tolist() == system.search(query, 2, allowed).rows.tolist()


def test_several_parts_are_loaded_one_after_the_other(system, nearness, tmp_path):
    for name, keep in (("one", [False, True, True]), ("two", None)):
        (tmp_path / name).mkdir()
        system.save_part(tmp_path / name, keep if keep is None else np.asarray(keep))
    loaded = nearness().load_parts([tmp_path / "one", tmp_path / "two"], np.arange(5))
    assert loaded.numbers.tolist() == [4, 9, 4, 4, 9]


def test_what_a_system_does_not_know_it_does_not_say(system):
    assert (system.passage("5", 0), system.thresholds(), system.about(), system.joins) == (None, (), {}, False)


def test_searching_for_all_is_searching_for_each_in_order(system):
    queries = [Query("1", "9"), Query("2", "4"), Query("3", "7")]
    for query, ranking in zip(queries, system.search_all(queries, 2), strict=True):
        assert ranking.rows.tolist() == system.search(query.text, 2).rows.tolist()
    assert list(system.search_all([], 2)) == []


def test_the_scores_of_some_rows_are_those_of_all(system):
    rows = np.asarray([2, 0])
    assert system.score("5", rows).tolist() == system.scores("5")[rows].tolist() == [-4.0, -1.0]


def test_the_fields_asked_for_are_what_is_indexed(nearness):
    system = nearness()
    system.index(DOCUMENTS, ("title",))
    assert system.numbers.tolist() == [1, 2, 3]


def test_a_saved_system_loads_and_scores_the_same(system, nearness, tmp_path):
    system.save(tmp_path)
    loaded = nearness().load(tmp_path)
    assert loaded.scores("5").tolist() == system.scores("5").tolist()
    assert loaded.search("5", 2).rows.tolist() == system.search("5", 2).rows.tolist()


def test_options_describe_themselves(nearness):
    *own, (common, _, _) = nearness.options_type.describe()
    assert own == [("horizon", 1e9, "numbers farther than this are not found"), ("weight", 1, "")]
    assert common == "passages"


def test_a_system_that_cannot_explain_says_nothing(system):
    assert system.explain("5", 0, "") == []
    assert system.best_possible("5") == 1.0
    assert system.term_of("Word") == "Word"
