"""What is wrong with a command line is said in one line, with the way to the help."""

import pytest

EVALUATE = ("evaluate", "bm25", "--data", "demo", "--pair", "en-fr")


@pytest.mark.parametrize(
    ("arguments", "wrong", "help_of"),
    [
        ((), "COMMAND", "isogloss"),
        (("find",), "'find'", "isogloss"),
        (("--loud",), "COMMAND", "isogloss"),
        (("data",), "show|grade|convert|candidates", "isogloss data"),
        (("data", "burn"), "'burn'", "isogloss data"),
        (("evaluate",), "SYSTEM_OR_RUN, --data, --pair", "isogloss evaluate"),
        ((*EVALUATE, "--loud"), "'--loud'", "isogloss evaluate"),
        ((*EVALUATE, "--protocol", "easy"), "'easy'", "isogloss evaluate"),
        ((*EVALUATE, "--depth", "0"), "--depth: '0'", "isogloss evaluate"),
        ((*EVALUATE, "--negatives", "-5"), "--negatives: '-5'", "isogloss evaluate"),
        ((*EVALUATE, "--seed", "-1"), "--seed: '-1'", "isogloss evaluate"),
        (("data", "candidates", *EVALUATE[1:], "-o", "out", "-k", "0"), "-k: '0'", "isogloss data candidates"),
        (("data", "candidates", *EVALUATE[1:], "-o", "out", "--queries", "0"), "--queries", "isogloss data candidates"),
        (("data", "show", "demo", "--pair", "en-fr", "--flat"), "'--flat'", "isogloss data show"),
        (("index", "demo", "--system", "bm25"), "--output", "isogloss index"),
        (("search",), "INDEX", "isogloss search"),
        (("search", "index", "query", "-k", "0"), "-k: '0'", "isogloss search"),
        (("search", "index", "query", "-k", "many"), "-k: 'many'", "isogloss search"),
        (("search", "index", "two", "queries"), "'queries'", "isogloss search"),
    ],
)
def test_a_wrong_command_line_gets_one_line_and_the_way_to_the_help(fails, arguments, wrong, help_of):
    message = fails(*arguments)
    assert wrong in message
    assert f"see '{help_of} --help'" in message


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("k1", "'k1' is not written KEY=VALUE"),
        ("=1", "'=1' is not written KEY=VALUE"),
        ("colour=red", "no option 'colour'; it has stems"),
        ("k1=much", "bm25.k1: 'much'"),
        ("b=7", "bm25.b: 7"),
        ("stems=perhaps", "bm25.stems: 'perhaps'"),
        ("psq.decay=0.4", "no option 'psq.decay'"),
    ],
)
def test_a_wrong_setting_is_named(fails, setting, wrong):
    assert wrong in fails(*EVALUATE, "--set", setting, "--run", "out")


def test_with_several_systems_a_setting_needs_the_name_of_one(fails):
    message = fails("evaluate", "bm25", "psq", *EVALUATE[2:], "--set", "k1=1")
    assert "NAME.k1=" in message
    assert "bm25, psq" in message


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("systems", "oracle"), "'oracle' is not one of bridge, bm25, bm25-dict"),
        (("evaluate", "oracle", *EVALUATE[2:], "--json", "out"), "oracle: neither a system (bridge, bm25, "),
        (("index", "demo", "--system", "oracle", "--language", "fr", "-o", "out"), "'oracle'"),
        (("data", "candidates", "oracle", *EVALUATE[2:], "-o", "out"), "'oracle'"),
        ((*EVALUATE, "--split", "exam"), "no split 'exam'; there are train, dev, test and all"),
        ((*EVALUATE, "--fields", "body"), "'body'"),
        ((*EVALUATE[:-1], "en"), "'en' is not written like en-fr"),
        (("evaluate", "bm25", "--data", "tape:x", "--pair", "en-fr"), "nor one of wikiclir:"),
        (("evaluate", "bm25", "bm25", *EVALUATE[2:]), "name each system once"),
        ((*EVALUATE, "--compare"), "at least two systems"),
        ((*EVALUATE, "--run", "-"), "--run: needs the name of a file"),
        ((*EVALUATE, "--protocol", "candidates"), "isogloss data candidates"),
        (("index", "demo", "--system", "bm25", "--language", "fr", "--language", "fr", "-o", "out"), "once"),
        (("index", "demo", "--system", "bm25", "--language", "../fr", "-o", "out"), "'../fr'"),
        (("index", "demo", "--query-language", "klingonish", "-o", "out"), "'klingonish' is not a language code"),
        (("index", "demo", "--query-language", "en", "--query-language", "en", "-o", "out"), "once"),
        (("data", "convert", "demo", "--pair", "en-fr", "-o", "tape:x"), "'tape:x' is not one of wikiclir:"),
        (("data", "grade", "demo", "--query-language", "xx", "-o", "out"), "'xx'"),
    ],
)
def test_a_value_that_means_nothing_here_is_named_with_what_would(fails, arguments, wrong):
    assert wrong in fails(*arguments)


def test_a_setting_without_a_system_is_refused(run, fails):
    run(*EVALUATE, "--run", "bm25.trec")
    assert "--set" in fails("evaluate", "bm25.trec", *EVALUATE[2:], "--set", "k1=1")
