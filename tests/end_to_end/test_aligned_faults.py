"""`aligned` from the command line: whatever is wrong with its files is one line, status 2, and nothing is written."""

import shutil

import numpy as np
import pytest

from isogloss.papers.word_vectors.files import write_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors

ENGLISH = ("wheat", "grinds", "boats", "apples", "red", "hay", "winter")
FRENCH = ("blé", "moud", "bateaux", "pommes", "rouges", "foin", "hiver")
FILES = ("--set", "lexicon=en-fr.tsv", "--set", "query_vectors=en.vec", "--set", "document_vectors=fr.vec")
INDEX = ("index", "wikiclir:tiny", "--system", "aligned", "--language", "fr", "-o", "out/index", *FILES)
EVALUATE = ("evaluate", "aligned", "--data", "wikiclir:tiny", "--pair", "en-fr", "--json", "out.json", *FILES)


@pytest.fixture
def files(tiny, lexicon, here):
    """The tiny data with vectors of four dimensions for both languages."""
    for name, words, seed in (("en", ENGLISH, 0), ("fr", FRENCH, 1)):
        matrix = np.random.default_rng(seed).standard_normal((len(words), 4)).astype(np.float32)
        write_vectors(WordVectors(list(words), matrix), f"word2vec:{here / name}.vec")
    return here


@pytest.fixture
def index(files, run):
    assert run(*INDEX, "--quiet") == (0, "", "")
    return files / "out" / "index"


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


def widen(path):
    path.write_text("".join(f"{word} 1 2 3\n" for word in FRENCH), encoding="utf-8")


def empty(path):
    path.write_bytes(b"")


def misname(path):
    path.write_text("hund\tdog\nkatze\tcat\n", encoding="utf-8")


def unvector(path):
    path.write_text("tamarel\tverger\n", encoding="utf-8")


FAULTS = {
    "a missing vector file": ("en.vec", lambda path: path.unlink(), "en.vec: no such file"),
    "a truncated vector file": ("fr.vec", cut, "fr.vec:"),
    "an empty vector file": ("en.vec", empty, "en.vec"),
    "a dimension mismatch": ("fr.vec", widen, "procrustes needs vectors of equal dimensions, the source has 4"),
    "a missing lexicon": ("en-fr.tsv", lambda path: path.unlink(), "en-fr.tsv: no such file"),
    "an empty lexicon": ("en-fr.tsv", empty, "en-fr.tsv: holds no entry"),
    "a lexicon with no known word": ("en-fr.tsv", misname, "none of its 2 entries is a word of the 'en'"),
    "a lexicon with no vector": ("en-fr.tsv", unvector, "none of the lexicon's 1 pairs has a vector on both sides"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_file_is_one_line_and_nothing_is_written(fails, files, fault):
    name, harm, wrong = FAULTS[fault]
    harm(files / name)
    for command in (INDEX, EVALUATE):
        assert wrong in fails(*command)


def test_with_the_files_as_they_should_be_it_answers(run, index):
    code, out, err = run("search", index, "red apples of xyzzy")
    assert code == 0
    assert "Verger" in out
    assert "xyzzy" in out + err
    assert run(*EVALUATE).code == 0


def test_a_query_without_a_known_word_finds_nothing(run, index):
    code, out, _ = run("search", index, "xyzzy plugh", "--json", "-")
    assert code == 0
    assert '"hits": []' in out


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("method=letter", "aligned.method: 'letter' is not one of best, paper"),
        ("query_weights=bm25", "aligned.query_weights: 'bm25' is not one of idf, tfidf, tfidf-all"),
        ("alignment=magic", "'magic' is no method of alignment"),
        ("dimension=many", "aligned.dimension: 'many' is not a whole number"),
    ],
)
def test_a_wrong_option_is_named(fails, files, setting, wrong):
    for command in (INDEX, EVALUATE):
        assert wrong in fails(*command, "--set", setting)


@pytest.mark.parametrize("harm", ["zero", "half", "gone"])
def test_a_damaged_index_is_an_error_whatever_file_is_hurt(fails, index, here, harm):
    shutil.rmtree(here / "tiny")
    for path in [path for path in index.rglob("*/*") if path.is_file()]:  # index.json and commit.json have copies
        shutil.copytree(index, "hurt", dirs_exist_ok=True)
        content = path.read_bytes()
        hurt = here / "hurt" / path.relative_to(index)
        hurt.unlink() if harm == "gone" else hurt.write_bytes(content[: len(content) // 2] if harm == "half" else b"")
        if "origins" in path.parts:  # a search does not read what a sync does
            assert "hurt" in fails("check", "hurt"), path
        else:
            assert "hurt" in fails("search", "hurt", "red apples"), path
