"""Lexicon files: tab-separated, with probabilities, MUSE, packed; what is wrong with a line is said with its place."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.errors import InputError
from isogloss.translation.lexicon import Lexicon, Translation, read_entries


@pytest.fixture
def file(tmp_path):
    def write(text, name="en-fr.tsv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def contents(lexicon):
    return {" ".join(phrase): [(" ".join(t.phrase), t.probability) for t in lexicon[phrase]] for phrase in lexicon}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cat\tchat\ncat\tminet\n", {"cat": [("chat", 0.0), ("minet", 0.0)]}),
        ("cat\tchat\t0.75\ncat\tminet\t.25\n", {"cat": [("chat", 0.75), ("minet", 0.25)]}),
        ("cat chat\ncat  minet\n", {"cat": [("chat", 0.0), ("minet", 0.0)]}),
        ("cat chat 0.9", {"cat": [("chat", 0.9)]}),
        ("ice cream\tcrème glacée\n", {"ice cream": [("crème glacée", 0.0)]}),
        ("\ufeffCat\tCHAT\r\n\r\n# a remark\n", {"cat": [("chat", 0.0)]}),
        ("whale\t蓝鲸\n", {"whale": [("蓝鲸", 0.0)]}),
        ("cat\tchat\t0.5\ncat\tChat\t0.1\n", {"cat": [("chat", 0.5)]}),
        ("!\t!\ncat\t...\ndog\tchien\n", {"dog": [("chien", 0.0)]}),
    ],
    ids=["tabs", "probabilities", "MUSE", "MUSE with p", "phrases", "remarks", "Chinese", "twice", "no letters"],
)
@pytest.mark.parametrize("name", ["lexicon.tsv", "lexicon.txt.gz"])
def test_every_format_is_read(file, text, wanted, name):
    assert contents(Lexicon.read(file(text, name))) == wanted


def test_the_packed_file_is_found_under_its_plain_name(file):
    path = file("cat\tchat\n", "en-fr.tsv.gz")
    assert contents(Lexicon.read(str(path).removesuffix(".gz"))) == {"cat": [("chat", 0.0)]}


def test_entries_know_their_place(file):
    path = file("# words\ncat\tchat\n\ndog\tchien\n")
    assert [(entry.location.line, entry.word, entry.translation) for entry in read_entries(path)] == [
        (2, "cat", "chat"),
        (4, "dog", "chien"),
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("cat", "expected a word, its translation and perhaps a probability, got 'cat'"),
        ("cat\tchat\t0.5\tmore", "expected a word"),
        ("one two three four", "expected a word"),
        ("cat\tchat\tlikely", "'likely' is not a probability between 0 and 1"),
        ("cat\tchat\t1.5", "'1.5' is not a probability"),
        ("cat\tchat\t-0.1", "'-0.1' is not a probability"),
        ("cat\tchat\tnan", "'nan' is not a probability"),
        (b"cat\tch\xe2t", "not UTF-8"),
        (b"cat\x00\tchat", "a binary file"),
    ],
)
@pytest.mark.parametrize("name", ["en-fr.tsv", "en-fr.gz"])
def test_a_bad_line_is_an_error_with_its_place(file, line, what, name):
    path = file(b"dog\tchien\n" + (line if isinstance(line, bytes) else line.encode()) + b"\n", name)
    with pytest.raises(InputError, match=what) as caught:
        Lexicon.read(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "what"), [("# nothing\n", "holds no entry"), ("", "holds no entry"), (None, "no such file")]
)
def test_a_file_without_entries_or_no_file_is_an_error_that_names_it(file, tmp_path, content, what):
    path = tmp_path / "none.tsv" if content is None else file(content)
    with pytest.raises(InputError, match=what) as caught:
        Lexicon.read(path)
    assert str(path) in str(caught.value)


def test_a_directory_and_a_cut_off_archive_are_errors(file, tmp_path):
    with pytest.raises(InputError, match="is a directory"):
        Lexicon.read(tmp_path)
    path = file("\n".join(f"word{i}\tmot{i}" for i in range(5000)), "cut.gz")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="cut off"):
        Lexicon.read(path)


def test_unknown_phrases_have_no_translation():
    lexicon = Lexicon([("cat", "chat", 0.5)])
    assert ("dog",) not in lexicon
    assert lexicon["dog",] == ()
    assert lexicon["cat",] == (Translation(("chat",), 0.5),)


PIECES = st.text(alphabet="abé '-中文字𐌰#\t", max_size=8)


@given(entries=st.lists(st.tuples(PIECES, PIECES, st.floats(0, 1)), min_size=1))
@settings(deadline=None, max_examples=30)
def test_a_saved_lexicon_reads_back_the_same(tmp_path_factory, entries):
    lexicon = Lexicon([("cat", "chat", 1 / 3), *entries])
    path = tmp_path_factory.mktemp("lexicon") / "saved.tsv"
    lexicon.save(path)
    assert contents(Lexicon.read(path)) == contents(lexicon)


@given(
    phrases=st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3)), tokens=st.lists(st.sampled_from("abcd"))
)
@settings(deadline=None, max_examples=40)
def test_cutting_loses_no_word_and_takes_the_longest_known_phrase(phrases, tokens):
    lexicon = Lexicon([(" ".join(phrase), "x", 0.0) for phrase in phrases])
    cut = list(lexicon.cut(tokens))
    assert [token for phrase in cut for token in phrase] == tokens
    start = 0
    for phrase in cut:
        assert len(phrase) == 1 or phrase in lexicon
        longer = [tuple(tokens[start:end]) for end in range(start + len(phrase) + 1, len(tokens) + 1)]
        assert not any(candidate in lexicon for candidate in longer)
        start += len(phrase)
