"""Compounds split by how often their parts occur."""

import pytest

from isogloss.text.compounds import split_compounds

COUNTS = {
    "tabelle": 50, "ansicht": 30, "tabellenansicht": 2, "datei": 90, "fenster": 40, "dateifenster": 1,
    "daten": 20, "bank": 2, "datenbank": 80, "datenbankfenster": 3, "arbeit": 10, "schritt": 10, "arbeitsschritt": 4,
    "sprache": 1, "auto": 9, "mat": 9, "automat": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("compound", "parts"),
    [
        ("tabellenansicht", ["tabelle", "ansicht"]),
        ("dateifenster", ["datei", "fenster"]),
        ("arbeitsschritt", ["arbeit", "schritt"]),
        ("datenbankfenster", ["datenbank", "fenster"]),
        ("dateiansicht", ["datei", "ansicht"]),
        ("dateifensteransicht", ["datei", "fenster", "ansicht"]),
    ],
)
def test_a_compound_is_split_into_known_words(compound, parts):
    assert split_compounds([compound], COUNTS) == {compound: parts}


@pytest.mark.parametrize("term", ["datenbank", "tabelle", "automat", "fensterbrett", "x", ""])
def test_other_terms_stay_whole(term):
    assert split_compounds([term], COUNTS) == {}


def test_nothing_is_split_without_counts():
    assert split_compounds(COUNTS, {}) == {}
