"""A stranger's word vectors: headers that promise too much, pickles and archives are sentences, and nothing is run."""

import gzip
import os
import pickle
import shutil
import struct

import numpy as np
import pytest

from isogloss.papers.word_vectors.files import read_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError

MOST_32, MOST_64 = 2**31 - 1, 2**63 - 1


class Program:
    """Pickled, it is a program that makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def fasttext(
    dimension=2, buckets=0, shortest=0, longest=0, entries=1, words=1, word=b"a", pruned=-1, rows=1, columns=2,
    version=12, output_rows=1, output_columns=2,
):  # fmt: skip
    """A model of one word, or one that says something else."""
    settings = struct.pack("<12id", dimension, 5, 1, 1, 1, 1, 1, 2, buckets, shortest, longest, 1, 0.1)
    content = struct.pack("<ii", 793712314, version) + settings + struct.pack("<3i2q", entries, words, 0, 1, pruned)
    content += word + b"\0" + struct.pack("<qb", 1, 0)
    for count, width in ((rows, columns), (output_rows, output_columns)):
        numbers = count * width if 0 <= count * width < 100 else 0
        content += b"\0" + struct.pack("<qq", count, width) + np.ones(numbers, "<f4").tobytes()
    return content


FASTTEXT = [
    {"entries": MOST_32, "words": MOST_32},
    {"entries": -1, "words": -1},
    {"entries": 1, "words": 2},
    {"rows": MOST_64},
    {"rows": MOST_64, "columns": MOST_64},
    {"rows": 0, "columns": MOST_64},
    {"rows": -1, "columns": -2},
    {"output_rows": 0, "output_columns": MOST_64},
    {"dimension": 0, "columns": 0},
    {"dimension": -2},
    {"dimension": MOST_32},
    {"buckets": MOST_32, "shortest": 1, "longest": 3},
    {"buckets": -5, "shortest": 1, "longest": 3},
    {"buckets": 1, "shortest": 1, "longest": 6, "rows": 2, "word": b"a" * 5_000_000},
    {"version": 2**30},
]
FILES = {
    "words.bin": b"2000000000 300\na " + bytes(1200),
    "dimension.bin": b"1 2000000000\na " + bytes(12),
    "negative.bin": b"-1 -3\na " + bytes(12),
    "none.bin": b"1 0\na \n",
    "number.bin": b"9" * 5000 + b" 3\na " + bytes(12),
    "word.bin": b"1 3\n" + b"\xff" * 3_000_000,
    "words.vec": b"2000000000 3\na 1 2 3\n",
    "dimension.vec": b"1 2000000000\na 1 2 3\n",
    "negative.vec": b"-1 -3\na 1 2 3\n",
    "none.vec": b"0 0\n",
    "number.vec": b"9" * 5000 + b" 3\na 1 2 3\n",
    "infinite.vec": b"1 3\na nan inf 1e999\n",
    "digits.vec": b"a " + b"1" * 100_000 + b" 2\n",
    "zero.vec": b"a\0b 1 2\n",
    "empty.vec": b"",
    "line.vec.gz": gzip.compress(b"a" * 3_000_000),
    "zeros.gz": gzip.compress(bytes(3_000_000)),
    "cut.vec.gz": gzip.compress(b"2 2\na 1 2\nb 1 2\n")[:-9],
    "none.vec.gz": b"\x1f\x8bxxxxxxxxxxxxxxxx",
    "vectors.h5": b"\x89HDF\r\n\x1a\n" + bytes(500),
    "vectors.npz": b"PK\x03\x04" + bytes(100),
}


def npy(descr, shape, content=b"", header=None):
    """A ``.npy`` file, whatever it says."""
    text = (header or f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}").encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


ARRAYS = {
    "objects": lambda path: npy("|O", (1,), pickle.dumps(Program(path))),
    "pickle": lambda path: pickle.dumps(Program(path)),
    "archive": lambda path: b"PK\x03\x04aaaa",
    "huge": lambda path: npy("<f4", (2**40, 2**20)),
    "negative": lambda path: npy("<f4", (-1, -2)),
    "long text": lambda path: npy("<U100000000", (10,)),
    "call": lambda path: npy("", (), header=f"__import__('os').mkdir({str(path)!r})"),
    "nested": lambda path: npy("", (), header="(" * 5000),
    "open": lambda path: npy("", (), header="{'descr': '<f4', "),
    "empty": lambda path: b"",
}


@pytest.mark.parametrize("changes", FASTTEXT, ids=" ".join)
def test_a_model_of_fasttext_that_promises_too_much(changes, tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(fasttext())
    assert len(read_vectors(path)) == 1
    path.write_bytes(fasttext(**changes))
    with pytest.raises(InputError, match=r"model\.bin"):
        read_vectors(path)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_promises_too_much(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name])
    with pytest.raises(InputError, match=name):
        read_vectors(tmp_path / name)


@pytest.mark.parametrize("name", ["vectors.pkl", "vectors.pickle", "vectors.vec", "vectors.npy", "vectors.bin.gz"])
@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_not_run(name, protocol, tmp_path):
    content = pickle.dumps((["a"], Program(tmp_path / "ran")), protocol)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InputError, match=name):
        read_vectors(tmp_path / name)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("array", ["matrix.npy", "words.bytes.npy", "words.offsets.npy"])
@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_that_is_none(array, kind, tmp_path):
    folder = tmp_path / "vectors"
    WordVectors(["a", "b"], np.ones((2, 2), np.float32)).save(folder)
    (folder / array).write_bytes(ARRAYS[kind](tmp_path / "ran"))
    with pytest.raises(InputError):
        list(read_vectors(folder).words)
    assert not (tmp_path / "ran").exists()
    shutil.rmtree(folder)
