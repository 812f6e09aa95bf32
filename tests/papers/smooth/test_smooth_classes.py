"""The scores at which ``smooth`` goes from one class of relevance to the next."""

import pytest

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.storage.arrays import write_tensors
from isogloss.systems.registry import make_system

SMALL = {"epochs": "1", "dimension": "4", "negatives": "1", "eps": "0"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (0.3, 0.64)),  # no score of eps .1 and 64 dimensions reaches .98
        ({"eps": "0"}, (0.3, 0.98)),
        ({"loss": "po"}, (0.2, 0.7)),
        ({"thresholds": "0.1,0.5"}, (0.1, 0.5)),
        ({"thresholds": "0.4"}, (0.4,)),
        ({"loss": "po", "thresholds": "-0.1,0.3,0.6"}, (-0.1, 0.3, 0.6)),
        ({"loss": "3part"}, (0.2, 0.725)),
        ({"loss": "mse"}, (0.025, 0.65)),
    ],
)
def test_the_loss_says_where_a_class_ends(settings, expected):
    assert make_system("smooth", ("en", "fr"), settings).thresholds() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("top", "expected"), [(1, (0.3,)), (2, (0.3, 0.98)), (3, (0.3, 0.64, 0.98)), (4, (0.3, 0.526667, 0.753333, 0.98))]
)
def test_there_is_one_threshold_fewer_than_there_were_grades_to_learn_from(tmp_path, top, expected):
    system = make_system("smooth", ("en", "fr"), SMALL)
    system.fit(graded(top))
    assert system.thresholds() == pytest.approx(expected)
    system.save_model(tmp_path)
    loaded = make_system("smooth", ("en", "fr"), SMALL)
    loaded.load_model(tmp_path)
    assert loaded.thresholds() == pytest.approx(expected)


def test_a_model_that_does_not_say_how_many_grades_it_saw_had_three(tmp_path):
    system = make_system("smooth", ("en", "fr"), SMALL)
    system.fit(graded(1))
    system.save_model(tmp_path)
    write_tensors(tmp_path / "model.safetensors", system.model.parameters)
    system.load_model(tmp_path)
    assert system.thresholds() == pytest.approx((0.3, 0.98))


def graded(top):
    """A document of every grade for each query."""
    documents = [Document(f"d{grade}", f"mot{grade} mot") for grade in range(top + 1)]
    queries = {f"q{number}": Query(f"q{number}", f"word{number} word") for number in range(4)}
    judged = [Judgment(query, f"d{grade}", grade) for query in queries for grade in range(1, top + 1)]
    splits = {"train": list(queries)}
    return Dataset(Demo(), ("en", "fr"), Collection(documents, "fr"), queries, Judgments(judged, top), splits)
