"""Bad input: one line that names the file, the line and the value; status 2; nothing written."""

import gzip
import shutil

import pytest

EVALUATE = ("evaluate", "bm25", "--data", "wikiclir:tiny", "--pair", "en-fr", "--run", "out.trec", "--json", "out.json")
INDEX = ("index", "wikiclir:tiny", "--system", "bm25", "--language", "fr", "-o", "out/index")
CANDIDATES = ("data", "candidates", "bm25", *EVALUATE[2:6], "-o", "tiny/candidates/en2fr.dev")
CONVERT = ("data", "convert", "wikiclir:tiny", "--pair", "en-fr", "-o", "beir:out")


def remove(path):
    path.unlink()


def make_directory(path):
    path.unlink()
    path.mkdir()


def truncate_gz(path):
    packed = gzip.compress(path.read_bytes() * 50, mtime=0)
    path.with_name(path.name + ".gz").write_bytes(packed[: len(packed) // 2])
    path.unlink()


def damage_gz(path):
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0)[:12] + b"\xff" * 40)
    path.unlink()


def make_binary(path):
    path.write_bytes(bytes(range(256)))


def append(line):
    def append_line(path):
        path.write_bytes(path.read_bytes() + line + b"\n")

    return append_line


FILES = {
    "a missing file": (remove, "{name}"),
    "a directory": (make_directory, "{name}: is a directory, a file is needed"),
    "a truncated archive": (truncate_gz, "{name}.gz:"),
    "a damaged archive": (damage_gz, "{name}.gz: a damaged gzip archive"),
    "a binary file": (make_binary, "{name}:1"),
    "broken UTF-8": (append(b"q1\tf1\t\xff\xfe"), "not UTF-8 (byte 0xff"),
    "too few fields": (append(b"q1\tf1"), "expected "),
}


@pytest.mark.parametrize("harm", FILES)
@pytest.mark.parametrize("name", ["wiki_fr.documents", "wiki_en.queries", "en2fr.rel"])
def test_a_harmed_file_stops_every_command_that_reads_it(fails, tiny, name, harm):
    do, message = FILES[harm]
    do(tiny / name)
    commands = [EVALUATE, CANDIDATES, CONVERT, *([INDEX] if name == "wiki_fr.documents" else [])]
    for command in commands:
        assert message.format(name=name) in fails(*command)


@pytest.mark.parametrize(
    ("name", "line", "wrong"),
    [
        ("en2fr.rel", b"q3\tf1", "en2fr.rel:7: expected query id, document id, grade separated by tabs, got 'q3\\tf1'"),
        ("en2fr.rel", b"q3\tf1\t3", "en2fr.rel:7: grade '3' is not one of 0, 1, 2"),
        ("en2fr.rel", b"q3\tf1\t-1", "en2fr.rel:7: grade '-1' is not one of 0, 1, 2"),
        ("en2fr.rel", b"q3\tf1\thigh", "en2fr.rel:7: grade 'high'"),
        ("en2fr.rel", b"q99\tf1\t2", "en2fr.rel:7: query id 'q99' does not exist"),
        ("en2fr.rel", b"q3\tf99\t2", "en2fr.rel:7: document id 'f99' does not exist"),
        ("en2fr.rel", b"q1\tf1\t1", "en2fr.rel:7: query 'q1' and document 'f1' were judged 2 before, 1 here"),
        ("wiki_fr.documents", b"f1\tEncore\tDeux fois.", "wiki_fr.documents:7: document id 'f1'"),
        ("wiki_en.queries", b"q1\tAgain\tTwice.", "wiki_en.queries:6: query id 'q1'"),
        ("wiki_fr.documents", b"\tSans\tUn texte sans nom.", "wiki_fr.documents:7: "),
    ],
)
def test_a_bad_line_is_named_with_its_value(fails, tiny, name, line, wrong):
    append(line)(tiny / name)
    assert wrong in fails(*EVALUATE)


def test_grades_of_0_1_and_2_are_good(run, tiny):
    append(b"q3\tf1\t0")(tiny / "en2fr.rel")
    assert run(*EVALUATE).code == 0


@pytest.mark.parametrize("pair", ["en-xx", "xx-fr", "fr-en"])
def test_an_unknown_pair_is_an_error_that_lists_the_known_ones(fails, tiny, pair):
    message = fails(*EVALUATE[:5], pair, *EVALUATE[6:])
    assert "pairs here: en-fr" in message
    assert pair.replace("-", "2") in message


@pytest.mark.parametrize("pair", ["en-xx", "xx-fr"])
def test_an_unknown_language_of_pages_is_an_error_that_lists_the_known_ones(fails, pair):
    assert "languages here: en, es, fr, it, sw, tl, zh" in fails("data", "show", "demo", "--pair", pair)


@pytest.mark.parametrize("source", ["wikiclir", "beir", "trec", "jsonl", "folder"])
def test_a_source_that_is_not_there_is_an_error(fails, source):
    assert "nowhere: no such" in fails("index", f"{source}:nowhere", "--system", "bm25", "--language", "fr", "-o", "x")


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (None, "en-fr.tsv: no such file"),
        (b"", "en-fr.tsv: holds no entry"),
        (b"mill\tmoulin\nlighthouse\n", "en-fr.tsv:2: expected a word, its translation"),
        (b"mill\tmoulin\tvery likely\n", "en-fr.tsv:1: 'very likely' is not a probability"),
        (b"mill\tmoulin\t1.5\n", "en-fr.tsv:1: '1.5' is not a probability"),
        (b"mill\tmou\xfflin\n", "en-fr.tsv:1: not UTF-8"),
        (b"\x00\x01\x02\n", "en-fr.tsv:1: a binary file"),
    ],
)
def test_a_bad_lexicon_is_named_by_its_line(fails, tiny, here, content, wrong):
    if content is not None:
        (here / "en-fr.tsv").write_bytes(content)
    for command in (EVALUATE, INDEX, CANDIDATES):
        with_lexicon = ["psq" if word == "bm25" else word for word in command]
        assert wrong in fails(*with_lexicon, "--set", "lexicon=en-fr.tsv")


def test_a_system_that_translates_asks_for_its_lexicon(fails, tiny):
    assert "--set psq.lexicon=FILE" in fails("evaluate", "psq", *EVALUATE[2:])


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"q1 Q0 f1 1 2.5\n", "mine.trec:1: expected query, Q0, document, rank, score and name"),
        (b"q1 Q0 f1 1 2.5 x\nq1 Q0 f2 2 low x\n", "mine.trec:2: "),
        (b"q1 Q0 f1 1 nan x\n", "mine.trec:1: "),
        (b"q1 Q0 f1 1 2.5 x\nq1 Q0 f1 2 1.5 x\n", "mine.trec:2: document 'f1'"),
        (b"\x1f\x8b\x08cut", "mine.trec"),
    ],
)
def test_a_bad_run_file_is_named_by_its_line(fails, tiny, here, content, wrong):
    (here / "mine.trec").write_bytes(content)
    assert wrong in fails("evaluate", "mine.trec", *EVALUATE[2:])


@pytest.mark.parametrize("harm", ["zero", "half", "gone"])
def test_a_damaged_index_is_an_error_whatever_file_is_hurt(fails, run, tiny, lexicon, here, harm):
    made = run("index", "wikiclir:tiny", "--system", "psq", *INDEX[4:6], "-o", "index", "--set", f"lexicon={lexicon}")
    assert made.code == 0
    for path in [path for path in (here / "index").rglob("*") if path.is_file()]:
        if path.parent == here / "index":
            continue  # index.json and commit.json have copies; nobody needs write.lock to search
        shutil.copytree("index", "hurt", dirs_exist_ok=True)
        content = path.read_bytes()
        hurt = here / "hurt" / path.relative_to(here / "index")
        hurt.unlink() if harm == "gone" else hurt.write_bytes(content[: len(content) // 2] if harm == "half" else b"")
        command = ("sync", "hurt") if "origins" in path.parts else ("search", "hurt", "red apples")
        assert "hurt" in fails(*command), path


def test_what_is_no_index_is_not_searched(fails, here):
    (here / "photos").mkdir()
    assert "photos: is not an index" in fails("search", "photos", "apples")
    assert "nowhere: no such index" in fails("search", "nowhere", "apples")
