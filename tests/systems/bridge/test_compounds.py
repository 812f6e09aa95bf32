"""Compounds: a word that no table knows is found by the parts it is made of."""

import pytest

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Document
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.systems.bridge.training import find_compounds
from isogloss.systems.registry import make_system
from isogloss.text.tokenizer import Tokenizer

LEXICON = "table\tTabelle\nview\tAnsicht\nfile\tDatei\nwindow\tFenster\nbread\tBrot\nsea\tMeer\n"
TEXTS = [
    "Die Tabelle und die Ansicht sind hier, die Tabelle auch.",
    "Hier wird die Tabellenansicht geöffnet.",
    "Das Brot liegt am Meer.",
    "Die Ansicht der Datei, die Datei und die Tabelle im Fenster.",
    "Das Dateifenster zeigt alles.",
]


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    path = tmp_path_factory.mktemp("lexicon") / "en-de.tsv"
    path.write_text(LEXICON, encoding="utf-8")
    return str(path)


def trained(lexicon, **settings):
    documents = Collection([Document(f"d{number}", text) for number, text in enumerate(TEXTS)], "de")
    system = make_system("bridge", ("en", "de"), {"lexicon": lexicon, "epochs": "0", **settings})
    system.fit(Dataset(Demo(), ("en", "de"), documents, {}, Judgments(), {}))
    system.index(documents, ("text",))
    return system


def test_a_compound_is_found_by_its_parts(lexicon):
    system, without = trained(lexicon), trained(lexicon, without="compounds")
    for query, row, part in (("view", 1, "ansicht"), ("table view", 1, "tabell"), ("window", 4, "fenst")):
        assert row in system.search(query, 5).rows.tolist()
        assert row not in without.search(query, 5).rows.tolist()
        assert part in {term for _, terms in system.translations(query) for term in terms}
    (line,) = (line for line in system.explain("view", 1, TEXTS[1]) if line.query_word == "view")
    assert line.document_words == ("tabellenansicht",)
    assert system.search("view", 5).rows[0] in (0, 3)  # the word itself says more than a compound of it
    assert system.search("sea", 5).rows.tolist() == without.search("sea", 5).rows.tolist() == [2]


def test_only_languages_that_write_them_as_one_word_have_compounds():
    found = find_compounds(TEXTS, Tokenizer("de", stems=True))
    assert {term: each.parts for term, each in found.items()} == {
        "tabellenansicht": ("tabell", "ansicht"),
        "dateifen": ("datei", "fenst"),
    }
    assert [each.share for each in found.values()] == [pytest.approx(1 / 3), 0.5]
    assert find_compounds(TEXTS, Tokenizer("fr", stems=True)) == {}
    assert find_compounds([], Tokenizer("de", stems=True)) == {}
