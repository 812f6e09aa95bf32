"""`isogloss evaluate`: trustworthy numbers, and everything needed to repeat them."""

import json

import pytest

DEMO = ("--data", "demo", "--pair", "en-fr")
MEASURES = (
    "P_mr@1", "P_mr@5", "P_r@5", "NDCG@5", "MAP", "MRR_mr", "MRR_r", "R_mr@10", "P@10", "Rprec", "nDCG@10", "R@100",
    "R@1000",
)  # fmt: skip


@pytest.fixture
def evaluate(run):
    """The JSON of an evaluation."""

    def evaluate_as_json(*arguments):
        done = run("evaluate", *arguments, "--json", "-")
        assert done.code == 0, done.err
        return json.loads(done.out, parse_constant=pytest.fail)  # NaN is not JSON

    return evaluate_as_json


def means(result):
    return {system["name"]: system["measures"] for system in result["systems"]}


def test_the_json_holds_what_the_contract_says(evaluate):
    result = evaluate("bm25", *DEMO)
    assert [result[key] for key in ("data", "pair", "split", "protocol")] == ["demo", "en-fr", "dev", "full"]
    (system,) = result["systems"]
    assert {"name", "measures", "queries", "seconds"} <= set(system)
    assert (system["name"], system["queries"]) == ("bm25", 42)
    assert set(MEASURES) <= set(system["measures"])
    assert all(0 <= value <= 1 for value in system["measures"].values())


def test_the_table_shows_every_measure_of_every_system(run, evaluate):
    out = run("evaluate", "bm25", "bm25-dict", "psq", *DEMO).out
    expected = means(evaluate("bm25", "bm25-dict", "psq", *DEMO))
    for measure in MEASURES:
        row = next(line.split() for line in out.splitlines() if line.split()[:1] == [measure])
        assert row[1:] == [f"{expected[name][measure]:.4f}" for name in ("bm25", "bm25-dict", "psq")]


def test_values_by_hand(evaluate, tiny):
    """Of dev, q1 says Orlane (f1, f2) and q2 Brisevent (f3, f4): all that is judged is found, and nothing else."""
    result = evaluate("bm25", "--data", f"wikiclir:{tiny}", "--pair", "en-fr")
    measures = means(result)["bm25"]
    assert (result["unjudged_queries"], result["systems"][0]["queries"], result["documents"]) == (1, 2, 6)
    assert measures["P_mr@5"] == measures["MAP"] == measures["MRR_r"] == measures["R_mr@10"] == 1
    assert measures["P_r@5"] == pytest.approx(2 / 5)
    assert measures["P@10"] == pytest.approx(2 / 10)


def test_titles_are_asked_instead_of_texts(run, evaluate, fails, tiny):
    """The titles of dev, Mill and Lighthouse, stand in no document; the texts name places that do."""
    data = ("--data", f"wikiclir:{tiny}", "--pair", "en-fr")
    by_title = evaluate("bm25", *data, "--query-field", "title")
    assert (by_title["query_field"], evaluate("bm25", *data)["query_field"]) == ("title", "text")
    assert means(by_title)["bm25"]["MRR_r"] == 0
    assert "2 queries by title, 6 documents" in run("evaluate", "bm25", *data, "--query-field", "title").out
    (tiny / "wiki_en.queries").write_text("q1\tMill\twhere Orlane grinds wheat\nq2\t\tBrisevent\n")
    (tiny / "en2fr.rel").write_text("q1\tf1\t2\nq2\tf3\t2\n")
    (tiny / "splits" / "en.train").write_text("")
    (tiny / "splits" / "en.dev").write_text("q1\nq2\n")
    assert "1 of 2 queries" in fails("evaluate", "bm25", *data, "--query-field", "title")


def test_unjudged_queries_are_counted_on_standard_error(run, tiny):
    err = run("evaluate", "bm25", "--data", f"wikiclir:{tiny}", "--pair", "en-fr").err
    assert err == "1 queries of the split have no judgment for this pair and are left out of the means\n"
    assert run("evaluate", "bm25", "--data", f"wikiclir:{tiny}", "--pair", "en-fr", "--quiet").err == ""


def test_bad_lines_stop_unless_they_may_be_skipped(run, fails, tiny):
    with open(tiny / "en2fr.rel", "a") as file:
        file.write("q1\tf1\tbest\n")
    command = ("evaluate", "bm25", "--data", f"wikiclir:{tiny}", "--pair", "en-fr")
    assert "en2fr.rel:7: grade 'best'" in fails(*command)
    code, _, err = run(*command, "--skip-bad")
    assert code == 0
    assert "1 x wrong grade in the data" in err


@pytest.mark.parametrize("protocol", ["full", "sampled"])
def test_a_run_file_measures_like_the_system_that_wrote_it(run, evaluate, here, protocol):
    command = (*DEMO, "--protocol", protocol, "--set", "bm25.k1=0.9")
    first = means(evaluate("bm25", "psq", *command, "--run", "runs/out.trec"))
    assert sorted(path.name for path in (here / "runs").iterdir()) == ["out.bm25.trec", "out.psq.trec"]
    again = means(evaluate("runs/out.bm25.trec", "runs/out.psq.trec", *DEMO, "--protocol", protocol))
    assert list(again.values()) == [pytest.approx(values) for values in first.values()]


def test_a_run_file_has_the_columns_of_trec(run, here):
    run("evaluate", "psq", *DEMO, "--run", "psq.trec", "--depth", "3")
    lines = [line.split(" ") for line in (here / "psq.trec").read_text().splitlines()]
    assert {(line[1], line[5]) for line in lines} == {("Q0", "psq")}
    for query in {line[0] for line in lines}:
        ranks, scores = zip(*((int(line[3]), float(line[4])) for line in lines if line[0] == query), strict=True)
        assert ranks == tuple(range(1, len(ranks) + 1))
        assert len(ranks) <= 3
        assert list(scores) == sorted(scores, reverse=True)


def test_queries_missing_from_a_run_score_0_and_are_counted(run, evaluate, tiny, here):
    data = ("--data", f"wikiclir:{tiny}", "--pair", "en-fr")
    (here / "half.trec").write_text("q1 Q0 f1 1 2.5 mine\nq7 Q0 f1 1 2.5 mine\n")
    assert means(evaluate("half.trec", *data))["half.trec"]["MRR_mr"] == 0.5
    assert "half.trec: 1 of 2 queries are not in the run and score 0\n" in run("evaluate", "half.trec", *data).err


def test_comparing_tests_every_pair_of_systems(run, evaluate):
    systems = ("bm25", "bm25-dict", "psq")
    result = evaluate(*systems, *DEMO, "--compare")
    pairs = {(comparison["left"], comparison["right"]) for comparison in result["comparisons"]}
    assert pairs == {("bm25", "bm25-dict"), ("bm25", "psq"), ("bm25-dict", "psq")}
    for comparison in result["comparisons"]:
        assert 0 <= comparison["t_test"] <= comparison["t_test_holm"] <= 1
        assert 0 < comparison["randomisation"] <= comparison["randomisation_holm"] <= 1
        assert comparison["wins"] + comparison["ties"] + comparison["losses"] == 42
    assert "comparisons" not in evaluate(*systems, *DEMO)
    assert "win/tie/loss" in run("evaluate", *systems, *DEMO, "--compare").out


def test_a_system_does_not_differ_from_its_own_run(run, evaluate):
    run("evaluate", "bm25", *DEMO, "--run", "bm25.trec")
    for comparison in evaluate("bm25", "bm25.trec", *DEMO, "--compare")["comparisons"]:
        assert (comparison["difference"], comparison["ties"], comparison["randomisation_holm"]) == (0, 42, 1)


def test_settings_reach_the_system_they_name(evaluate, lexicon, tiny):
    data = ("--data", f"wikiclir:{tiny}", "--pair", "en-fr", "--split", "all")
    options = {
        system["name"]: system["options"]
        for system in evaluate(
            "bm25", "bm25-dict", *data, "--set", f"bm25-dict.lexicon={lexicon}", "--set", "bm25.k1=0.7",
            "--set", "bm25-dict.stems=no",
        )["systems"]
    }  # fmt: skip
    assert (options["bm25"]["k1"], options["bm25"]["stems"]) == (0.7, True)
    assert (options["bm25-dict"]["k1"], options["bm25-dict"]["stems"]) == (1.2, False)
    for setting in ("lexicon", "bm25-dict.lexicon"):
        alone = evaluate("bm25-dict", *data, "--set", f"{setting}={lexicon}", "--set", "stems=no")
        assert alone["systems"][0]["options"] == options["bm25-dict"]
        assert means(alone)["bm25-dict"]["R_mr@10"] == 1


def test_the_same_command_gives_the_same_numbers(evaluate):
    command = ("bm25", "psq", *DEMO, "--protocol", "sampled", "--compare")
    first, again = evaluate(*command), evaluate(*command)
    for result in (first, again):
        for system in result["systems"]:
            del system["seconds"]
    assert first == again
    assert means(evaluate(*command, "--seed", "5")) != means(first)


def test_two_outputs_of_one_name_are_refused_before_the_work(fails, here):
    (here / "bm25.trec").write_text("q Q0 d 1 1 x\n")
    assert "out.bm25.trec: two outputs" in fails("evaluate", "bm25", "bm25.trec", *DEMO, "--run", "out.trec")
    assert "out: two outputs" in fails("evaluate", "bm25", *DEMO, "--run", "out", "--json", "out")
