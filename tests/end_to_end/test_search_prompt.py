"""`isogloss search` without a query: a prompt where there is a terminal, an error where there is none."""

import os
import pty
import re
import select
import stat
import sys

import pytest

from isogloss.cli.main import main
from isogloss.storage.errors import InputError

SOURCES = (
    ("e1", "Mill", "Orlane is where the wheat of the village is ground."),
    ("e2", "Lighthouse", "Boats are guided by Brisevent."),
    ("e3", "Barn", "The hay for the winter."),
)


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """No test writes into the history of whoever runs it."""
    monkeypatch.delenv("ISOGLOSS_HISTORY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "isogloss" / "history"


@pytest.fixture
def index(run, tiny, lexicon, here):
    """An index with a lexicon and source documents."""
    lines = "".join("\t".join(row) + "\n" for row in SOURCES)
    (tiny / "wiki_en.documents").write_text(lines, encoding="utf-8")
    command = ("index", f"wikiclir:{tiny}", "--system", "bm25-dict", "--language", "fr", "-o", "index")
    done = run(*command, "--set", f"lexicon={lexicon}")
    assert done.code == 0
    assert "6 documents in fr, and 3 in en to search with" in done.err
    return here / "index"


@pytest.fixture
def talk(run, monkeypatch):
    """Type lines at the prompt of this process; what is shown after each of them."""

    def type_lines(index, *lines, options=()):
        waiting = list(lines)

        def typed(prompt):
            sys.stdout.write(f"\n{prompt}\n")
            if not waiting:
                raise EOFError
            return waiting.pop(0)

        monkeypatch.setattr("builtins.input", typed)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        done = run("search", index, *options)
        assert (done.code, done.err) == (0, "")
        assert not waiting
        return [shown.strip() for shown in done.out.split("\nsearch> ")[1:]][: len(lines)]

    return type_lines


class Terminal:
    """A terminal with a command in it."""

    def __init__(self, start, *arguments, **options):
        self.screen, there = pty.openpty()
        self.process = start(*arguments, stdin=there, stdout=there, **options)
        os.close(there)
        self.shown = ""

    def read_until(self, text: str = "") -> str:
        """All that is shown until the text is, or until the command ends."""
        while not text or text not in self.shown:
            if not select.select([self.screen], [], [], 60)[0]:
                pytest.fail(f"the command says nothing more after {self.shown!r}")
            try:
                piece = os.read(self.screen, 65536)
            except OSError:  # how Linux says that nobody is at the other side any more
                break
            if not piece:
                break
            self.shown += piece.decode()
        shown, self.shown = self.shown, ""
        return shown

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def end(self):
        """How the command ended and what it said on standard error."""
        if self.screen is not None:
            os.close(self.screen)
            self.screen, self.err = None, self.process.communicate(timeout=60)[1].decode()
        return self.process.returncode, self.err


@pytest.fixture
def open_prompt(start):
    """Opens terminals in which the prompt has just appeared."""
    opened = []

    def open_terminal(index, **options):
        opened.append(Terminal(start, "search", index, "-k", "1", **options))
        assert "6 in fr. Queries in en" in opened[-1].read_until("search> ")
        return opened[-1]

    yield open_terminal
    for terminal in opened:
        terminal.process.kill()
        terminal.end()


@pytest.mark.parametrize("goodbye", ["\n", "\x04", ":quit\n"], ids=["an empty line", "Ctrl-D", "quit"])
def test_the_prompt_answers_until_it_is_left(open_prompt, tiny_index, goodbye):
    prompt = open_prompt(tiny_index)
    for query, title in (("Brisevent bateaux", "Phare"), ("Tamarel", "Verger"), ("qzxv", "nothing found")):
        prompt.type(f"{query}\n")
        assert title in prompt.read_until("search> ")
    prompt.type(goodbye)
    prompt.read_until()
    assert prompt.end() == (0, "")


def test_an_interrupt_at_the_prompt_leaves_with_one_line(monkeypatch, capsys, tiny_index):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert main(["search", str(tiny_index)]) == 130
    assert capsys.readouterr().err == "isogloss: interrupted\n"


@pytest.mark.parametrize("stdin", ["silent", "closed", "empty"])
def test_without_a_terminal_a_missing_query_is_an_error_at_once(fails_alone, tiny_index, stdin):
    reading, writing = os.pipe()
    if stdin == "empty":
        os.close(writing)
    redirect = "<&-" if stdin == "closed" else ""
    try:
        assert "give a QUERY" in fails_alone("search", tiny_index, stdin=reading, redirect=redirect)
    finally:
        os.close(reading)
        if stdin != "empty":
            os.close(writing)


def test_an_answer_shows_the_hits_the_words_nobody_knew_and_the_words_that_stood_for_the_others(talk, index):
    (shown,) = talk(index, "boats of Brisevent and xyzzy", options=("-k", "1", "--no-gloss"))
    first, snippet, total, unknown, translations = shown.splitlines()
    assert first == "1. Phare  [fr] f3  ━━━━━━━━━━"
    assert re.fullmatch(r"1 of \d documents that match", total)
    assert snippet.strip() == "Le phare Brisevent guide les bateaux pendant la nuit."
    assert unknown == "not known: xyzzy"
    assert translations == "fr: boats → bateaux; brisevent → brisevent"


def test_the_best_matching_words_are_marked_on_a_terminal(open_prompt, index):
    terminal = open_prompt(index, env={"TERM": "xterm", "NO_COLOR": ""})
    terminal.type("boats\n")
    assert "\x1b[1;33mbateaux\x1b[0m" in terminal.read_until("boats → bateaux")


def test_k_says_how_many_documents(talk, index):
    *_, one, still_one, six, many = talk(index, ":k 1", "le", ":k", ":k 6", "le")
    assert (still_one, six) == ("documents in an answer: 1", "documents in an answer: 6")
    assert len(re.findall(r"\[fr\]", one)) == 1
    assert len(re.findall(r"\[fr\]", many)) == 6


def test_why_names_the_words_that_met_and_how_much_each_gave(talk, index):
    answer, why = talk(index, "boats guided by Brisevent", ":why 2")
    second = re.search(r"2\. (\w+)  \[fr\] \w+  ([━┄]{10})", answer)
    heading, *parts, whole = why.splitlines()
    assert heading.split() == [second[2], second[1]]
    found = [re.fullmatch(r"\s+([\d.]+)  (\w+) → (.+)", part).groups() for part in parts]
    assert {(word, met) for _, word, met in found} == {("boats", "bateaux"), ("brisevent", "Brisevent")}
    assert sum(float(score) for score, _, _ in found) == pytest.approx(float(whole.split()[0]), abs=0.002)


def test_typing_errors_are_read_as_what_was_meant_until_exact_is_asked_for(talk, index):
    corrected, exact, again = talk(index, "baots of Brisevent", ":exact", ":exact baots")
    assert corrected.startswith("Read as: boats of Brisevent. Search for exactly 'baots of Brisevent' with :exact")
    assert "boats → bateaux" in corrected
    assert "Read as" not in exact + again and "not known: baots" in exact and "not known: baots" in again


@pytest.mark.parametrize("name", ["1", "e1"])
def test_doc_searches_with_a_document_of_the_source_side(talk, index, name):
    answer, why = talk(index, f":doc {name}", ":why 1")
    heading, first, *_ = answer.splitlines()
    assert heading == "searching with e1: Mill"
    assert first.lstrip().startswith("1. Moulin  [fr] f1")
    assert "wheat → blé" in why
    assert "→" not in answer  # of a whole document the words are not listed


def test_lang_restricts_the_languages_until_it_stands_alone(talk, run):
    run("index", "demo", "--system", "psq", "--language", "fr", "--language", "sw", "-o", "demo-index")
    restricted, one, free, both = talk("demo-index", ":lang sw", "honey", ":lang", "honey", options=["--no-gloss"])
    assert (restricted, free) == ("languages: sw", "languages: fr, sw")
    assert set(re.findall(r"\[(..)\]", one)) == {"sw"}
    assert set(re.findall(r"\[(..)\]", both)) == {"fr", "sw"}
    assert [line[:4] for line in both.splitlines()[-2:]] == ["fr: ", "sw: "]


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (":k many", ":k needs a whole number from 1 up"),
        (":k 0", ":k needs a whole number from 1 up"),
        (":k " + "9" * 5000, ":k needs a whole number"),
        (":why", ":why needs a whole number"),
        (":why 7", "the last answer ends with result 1"),
        (":doc", ":doc needs a document in en"),
        (":doc 4", "'4' is neither a number from 1 to 3 nor the id"),
        (":doc zz", "'zz' is neither"),
        (":lang de", "'de' is not in this index; it has fr"),
        (":hover over links", ":hover is not a command"),
        (":", ": is not a command"),
    ],
)
def test_a_wrong_command_gets_one_line_and_the_prompt_goes_on(talk, index, wrong, what):
    _, shown, after = talk(index, "Tamarel", wrong, "Tamarel")
    assert what in shown
    assert len(shown.splitlines()) == 1
    assert after.startswith("1. Verger")


def test_why_before_any_answer_says_so(talk, index):
    for lines in ([":why 1"], ["qzxv", ":why 1"]):
        assert talk(index, *lines)[-1] == ":why explains a result, and there is none yet; type a query first"


def test_an_error_while_answering_is_one_line_and_the_prompt_goes_on(talk, index, monkeypatch):
    def fail(path):
        raise InputError(f"{path.name}:1: expected a word")

    monkeypatch.setattr("isogloss.systems.dictionary.Lexicon.read", fail)  # it is read when it is needed
    failed, helped = talk(index, "wheat", ":help")
    assert "lexicon.tsv:1: expected a word" in failed
    assert len(failed.splitlines()) == 1
    assert ":help" in helped


def test_gloss_switches_and_shows_the_last_answer_again(talk, index):
    answer, off, on, wrong = talk(index, "boats of Brisevent", ":gloss", ":gloss on", ":gloss loud")
    gloss = next(line for line in answer.splitlines() if line.strip().startswith("≈"))
    assert "boats" in gloss and "Brisevent" in gloss
    assert answer.splitlines()[1].strip().startswith("Le phare Brisevent guide les bateaux")
    assert off.startswith("glosses: off") and "[fr]" in off and "≈" not in off
    assert on.startswith("glosses: on") and gloss in on
    assert "on or off, not 'loud'" in wrong


def test_help_lists_the_commands(talk, index):
    (shown,) = talk(index, ":help")
    commands = [":k", ":lang", ":doc", ":gloss", ":exact", ":why", ":help", ":quit"]
    assert re.findall(r"^\s*(:\w+)", shown, re.MULTILINE) == commands


def test_a_query_in_another_language_is_noted_if_that_is_clear(talk, index):
    french, short, english = "le moulin moud le blé du village", "le moulin", "where is the wheat of the village ground"
    shown = talk(index, french, short, english)
    note = (
        "this looks like a query in 'fr', the language of the documents themselves; the index expects queries in 'en'"
    )
    assert [note in answer for answer in shown] == [True, False, False]
    assert note not in talk(index, french, options=("--query-language", "en"))[0]


def test_what_was_typed_is_there_the_next_time(open_prompt, index, state):
    pytest.importorskip("readline")
    for keys, shown in (("bateaux\n", "Phare"), ("\x10\n", "Phare")):  # Ctrl-P: the line before
        terminal = open_prompt(index)
        terminal.type(keys)
        assert shown in terminal.read_until("search> ")
        terminal.type(":quit\n")
        terminal.read_until()
        assert terminal.end() == (0, "")
    assert state.read_text() == "bateaux\nbateaux\n"
    assert stat.S_IMODE(state.stat().st_mode) == 0o600


def test_the_history_keeps_the_last_thousand_lines(talk, index, state):
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text("".join(f"old {number}\n" for number in range(1200)))
    state.chmod(0o600)
    talk(index, "Tamarel", ":k 3")
    assert state.read_text().splitlines() == [*(f"old {number}" for number in range(202, 1200)), "Tamarel", ":k 3"]
    assert stat.S_IMODE(state.stat().st_mode) == 0o600


def test_the_history_can_be_elsewhere_or_nowhere(talk, index, here, state, monkeypatch):
    monkeypatch.setenv("ISOGLOSS_HISTORY", str(here / "mine"))
    talk(index, "Tamarel")
    assert (here / "mine").read_text() == "Tamarel\n"
    monkeypatch.setenv("ISOGLOSS_HISTORY", "")
    talk(index, "Tamarel")
    assert (here / "mine").read_text() == "Tamarel\n"
    assert not state.exists()


def test_a_history_that_cannot_be_written_is_done_without(talk, index, state):
    state.mkdir()  # a folder where a file is needed
    assert talk(index, "Tamarel")[0].startswith("1. Verger")


def test_letters_that_are_no_unicode_do_not_harm_the_history(talk, index, state):
    talk(index, "Tamarel \udcff", "Tamarel")
    assert state.read_text() == "Tamarel ?\nTamarel\n"
