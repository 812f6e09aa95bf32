"""`isogloss search INDEX`: a document instead of a query, the words nobody knew, the language of the query."""

import json

import pytest


@pytest.fixture(scope="session")
def mates_index(tmp_path_factory):
    """An index of the bundled French pages with the English ones to search with."""
    from isogloss.cli.main import main

    path = tmp_path_factory.mktemp("shared") / "mates-index"
    assert main(["--quiet", "index", "demo", "--system", "psq", "--language", "fr", "-o", str(path)]) == 0
    return path


@pytest.fixture
def hopeless(run, tiny, here):
    """An index whose system counts as relevant what nothing reaches."""
    done = run(
        "index", f"wikiclir:{tiny}", "--system", "smooth", "--language", "fr", "-o", "hopeless",
        *(each for option in ("thresholds=0.98,0.99", "dimension=4", "epochs=1") for each in ("--set", option)),
    )  # fmt: skip
    assert done.code == 0, done.err
    return here / "hopeless"


@pytest.fixture
def found(run, mates_index):
    """The answer as plain values."""

    def search(*arguments):
        done = run("search", mates_index, *arguments, "--json", "-")
        assert (done.code, done.err) == (0, "")
        return json.loads(done.out)

    return search


def test_a_document_searches_for_its_mate(run, mates_index, found):
    answer = found("--doc", "en-honey", "-k", "3")
    assert answer["document"] == "en-honey"
    assert answer["query"].startswith("Honey ")
    assert answer["hits"][0]["id"] == "fr-honey"
    assert run("search", mates_index, "--doc", "en-honey", "-k", "1").out.lstrip().startswith("1. Miel  [fr] fr-honey")


def test_glosses_are_shown_to_whoever_asks_for_them_and_to_people(run, mates_index, found, monkeypatch):
    shown = run("search", mates_index, "how bees make honey", "-k", "1", "--gloss").out
    assert shown.splitlines()[0].lstrip().startswith("1. ") and "   ≈ " in shown and "≈ word for word" in shown
    assert "\n   = Honey  [en] en-honey" in shown or "\n   = Honeybee  [en] en-honeybee" in shown
    assert "≈" not in run("search", mates_index, "how bees make honey", "-k", "1").out, "nobody reads a file"
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, for Rich
    assert "≈" in run("search", mates_index, "how bees make honey", "-k", "1").out
    assert "≈" not in run("search", mates_index, "how bees make honey", "-k", "1", "--no-gloss").out
    assert "gloss" not in found("how bees make honey")["hits"][0]
    hit = found("how bees make honey", "--gloss", "-k", "1")["hits"][0]
    assert "".join(piece["text"] for piece in hit["gloss"]["snippet"]) == hit["snippet"]
    assert any(piece.get("gloss") == "honey" and piece["met"] == "honey" for piece in hit["gloss"]["snippet"])
    assert hit["twin"]["language"] == "en"


def test_naming_a_translator_asks_for_glosses(run, mates_index, tmp_path):
    shown = run("search", mates_index, "honey", "-k", "1", "--translator", f"ctranslate2:{tmp_path}").out
    assert "≈ word for word" in shown and "not translated: " in shown and "has no model.bin" in shown


def test_a_translator_that_nobody_knows_is_an_error(run, mates_index):
    done = run("search", mates_index, "honey", "--translator", "babel")
    assert done.code == 2 and "'babel' is none of apertium" in done.err


def test_a_document_has_a_number(found):
    first = found("--doc", "1")
    assert found("--doc", first["document"]) == first


def test_the_explanation_of_a_long_query_shows_what_counted_most_and_sums_up_the_rest(run, mates_index, found):
    parts = found("--doc", "en-volcano", "-k", "1")["hits"][0]["explanation"]
    shown = run("search", mates_index, "--doc", "en-volcano", "-k", "1", "--explain").out
    arrows = [line for line in shown.splitlines() if " → " in line]
    assert len(arrows) == min(20, len(parts))
    assert ("more words" in shown) == (len(parts) > 20)


def test_words_nobody_knew_stand_under_the_hits_and_in_the_json(run, mates_index, found):
    *_, last = run("search", mates_index, "honey xyzzy plugh").out.splitlines()
    assert last == "not known: xyzzy, plugh"
    assert found("honey xyzzy plugh")["unknown_words"] == ["xyzzy", "plugh"]
    assert "not known" not in run("search", mates_index, "honey").out


def test_of_many_unknown_words_a_dozen_is_shown(run, mates_index, found):
    query = " ".join(f"xyzzy{number}" for number in range(40))
    assert run("search", mates_index, query).out.splitlines()[-1].endswith("xyzzy11, … 28 more")
    assert len(found(query)["unknown_words"]) == 40


@pytest.mark.parametrize(
    ("wish", "noted", "language"),
    [(None, False, None), ("detect", True, "fr"), ("fr", True, "fr"), ("en", False, "en")],
)
def test_the_language_of_the_query_is_detected_or_given(run, mates_index, found, wish, noted, language):
    options = ("--query-language", wish) if wish else ()
    query = "comment les abeilles font-elles le miel"
    last = run("search", mates_index, query, *options).out.splitlines()[-1]
    assert last.startswith("this looks like a query in 'fr', the language of the documents") == noted
    assert found(query, *options).get("query_language") == language


def test_a_query_and_a_document_are_one_too_many(fails, mates_index):
    assert "a QUERY or --doc, not both" in fails("search", mates_index, "honey", "--doc", "1")


def test_a_document_that_is_not_there_is_an_error(fails, mates_index):
    assert "'zz' is neither a number from 1 to 104 nor the id of one" in fails("search", mates_index, "--doc", "zz")


def test_an_index_made_without_source_documents_says_what_to_do(run, fails):
    command = ("index", "demo", "--system", "psq", "--language", "fr", "-o", "index", "--no-source-documents")
    assert "to search with" not in run(*command).err
    assert "make it again from a source that has some" in fails("search", "index", "--doc", "1")


def test_hits_of_which_none_is_relevant_begin_with_the_doubt(run, hopeless, mates_index):
    shown = run("search", hopeless, "red apples", "-k", "2").out.splitlines()
    assert shown[0] == "probably nothing here: even the best result scores below what counts as relevant"
    assert shown[1].lstrip().startswith("1. ")
    answer = json.loads(run("search", hopeless, "red apples", "--json", "-").out)
    assert answer["doubtful"] is True
    assert {hit["relevance"] for hit in answer["hits"]} == {"not relevant"}
    assert "nothing here" not in run("search", mates_index, "honey").out
    assert "doubtful" not in json.loads(run("search", mates_index, "honey", "--json", "-").out)


def test_facets_are_counted_by_default_where_the_index_has_some(run, here):
    (here / "pages.jsonl").write_text(
        "".join(
            json.dumps({"id": str(n), "lang": "fr", "text": "le miel", "fields": {"kind": kind}}) + "\n"
            for n, kind in enumerate(["book", "page", "page"])
        ),
        encoding="utf-8",
    )
    made = run(
        "index", "pages.jsonl", "--system", "bm25", "--query-language", "fr", "--facet", "kind", "-o", "index"
    )  # fmt: skip
    assert made.code == 0, made.err
    done = run("search", "index", "miel")
    assert "kind, of 3 documents found: page 2, book 1" in done.out
    found = json.loads(run("search", "index", "miel", "--filter", "kind=book", "--json", "-").out)
    assert found["facets"] == {"counted": 1, "complete": True, "fields": {"kind": [{"value": "book", "count": 1}]}}
    assert "year, of 3 documents found: none has it" in run("search", "index", "miel", "--facet", "year").out
