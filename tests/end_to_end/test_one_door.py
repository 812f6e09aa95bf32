"""A folder of documents in several languages: index it, ask, add to it, with nothing but the shortest commands."""

import json

import pytest

TEXTS = {
    "fr/miel.txt": "Les abeilles fabriquent le miel avec le nectar des fleurs et le gardent dans la ruche.",
    "brot.txt": "Der Bäcker backt das Brot am frühen Morgen und verkauft es auf dem Markt.",
    "mond.txt": "Der Mond umkreist die Erde in achtundzwanzig Tagen und bewegt das Wasser der Meere.",
    "notes/bees.txt": "Bees make honey from the nectar of flowers, and keep it in the hive for the winter.",
}
WORDS = {"en-fr": "honey\tmiel\n", "en-de": "bread\tBrot\nmoon\tMond\n", "fr-de": "pain\tBrot\nlune\tMond\n"}


@pytest.fixture
def documents(here):
    for name, text in TEXTS.items():
        (here / "mixed" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "mixed" / name).write_text(text, encoding="utf-8")
    (here / "words").mkdir()
    for pair, words in WORDS.items():
        (here / "words" / f"{pair}.tsv").write_text(words, encoding="utf-8")
    return "mixed"


@pytest.fixture
def ids(run):
    def search(*query):
        done = run("search", "index", *query, "--json", "-")
        assert done.code == 0, done.err
        return [hit["id"] for hit in json.loads(done.out)["hits"]]

    return search


WITH_WORDS = ("--set", "lexicon=words/{pair}.tsv")


def test_a_mixed_folder_is_indexed_and_one_query_finds_all_of_it(run, documents, ids):
    done = run("index", documents, "-o", "index", *WITH_WORDS)
    found = "4 documents: 2 in de, 1 in fr, 1 in en"
    assert (done.code, done.err) == (0, f"index: {found}; search with: isogloss search index 'your query'\n")
    assert sorted(ids("honey")) == ["fr/miel.txt", "notes/bees.txt"]
    assert ids("the moon") == ["mond.txt"]
    assert "[en] notes/bees.txt" in run("search", "index", "honey", "--explain").out


def test_documents_are_added_in_whatever_language_they_are(run, documents, ids, here):
    run("index", documents, "-o", "index", *WITH_WORDS)
    (here / "new").mkdir()
    (here / "new" / "pane.txt").write_text("Il fornaio prepara il pane ogni mattina con la farina.", encoding="utf-8")
    (here / "words" / "en-it.tsv").write_text("bread\tpane\n", encoding="utf-8")
    done = run("add", "index", "new", *WITH_WORDS)
    assert done.err == "index: 1 document added; now 5 documents: 2 in de, 1 in fr, 1 in en, 1 in it\n"
    assert sorted(ids("bread")) == ["brot.txt", "pane.txt"]
    assert run("check", "index").code == 0


def test_queries_may_be_in_several_languages(run, documents, ids):
    asked = ("--query-language", "en", "--query-language", "fr")
    assert run("index", documents, "--language", "de", "-o", "index", *asked, *WITH_WORDS).code == 0
    assert ids("moon") == ids("lune") == ids("lune", "--query-language", "fr") == ["mond.txt"]
    assert ids("lune", "--query-language", "en") == []
    told = run("search", "index", "Mond und Erde und das Wasser der Meere", "--query-language", "detect").out
    assert "this looks like a query in 'de'" in told
    assert "the index expects queries in 'en' or 'fr'" in told
    answer = json.loads(run("search", "index", "lune", "--json", "-").out)
    assert answer["query_language"] == "fr"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "has no documents; files are read that end with .txt"),
        (b"42", "cannot be detected, since they are short or of several languages; name it: --language LANG"),
        (b"\x00\x01\xff", "has no documents; 1 file skipped: 1 binary (page.txt)"),
        ("Voilà du café".encode("latin-1"), "has no documents; 1 file skipped: 1 unknown character set (page.txt)"),
    ],
)
def test_what_cannot_be_indexed_is_one_line(fails, here, content, why):
    (here / "folder").mkdir()
    if content is not None:
        (here / "folder" / "page.txt").write_bytes(content)
    assert why in fails("index", "folder", "-o", "index")
    assert not (here / "index").exists()
