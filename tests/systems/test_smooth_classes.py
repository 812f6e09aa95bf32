"""The scores at which ``smooth`` goes from one class of relevance to the next."""

import pytest

from isogloss.systems.registry import make_system


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (0.2, 0.7)),
        ({"thresholds": "0.1,0.5"}, (0.1, 0.5)),
        ({"thresholds": "0.4"}, (0.4,)),
        ({"loss": "po", "thresholds": "-0.1,0.3,0.6"}, (-0.1, 0.3, 0.6)),
        ({"loss": "3part"}, (0.2, 0.725)),
        ({"loss": "mse"}, (0.025, 0.65)),
    ],
)
def test_the_loss_says_where_a_class_ends(settings, expected):
    assert make_system("smooth", ("en", "fr"), settings).thresholds() == pytest.approx(expected)
