"""`isogloss data convert` and `isogloss data candidates`: what they write is read again to the same measures."""

import json

import pytest

from isogloss.data.readers.demo import DEMO_FOLDER

LEXICON = f"lexicon={DEMO_FOLDER / 'lexicon' / '{pair}.tsv'}"


@pytest.fixture
def measures(run):
    """The measures of two systems on a source."""

    def evaluate(source, split, *more):
        done = run(
            "evaluate", "bm25", "psq", "--data", source, "--pair", "en-fr", "--split", split,
            "--set", f"psq.{LEXICON}", "--json", "-", *more,
        )  # fmt: skip
        assert done.code == 0, done.err
        return [(system["name"], system["queries"], system["measures"]) for system in json.loads(done.out)["systems"]]

    return evaluate


@pytest.mark.parametrize(("target", "split"), [("wikiclir", "dev"), ("beir", "test"), ("trec", "all")])
def test_converted_data_measure_the_same(run, measures, target, split):
    code, _, err = run("data", "convert", "demo", "--pair", "en-fr", "-o", f"{target}:out")
    assert (code, err) == (0, f"{target}:out: 104 documents, 208 queries\n")
    assert measures(f"{target}:out", split) == measures("demo", split)


def test_converted_data_have_the_same_titles_and_random_negatives(run, measures):
    run("data", "convert", "demo", "--pair", "en-fr", "-o", "wikiclir:out")
    sampled = ("--protocol", "sampled", "--negatives", "20", "--fields", "title,text")
    assert measures("wikiclir:out", "dev", *sampled) == measures("demo", "dev", *sampled)


def test_a_chain_of_formats_loses_nothing(run, measures):
    for source, target in (("demo", "trec:a"), ("trec:a", "beir:b"), ("beir:b", "wikiclir:c")):
        assert run("data", "convert", source, "--pair", "en-fr", "-o", target).code == 0
    assert measures("wikiclir:c", "all") == measures("demo", "all")


def test_documents_as_json_lines_are_found_as_before(run, here):
    assert run("data", "convert", "demo", "--pair", "en-zh", "-o", "jsonl:zh.jsonl").code == 0
    found = []
    for source in ("demo", "jsonl:zh.jsonl"):
        settings = ("--language", "zh", "--set", LEXICON, "-o", "index", "--overwrite")
        assert run("index", source, "--system", "psq", *settings).code == 0
        found.append(json.loads(run("search", "index", "volcano and honey", "--json", "-").out))
    assert found[0] == found[1]
    assert {"zh-volcano", "zh-honey"} <= {hit["id"] for hit in found[0]["hits"]}


def test_candidates_are_what_the_candidates_protocol_ranks(run, here):
    run("data", "convert", "demo", "--pair", "en-fr", "-o", "wikiclir:data", "--quiet")
    common = ("--data", "wikiclir:data", "--pair", "en-fr", "--split", "dev", "--set", LEXICON)
    path = "data/candidates/en2fr.dev"
    code, _, err = run("data", "candidates", "psq", *common, "--queries", "10", "-k", "5", "-o", path)
    assert code == 0
    assert err.startswith(f"{path}: 10 queries, ")
    lists = {}
    for line in (here / path).read_text().splitlines():
        query, document, label = line.split("\t")
        assert label in "01"
        lists.setdefault(query, {})[document] = int(label)
    assert len(lists) == 10
    assert all(len(documents) <= 5 for documents in lists.values())

    code, out, err = run("evaluate", "psq", *common, "--protocol", "candidates", "--run", "out.trec", "--json", "-")
    assert code == 0
    assert "32 queries of the split have no list" in err
    result = json.loads(out)
    assert (result["protocol"], result["unjudged_queries"], result["systems"][0]["queries"]) == ("candidates", 32, 10)
    ranked = [line.split()[0:3:2] for line in (here / "out.trec").read_text().splitlines()]
    assert {(query, document) for query, document in ranked} == {(q, d) for q in lists for d in lists[q]}
    first = {}
    for query, document in ranked:
        first.setdefault(query, document)
    expected = sum(lists[query][document] for query, document in first.items()) / 10
    assert result["systems"][0]["measures"]["P_mr@1"] == pytest.approx(expected)


def test_candidates_are_the_same_for_the_same_seed_only(run, here):
    command = ("data", "candidates", "bm25", "--data", "demo", "--pair", "en-fr", "--queries", "5")
    for seed, name in ((1, "a"), (1, "b"), (2, "c")):
        assert run(*command, "--seed", seed, "-o", name).code == 0
    a, b, c = ((here / name).read_text() for name in "abc")
    assert a == b != c


def test_queries_for_which_nothing_is_found_are_counted(run):
    code, _, err = run("data", "candidates", "bm25", "--data", "demo", "--pair", "en-zh", "-o", "en2zh.dev")
    assert code == 0
    assert "more nothing was found" in err
