"""Polyglot's pickles are read, and no pickle does anything but hold words and numbers."""

import gzip
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from isogloss.data.problems import Problems
from isogloss.papers.word_vectors.files import read_vectors
from isogloss.storage.errors import InputError

WORDS = ["<UNK>", "cat", "été", "中文"]
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3) / 8 + 1


def python2_unicode(word):
    data = word.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def python2_string(data):
    return b"U" + bytes([len(data)]) + data if len(data) < 256 else b"T" + struct.pack("<I", len(data)) + data


def python2_array(matrix, kind=b"f4", order=b"<", data=None, by_columns=False):
    """What Python 2 writes for an array, protocol 2."""
    rows, columns = matrix.shape
    data = matrix.tobytes("F" if by_columns else "C") if data is None else data
    return (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85q\x03U\x01bq\x04\x87q\x05Rq\x06"
        + b"(K\x01" + b"J" + struct.pack("<i", rows) + b"J" + struct.pack("<i", columns) + b"\x86q\x07"
        + b"cnumpy\ndtype\nq\x08" + python2_string(kind) + b"q\x09K\x00K\x01\x87q\x0aRq\x0b"
        + b"(K\x03" + python2_string(order) + b"q\x0cNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tq\x0db"
        + (b"\x88" if by_columns else b"\x89") + python2_string(data) + b"q\x0etb"
    )  # fmt: skip


def python2_pickle(words, array, mark=b"(", end=b"t"):
    return b"\x80\x02" + mark + b"".join(words) + end + array + b"\x86."


@pytest.fixture
def file(tmp_path):
    def write(data, name="polyglot-en.pkl"):
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write


def refused(path, what=""):
    with pytest.raises(InputError) as error:
        read_vectors(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert what in message
    assert "\n" not in message
    return message


def same(vectors, words=WORDS, matrix=MATRIX):
    return list(vectors.words) == list(words) and np.array_equal(vectors.matrix, matrix)


@pytest.mark.parametrize("name", ["polyglot-en.pkl", "embeddings", "polyglot-en.pkl.gz"])
@pytest.mark.parametrize("encoded", [python2_unicode, lambda word: python2_string(word.encode())])
def test_what_python_2_wrote_is_read_words_being_unicode_or_bytes(file, name, encoded):
    path = file(python2_pickle(map(encoded, WORDS), python2_array(MATRIX)), name)
    vectors = read_vectors(path)
    assert same(vectors)
    assert vectors.matrix.dtype == np.float32
    assert same(read_vectors(path, limit=2), WORDS[:2], MATRIX[:2])


def test_other_layouts_of_the_same_numbers_are_read(file):
    words = [python2_unicode(word) for word in WORDS]
    for array in (
        python2_array(MATRIX, by_columns=True),
        python2_array(MATRIX.astype(">f4"), order=b">"),
        python2_array(MATRIX.astype("<f8"), kind=b"f8"),
    ):
        assert same(read_vectors(file(python2_pickle(words, array))))
    assert same(read_vectors(file(python2_pickle(words, python2_array(MATRIX), mark=b"](", end=b"e"))))


@pytest.mark.parametrize("protocol", [3, 4])
@pytest.mark.parametrize("container", [tuple, list])
def test_what_python_3_wrote_is_read(file, protocol, container):
    assert same(read_vectors(file(pickle.dumps(container([container(WORDS), MATRIX]), protocol))))


def test_duplicates_zero_vectors_and_bad_words_are_treated_as_in_other_formats(file):
    words = [python2_string(word) for word in (b"cat", b"c\xe9", b"cat", b"", b"dog", b"cow")]
    matrix = np.float32([[1], [2], [3], [4], [0], [np.inf]])
    path = file(python2_pickle(words, python2_array(matrix)))
    refused(path, "is not UTF-8")
    problems = Problems(stop_at_errors=False)
    assert same(read_vectors(path, problems=problems), ["cat", "dog"], [[1], [0]])
    assert problems.errors == {"broken UTF-8": 1, "empty word": 1, "not finite": 1}
    assert problems.warnings == {"duplicate word": 1, "zero vector": 1}


def test_a_pickle_cut_anywhere_is_an_error(file):
    whole = python2_pickle(map(python2_unicode, WORDS), python2_array(MATRIX))
    for size in range(2, len(whole)):
        refused(file(whole[:size]))


class Payload:
    """Calls something when it is unpickled."""

    def __init__(self, function, *arguments):
        self._call = function, arguments

    def __reduce__(self):
        return self._call


def object_array(thing):
    array = np.empty((4, 1), dtype=object)
    array[:] = [[thing]] * 4
    return array


@pytest.fixture
def marked(tmp_path):
    """A file that a payload would make, and pickles that try."""
    import os
    import subprocess

    mark = tmp_path / "pwned"
    write = f"open({str(mark)!r}, 'w').close()"
    shell = f"touch {mark}"
    payloads = {
        "os.system": Payload(os.system, shell),
        "subprocess": Payload(subprocess.call, ["touch", str(mark)]),
        "eval": Payload(eval, write),
        "exec": Payload(exec, write),
        "pathlib": Payload(Path.touch, mark),
        "open": Payload(open, str(mark), "w"),
        "import": Payload(__import__, "os"),
        "getattr": Payload(getattr, "x", "upper"),
        "numpy.load": Payload(np.load, str(mark)),
        "numpy.fromfile": Payload(np.fromfile, str(mark)),
        "numpy.memmap": Payload(np.memmap, str(mark), "u1", "w+", 0, (1,)),
    }
    return mark, payloads


@pytest.mark.parametrize("protocol", range(5))
def test_a_payload_in_any_place_is_refused_and_does_not_run(file, marked, protocol):
    mark, payloads = marked
    for name, payload in payloads.items():
        for content in (
            payload,
            (payload, MATRIX),
            (WORDS, payload),
            ([*WORDS[:3], payload], MATRIX),
            (WORDS, MATRIX, payload),
            (WORDS, object_array(payload)),
            (object_array(payload), MATRIX),
            {"words": payload},
        ):
            refused(file(pickle.dumps(content, protocol)))
            assert not mark.exists(), name


def test_the_payload_is_a_real_one(marked):
    mark, payloads = marked
    pickle.loads(pickle.dumps((WORDS, object_array(payloads["os.system"]))))
    assert mark.exists()


def test_the_refusal_names_what_was_asked_for(file, marked):
    _, payloads = marked
    assert "asks for 'posix.system'" in refused(file(pickle.dumps((payloads["os.system"], MATRIX))))
    assert "asks for 'builtins.eval'" in refused(file(pickle.dumps((payloads["eval"], MATRIX), 4)))
    refused(file(b"\x80\x04\x8c\x03a\nb\x8c\x04c\x1b[m\x93."), r"asks for 'a\nb.c\x1b[m'")


@pytest.mark.parametrize(
    "data",
    [
        b"cos\nsystem\n(S'touch pwned'\ntR.",  # protocol 0
        b"(S'touch pwned'\nios\nsystem\n.",  # INST
        b"(cos\nsystem\nS'touch pwned'\no.",  # OBJ
        b"\x80\x02c__builtin__\neval\nU\x011\x85R.",  # Python 2's name of it
        b"\x80\x04\x8c\x15numpy.core.multiarray\x8c\x18_reconstruct.__globals__\x93.",  # a dotted name
        b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.tofile\x93.",
        b"\x80\x04\x8c\x05numpy\x8c\x0bcore.os.sys\x93.",
        b"\x80\x02cnumpy.core.multiarray\nscalar\n.",
        b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x06\x00\x00\x00latin1\x86R.",
        b"\x80\x02ccopy_reg\n_reconstructor\n.",
        b"\x80\x02\x82\x01.",  # an extension
        b"\x80\x02U\x01aQ.",  # a persistent object
        b"\x80\x05\x97.",  # a buffer from outside
        b"\x80\x05\x96\x00\x00\x00\x00\x00\x10\x00\x00.",  # 2^44 bytes to be written to
        b"\x80\x02Nr\xff\xff\xff\x7f.",  # a memo of 2^31 places
        b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",  # 2^63 bytes
        b"\x80\x02cnumpy\nndarray\n}U\x01aK\x01sb.",  # state given to a class
        b"\x80\x02cnumpy\ndtype\nU\x02f4\x85R(K\x03tb.",
        b"\x80\x02cnumpy\ndtype\n)R.",
        b"\x80\x02K\x01.",
        b"\x80\x02.",
        b"\x80\x03garbage",
        b"",
    ],
)
def test_forged_and_damaged_pickles_are_refused(file, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(file(data))
    assert not Path("pwned").exists()


def test_an_array_that_is_not_what_it_says_is_refused_before_numpy_sees_it(file):
    words = [python2_unicode(word) for word in WORDS]
    for array, what in (
        (python2_array(MATRIX, kind=b"O8"), "type '<O8'"),
        (python2_array(MATRIX, kind=b"i4"), "type '<i4'"),
        (python2_array(MATRIX, kind=b"f4,O"), "type"),
        (python2_array(MATRIX, order=b"|"), "type '|f4'"),
        (python2_array(MATRIX, data=b"1234"), "4 bytes, not of the shape (4, 3)"),
        (python2_array(np.zeros((0, 3), np.float32)), "shape (0, 3)"),
        (python2_array(MATRIX[:2]), "4 words and 2 vectors"),
        (b"cnumpy.core.multiarray\n_reconstruct\n)R", "second part is the type array"),
        (b"K\x01", "second part is the type int"),
    ):
        refused(file(python2_pickle(words, array)), what)
    negative = python2_array(MATRIX).replace(struct.pack("<i", 4), struct.pack("<i", -4))
    refused(file(python2_pickle(words, negative)), "shape (-4, 3)")
    refused(file(python2_pickle([b"K\x01"] * 4, python2_array(MATRIX))), "are not words")
    refused(file(pickle.dumps((WORDS, object_array("x")), 4)), "something else than numbers")
    refused(file(pickle.dumps((WORDS, np.zeros(4, np.float32)), 4)), "shape (4,)")
    refused(file(pickle.dumps({"cat": 1}, 4)), "a pickle of the type dict")
