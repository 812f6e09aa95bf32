"""What the base class of systems does with the few methods that a system has to define."""

from dataclasses import dataclass

import numpy as np
import pytest

from isogloss.data.documents import Collection, Document, Query
from isogloss.systems.base import System, SystemOptions, option

DOCUMENTS = Collection([Document("b", "4", "1"), Document("a", "4", "2"), Document("c", "9", "3")])


@dataclass(frozen=True)
class NearnessOptions(SystemOptions):
    horizon: float = option(np.inf, "what is farther is not found")
    weight: int = option(1, "how much it weighs", 1, 9)


class Nearness(System):
    """Texts are numbers; the nearest is the best."""

    name, summary, options_type = "nearness", "ranks numbers by nearness", NearnessOptions

    def __init__(self, **options):
        super().__init__(NearnessOptions(**options), "en", "fr")

    @property
    def found_above(self):
        return -self.options.horizon

    def index_texts(self, texts):
        self.numbers = np.asarray([float(text) for text in texts])

    def scores(self, query):
        return -np.abs(self.numbers - float(query))

    def save_part(self, directory, keep=None):
        np.save(directory / "numbers.npy", self.numbers if keep is None else self.numbers[keep])

    def load_parts(self, directories, id_order):
        self.numbers = np.concatenate([np.load(directory / "numbers.npy") for directory in directories])
        self._take_order(id_order, len(self.numbers))
        return self


@pytest.fixture
def system():
    made = Nearness()
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


def test_what_does_not_score_above_the_floor_is_not_found():
    system = Nearness(horizon=1.0)
    system.index(DOCUMENTS, ("text",))
    assert system.search("8.5", 10).rows.tolist() == [2]
    assert system.search("5", 10).rows.tolist() == []  # at the floor is not above it


def test_only_what_is_allowed_is_found(system):
    allowed = np.asarray([True, False, True])
    assert system.search("5", 3, allowed).rows.tolist() == [0, 2]
    assert system.search("5", 3, np.zeros(3, bool)).rows.tolist() == []
    for query, ranking in zip(["5", "9"], system.search_texts(["5", "9"], 2, allowed), strict=True):
        assert ranking.rows.tolist() == system.search(query, 2, allowed).rows.tolist()


def test_several_parts_are_loaded_one_after_the_other(system, tmp_path):
    for name, keep in (("one", [False, True, True]), ("two", None)):
        (tmp_path / name).mkdir()
        system.save_part(tmp_path / name, keep if keep is None else np.asarray(keep))
    loaded = Nearness().load_parts([tmp_path / "one", tmp_path / "two"], np.arange(5))
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


def test_the_fields_asked_for_are_what_is_indexed():
    system = Nearness()
    system.index(DOCUMENTS, ("title",))
    assert system.numbers.tolist() == [1, 2, 3]


def test_a_saved_system_loads_and_scores_the_same(system, tmp_path):
    system.save(tmp_path)
    loaded = Nearness().load(tmp_path)
    assert loaded.scores("5").tolist() == system.scores("5").tolist()
    assert loaded.search("5", 2).rows.tolist() == system.search("5", 2).rows.tolist()


def test_options_describe_themselves():
    *own, (common, _, _) = NearnessOptions.describe()
    assert own == [("horizon", np.inf, "what is farther is not found"), ("weight", 1, "how much it weighs")]
    assert common == "passages"


def test_a_system_that_cannot_explain_says_nothing(system):
    assert system.explain("5", 0, "") == []
    assert system.best_possible("5") == 1.0
    assert system.term_of("Word") == "Word"
