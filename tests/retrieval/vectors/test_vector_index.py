"""The vectors of an index: several parts are one collection, in memory and on disk, whatever they are kept as."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval.vectors import vector_index
from isogloss.retrieval.vectors.exact import ExactIndex
from isogloss.retrieval.vectors.storage import FORMAT, float32_rows, stored_as
from isogloss.retrieval.vectors.vector_index import VectorIndex
from isogloss.storage.errors import InputError


def random_matrix(rows=300, dimensions=20, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)


def saved_parts(directory, sizes, storage="float32", seed=0):
    """Parts on disk, and all their input vectors."""
    matrices = [random_matrix(size, seed=seed + number) for number, size in enumerate(sizes)]
    for number, matrix in enumerate(matrices):
        VectorIndex.build(matrix, np.arange(len(matrix)), storage).save(directory / str(number))
    return [directory / str(number) for number in range(len(sizes))], np.concatenate(matrices)


def assert_same(left, right):
    assert left.rows.tolist() == right.rows.tolist()
    assert left.scores.tolist() == right.scores.tolist()


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=5), st.integers(0, 50), st.floats(0, 1),
    st.sampled_from(["float32", "float16", "int8"]), st.integers(0, 99),
)  # fmt: skip
def test_parts_are_searched_as_one_collection(tmp_path_factory, sizes, k, share, storage, seed):
    directories, matrix = saved_parts(tmp_path_factory.mktemp("parts"), sizes, storage, seed)
    random = np.random.default_rng(seed)
    id_order, allowed = random.permutation(len(matrix)), random.random(len(matrix)) < share
    index = VectorIndex.load(directories, id_order)
    whole = ExactIndex(float32_rows(stored_as(matrix, storage)), id_order)
    queries = random.standard_normal((3, 20)).astype(np.float32)
    assert (len(index), index.dimension) == (len(matrix), 20)
    for mask in (None, allowed):
        for left, right in zip(index.search_batch(queries, k, mask), whole.search_batch(queries, k, mask), strict=True):
            assert_same(left, right)
        assert_same(index.search(queries[0], k, mask), whole.search(queries[0], k, mask))
    assert index.scores(queries[0]).tolist() == whole.scores(queries[0]).tolist()
    some = random.integers(len(matrix), size=7) if len(matrix) else np.zeros(0, dtype=np.int64)
    assert index.score(queries[0], some).tolist() == whole.score(queries[0], some).tolist()
    assert index.rows(some).tolist() == float32_rows(whole.matrix[some]).tolist()


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
def test_parts_are_joined_without_what_is_not_kept(tmp_path, storage):
    directories, _ = saved_parts(tmp_path, [30, 50, 20], storage)
    id_order = np.random.default_rng(1).permutation(100)
    keep = np.random.default_rng(2).random(100) < 0.6
    index = VectorIndex.load(directories, id_order)
    index.save(tmp_path / "joined", keep)
    kept = np.flatnonzero(keep)
    order = np.argsort(np.argsort(id_order[kept]))
    joined = VectorIndex.load([tmp_path / "joined"], order)
    assert joined.about()["storage"] == storage
    assert (
        joined.rows(np.arange(len(kept))).tolist() == index.rows(kept).tolist()
    )  # to the last bit, joined often or not
    query = random_matrix(1, seed=9)[0]
    found, wanted = joined.search(query, 10), index.search(query, 10, keep)
    assert kept[found.rows].tolist() == wanted.rows.tolist()
    assert found.scores.tolist() == wanted.scores.tolist()


def test_a_part_is_saved_again_as_it_is(tmp_path):
    matrix = random_matrix()
    VectorIndex.build(matrix, np.arange(300), "float16").save(tmp_path / "first")
    index = VectorIndex.load([tmp_path / "first"], np.arange(300))
    index.save(tmp_path / "second")
    index.save(tmp_path / "third", keep=np.ones(300, dtype=bool))
    for file in (tmp_path / "first").iterdir():
        assert (tmp_path / "second" / file.name).read_bytes() == file.read_bytes()
        assert (tmp_path / "third" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(("storage", "bytes_a_row"), [("float32", 80), ("float16", 40), ("int8", 24)])
def test_a_smaller_storage_is_smaller_on_disk(tmp_path, storage, bytes_a_row):
    index = VectorIndex.build(random_matrix(), np.arange(300), storage)
    index.save(tmp_path / "index")
    arrays = sum(file.stat().st_size - 128 for file in (tmp_path / "index").glob("*.npy"))
    assert arrays == index.about()["bytes"] == 300 * bytes_a_row


def test_few_rows_are_kept_as_they_are():
    about = VectorIndex.build(random_matrix(), np.arange(300)).about()
    assert (about["kind"], about["storage"], about["recall"]) == ("exact", "float32", 1.0)


def test_the_smallest_storage_that_finds_nearly_all_is_taken(monkeypatch):
    """Whole numbers lose nothing in eight bits; numbers that differ in the tenth bit do; in the fifteenth, all do."""
    monkeypatch.setattr(vector_index, "SMALL", 1_000)
    random = np.random.default_rng(0)
    whole = random.integers(-127, 128, size=(2_000, 6)).astype(np.float32)
    whole[:, 0] = 127
    near = (1 + random.integers(-512, 512, size=(2_000, 6)) / 1024).astype(np.float32)
    nearer = (1 + random.integers(-512, 512, size=(2_000, 6)) / 2**19).astype(np.float32)
    for matrix, storage in ((whole, "int8"), (near, "float16"), (nearer, "float32")):
        about = VectorIndex.build(matrix, np.arange(2_000)).about()
        assert about["storage"] == storage
        assert about["recall"] >= 0.99


def test_a_storage_that_is_asked_for_is_taken_and_its_recall_told():
    about = VectorIndex.build(1 + random_matrix() / 1e4, np.arange(300), "int8").about()
    assert about["storage"] == "int8"
    assert about["recall"] < 0.9


def test_recall_and_storage_of_parts_are_summarised(tmp_path):
    VectorIndex.build(random_matrix(300), np.arange(300), "float32").save(tmp_path / "a")
    VectorIndex.build(1 + random_matrix(100) / 1e4, np.arange(100), "int8").save(tmp_path / "b")
    about = VectorIndex.load([tmp_path / "a", tmp_path / "b"], np.arange(400)).about()
    assert (about["storage"], about["rows"], len(about["parts"])) == ("float32 and int8", 400, 2)
    assert about["recall"] == pytest.approx((300 + 100 * about["parts"][1]["recall"]) / 400)


def test_what_was_lost_before_parts_were_joined_is_still_told(tmp_path):
    VectorIndex.build(1 + random_matrix(100) / 1e4, np.arange(100), "int8").save(tmp_path / "part")
    parts = VectorIndex.load([tmp_path / "part"] * 2, np.arange(200))
    parts.save(tmp_path / "joined")
    joined = VectorIndex.load([tmp_path / "joined"], np.arange(200)).about()
    assert joined["recall"] == pytest.approx(parts.about()["recall"])
    assert joined["recall"] < 0.9


@pytest.mark.parametrize(("name", "value"), [("storage", "int4"), ("approximate", "maybe")])
def test_what_cannot_be_asked_for_is_an_error_that_says_what_can(name, value):
    with pytest.raises(InputError, match=f"{name}: '{value}' is none of auto, "):
        VectorIndex.build(random_matrix(), np.arange(300), **{name: value})


def test_without_parts_nothing_is_found():
    index = VectorIndex.load([], np.zeros(0, dtype=np.int64))
    assert (len(index), index.dimension, index.about()["recall"]) == (0, 0, 1.0)
    assert len(index.search(np.ones(7), 3).rows) == 0
    assert [len(ranking.rows) for ranking in index.search_batch(np.ones((2, 7)), 3)] == [0, 0]
    assert len(index.scores(np.ones(7))) == 0


def test_everything_may_be_deleted(tmp_path):
    directories, _ = saved_parts(tmp_path, [30, 20])
    VectorIndex.load(directories, np.arange(50)).save(tmp_path / "none", np.zeros(50, dtype=bool))
    index = VectorIndex.load([tmp_path / "none"], np.zeros(0, dtype=np.int64))
    assert len(index.search(np.ones(20), 3).rows) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda index: index.search(np.ones(20), 1, allowed=np.ones(299, dtype=bool)),
        lambda index: VectorIndex(index.parts, np.arange(299)),
        lambda index: VectorIndex(
            [*index.parts, *VectorIndex.build(np.ones((1, 2)), np.arange(1)).parts], np.arange(301)
        ),
        lambda index: index.rows(np.asarray([300])),
        lambda index: index.score(np.ones(20), np.asarray([-1])),
    ],
)
def test_what_only_a_programmer_gets_wrong_is_no_input_error(wrong):
    with pytest.raises((ValueError, IndexError), match=r"fit|different dimensions|rows from"):
        wrong(VectorIndex.build(random_matrix(), np.arange(300)))


def test_a_query_of_another_dimension_is_an_error_that_says_both():
    with pytest.raises(InputError, match="a query of 50 components, documents of 20"):
        VectorIndex.build(random_matrix(), np.arange(300)).search(np.zeros(50), 1)


@pytest.mark.parametrize("storage", ["float16", "int8"])
def test_a_component_too_large_for_a_storage_is_refused(storage):
    matrix = random_matrix()
    matrix[7, 3] = np.inf if storage == "int8" else 70_000
    with pytest.raises(InputError, match="vector of document 7 "):
        VectorIndex.build(matrix, np.arange(300), storage)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to see what is in memory")
def test_opening_a_large_index_does_not_read_it(tmp_path):
    """The matrix is a gigabyte of hole in a sparse file; the pages in memory are counted before and after."""
    shape = (4_000_000, 64)
    with open(tmp_path / "vectors.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        file.truncate(file.tell() + 4 * shape[0] * shape[1])
    about = {"format": FORMAT, "shape": shape, "storage": "float32", "longest": 1.0}
    (tmp_path / "vectors.json").write_text(json.dumps(about), encoding="utf-8")
    order = np.arange(shape[0])
    before = resident_megabytes()
    index = VectorIndex.load([tmp_path], order)
    assert index.score(np.ones(64), np.asarray([3_999_999])).tolist() == [0.0]
    assert resident_megabytes() - before < 50


def resident_megabytes():
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vectors.npy", lambda data: data[:-4]),
        ("vectors.npy", lambda data: data[:50]),
        ("vectors.npy", lambda data: b""),
        ("scales.npy", lambda data: data[:-8]),
        ("vectors.json", lambda data: data[:-9]),
        ("vectors.json", lambda data: b"[]"),
        ("vectors.json", lambda data: data.replace(b"300", b"301")),
        ("vectors.json", lambda data: data.replace(b'"format": 3', b'"format": 2')),
        ("vectors.json", lambda data: data.replace(b"longest", b"shortest")),
        ("vectors.json", lambda data: data.replace(b'"storage": "int8", "l', b'"storage": "float16", "l')),
        ("vectors.npy", None),
        ("scales.npy", None),
        ("vectors.json", None),
    ],
)
def test_a_damaged_part_is_an_error_of_one_line_with_a_way_out(tmp_path, name, change):
    VectorIndex.build(random_matrix(), np.arange(300), "int8").save(tmp_path / "index")
    assert_damaged(tmp_path, name, change, rows=300)


@pytest.fixture(scope="module")
def approximate_part(tmp_path_factory):
    pytest.importorskip("faiss")
    matrix = np.repeat(random_matrix(30, 4), 40, axis=0) + random_matrix(1_200, 4) / 10
    directory = tmp_path_factory.mktemp("approximate")
    VectorIndex.build(matrix, np.arange(1_200), "float32", approximate="yes").save(directory)
    return directory


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vectors.json", lambda data: data.replace(b'"probes"', b'"probed"')),
        ("approximate.npy", None),
        ("approximate.npy", lambda data: data[:-1000]),
        ("approximate.npy", lambda data: data[:128] + bytes(len(data) - 128)),
        ("approximate.npy", lambda data: changed(data, 132, 4)),  # the dimension
        ("approximate.npy", lambda data: changed(data, 136, 8)),  # the number of rows
        ("approximate.npy", lambda data: changed(data, 165, 8)),  # the number of lists
        ("approximate.npy", lambda data: data.replace(number(1_199), number(1_200))),  # a row
        ("lists.npy", None),
        ("lists.npy", lambda data: changed(data, 128, 4)),
    ],
)
def test_a_damaged_approximate_part_is_one_too(approximate_part, tmp_path, name, change):
    shutil.copytree(approximate_part, tmp_path / "index")
    assert VectorIndex.load([tmp_path / "index"], np.arange(1_200)).about()["kind"] == "approximate"
    assert_damaged(tmp_path, name, change, rows=1_200)


def number(value):
    return value.to_bytes(8, "little")


def changed(data, start, size):
    """Bytes with another number, and a large one, at a position."""
    return data[:start] + b"\x7f" * (size - 1) + b"\x00" + data[start + size :]


def assert_damaged(tmp_path, name, change, rows):
    path = tmp_path / "index" / name
    if change is None:
        path.unlink()
    else:
        path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=r"not a whole vector index .*make it again") as caught:
        VectorIndex.load([tmp_path / "index"], np.arange(rows))
    assert str(caught.value).startswith(f"{tmp_path / 'index'}: ")
    assert "\n" not in str(caught.value)
