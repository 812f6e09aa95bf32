"""`isogloss index` and `isogloss search`."""

import json

import pytest


@pytest.fixture(scope="session")
def demo_index(tmp_path_factory):
    """An index of the bundled pages in three languages."""
    from isogloss.cli.main import main

    path = tmp_path_factory.mktemp("shared") / "demo-index"
    languages = ("--language", "fr", "--language", "sw", "--language", "zh")
    assert main(["--quiet", "index", "demo", "--system", "psq", *languages, "-o", str(path)]) == 0
    return path


@pytest.fixture
def hits(run, demo_index):
    """The hits of a query as plain values."""

    def search(*arguments):
        done = run("search", demo_index, *arguments, "--json", "-")
        assert (done.code, done.err) == (0, "")
        return json.loads(done.out)["hits"]

    return search


def test_indexing_says_what_is_in_the_index_and_how_to_search_it(run, tiny):
    code, out, err = run("index", f"wikiclir:{tiny}", "--system", "bm25", "--language", "fr", "-o", "deep/index")
    assert (code, out) == (0, "")
    assert err == "deep/index: 6 documents in fr; search with: isogloss search deep/index 'your query'\n"


def test_an_english_query_finds_its_page_in_every_language(hits):
    found = hits("why do volcanoes erupt")
    assert {hit["id"] for hit in found[:3]} == {"fr-volcano", "sw-volcano", "zh-volcano"}
    assert [hit["rank"] for hit in found] == list(range(1, len(found) + 1))
    assert [hit["score"] for hit in found] == sorted((hit["score"] for hit in found), reverse=True)
    assert set(found[0]) >= {"rank", "score", "language", "id", "title", "snippet", "explanation"}


def test_k_is_the_number_of_hits_and_language_chooses_among_them(hits):
    assert len(hits("water and fire", "-k", "3")) == 3
    assert {hit["language"] for hit in hits("water and fire", "--language", "zh", "-k", "5")} == {"zh"}
    assert {hit["language"] for hit in hits("water", "--language", "zh", "--language", "sw", "-k", "30")} == {
        "zh",
        "sw",
    }


def test_the_explanation_names_the_words_and_adds_up_to_the_score(hits):
    for hit in hits("how bees make honey", "-k", "6"):
        assert sum(part["score"] for part in hit["explanation"]) == pytest.approx(hit["score"], rel=1e-4)
        text = f"{hit['title']} {hit['snippet']}"
        assert any(word in text for part in hit["explanation"] for word in part["document_words"])


def test_the_page_shows_rank_title_language_and_snippet_and_with_explain_the_words(run, demo_index):
    command = ("search", demo_index, "how bees make honey", "-k", "2", "--language", "fr")
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert out.lstrip().startswith("1. Miel  [fr] fr-honey  ")
    assert "→" not in out
    assert any("honey → " in line and "miel" in line for line in run(*command, "--explain").out.splitlines())


def test_hits_go_into_a_file_beside_the_page(run, demo_index, hits, here):
    assert "fr-honey" in run("search", demo_index, "honey", "--json", "hits.json").out
    written = json.loads((here / "hits.json").read_text())
    assert written == {
        "query": "honey", "read_as": "honey", "corrected": [], "hits": hits("honey"), "unknown_words": [],
        "total": written["total"], "total_is_exact": True,
    }  # fmt: skip
    assert written["total"] >= len(written["hits"])


@pytest.mark.parametrize("query", ["qzxv", "?!", "🙂"])
def test_nothing_found_is_not_an_error(run, demo_index, hits, query):
    unknown = "not known: qzxv\n" if query == "qzxv" else ""
    assert run("search", demo_index, query) == (0, f"nothing found\n{unknown}", "")
    assert hits(query) == []


@pytest.mark.parametrize("query", ["", "  \t"])
def test_an_empty_query_is_an_error(fails, demo_index, query):
    assert "the query is empty" in fails("search", demo_index, query)


def test_a_language_that_is_not_in_the_index_is_an_error(fails, demo_index):
    assert "'de' is not in this index; it has fr, sw, zh" in fails("search", demo_index, "honey", "--language", "de")


def test_without_a_query_json_has_nothing_to_write(fails, demo_index):
    assert "QUERY" in fails("search", demo_index, "--json", "-")


def test_an_index_says_what_it_indexed_of_the_documents(run, tiny, here):
    found = {}
    for fields in ("text", "title", "title,text"):
        output = f"index-{fields}"
        command = ("index", f"wikiclir:{tiny}", "--system", "bm25", "--language", "fr", "--fields", fields)
        assert run(*command, "-o", output).code == 0
        hits = json.loads(run("search", output, "Phare Grange foin", "--json", "-").out)["hits"]
        found[fields] = {hit["id"] for hit in hits}
    assert found == {"text": {"f3", "f6"}, "title": {"f3", "f6"}, "title,text": {"f3", "f6"}}


def test_an_index_keeps_its_lexicon(run, tiny, lexicon):
    command = ("index", f"wikiclir:{tiny}", "--system", "bm25-dict", "--language", "fr", "-o", "index")
    assert run(*command, "--set", "lexicon={pair}.tsv", "--set", "translations=1").code == 0
    lexicon.unlink()
    out = run("search", "index", "hay for winter", "--explain").out
    assert out.lstrip().startswith("1. Grange")
    assert "hay → foin" in out


def test_a_folder_of_pages_is_searched_without_more_ado(run, here):
    (here / "pages").mkdir()
    (here / "pages" / "moulin.md").write_text("# Le moulin\n\nLe moulin moud le **blé**.")
    (here / "pages" / "phare.html").write_text("<title>Le phare</title><p>Le phare guide les bateaux.</p>")
    assert run("index", "folder:pages", "--system", "bm25", "--language", "fr", "-o", "index").code == 0
    (hit,) = json.loads(run("search", "index", "bateaux", "--json", "-").out)["hits"]
    assert (hit["id"], hit["title"]) == ("phare.html", "Le phare")
    assert hit["snippet"].strip() == "Le phare guide les bateaux."


def test_an_index_can_be_moved(run, tiny_index, here):
    before = run("search", "index", "Orlane").out
    tiny_index.rename(here / "elsewhere")
    assert run("search", "elsewhere", "Orlane").out == before
