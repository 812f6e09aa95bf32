"""Arrays of a directory in one file: they come back as they were, and take one file descriptor."""

import gc
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.storage.arrays import has_array, keep_with, load_array, place_of, save_array
from isogloss.storage.checksums import FileNote, check_directory, whole_arrays, write_checksums
from isogloss.storage.containers import Container, packed
from isogloss.storage.errors import DamagedFileError
from isogloss.storage.files import atomic_directory
from isogloss.storage.strings import StringTable, save_joined

ARRAYS = arrays.arrays(
    st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, np.float16]),
    arrays.array_shapes(min_side=0, max_dims=3),
)


def write(folder, **named):
    with packed(folder):
        for name, array in named.items():
            save_array(folder / f"{name}.npy", np.asarray(array))
    return folder


def descriptors():
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@settings(max_examples=30, deadline=None)
@given(saved=st.dictionaries(st.sampled_from(["a", "deep/b", "deep/er/c", "ü"]), ARRAYS, min_size=1))
def test_arrays_come_back_as_they_were(tmp_path_factory, saved):
    folder = write(tmp_path_factory.mktemp("packed"), **saved)
    assert sorted(path.name for path in folder.iterdir()) == ["arrays.bin", "arrays.json"]
    for name, array in saved.items():
        found = load_array(folder / f"{name}.npy")
        assert (found.dtype, found.shape, found.flags.writeable) == (array.dtype, array.shape, False)
        assert found.ctypes.data % 64 == 0 or not found.size
        np.testing.assert_array_equal(found, array)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted in /proc")
def test_an_open_container_takes_one_descriptor_and_none_when_its_arrays_are_gone(tmp_path):
    write(tmp_path, **{f"a{number}": np.arange(10) for number in range(50)})
    before = descriptors()
    opened = [load_array(tmp_path / f"a{number}.npy") for number in range(50)]
    opened += [load_array(tmp_path / f"a{number}.npy") for number in range(50)]
    assert descriptors() <= before + 1
    shutil.rmtree(tmp_path)  # as a writer does with segments that are no longer used
    assert all(each.tolist() == list(range(10)) for each in opened)
    del opened
    assert descriptors() == before


def test_strings_are_found_and_joined_in_it(tmp_path):
    tables = [StringTable.of(["a", "bé", ""]), StringTable.of(["c"])]
    with packed(tmp_path):
        tables[0].save(tmp_path / "deep", "words")
        save_joined(tables, np.array([True, True, False, True]), tmp_path, "joined")
    assert list(StringTable.load(tmp_path / "deep", "words")) == ["a", "bé", ""]
    assert list(StringTable.load(tmp_path, "joined")) == ["a", "bé", "c"]


def test_a_container_inside_another_is_part_of_it(tmp_path):
    with packed(tmp_path):
        write(tmp_path / "deep", a=[1])
        save_array(tmp_path / "b.npy", np.array([2]))
    assert {path.name for path in tmp_path.rglob("*")} == {"arrays.bin", "arrays.json"}
    assert load_array(tmp_path / "deep" / "a.npy").tolist() == [1]


def test_folders_that_are_renamed_and_other_folders_have_files_of_their_own(tmp_path):
    (tmp_path / "in").mkdir()
    with packed(tmp_path / "in"):
        save_array(tmp_path / "out.npy", np.array([1]))
        with atomic_directory(tmp_path / "in" / "vectors") as partial:
            save_array(partial / "a.npy", np.array([2]))
    assert np.load(tmp_path / "out.npy").tolist() == [1]
    assert load_array(tmp_path / "in" / "vectors" / "a.npy").tolist() == [2]
    assert not (tmp_path / "in" / "arrays.bin").exists()


def test_work_that_fails_leaves_no_container_that_can_be_read(tmp_path):
    with pytest.raises(RuntimeError), packed(tmp_path):
        save_array(tmp_path / "a.npy", np.array([1]))
        raise RuntimeError
    with pytest.raises(FileNotFoundError, match=r"arrays\.json"):
        load_array(tmp_path / "a.npy")
    save_array(tmp_path / "b.npy", np.array([1]))
    assert (tmp_path / "b.npy").exists()


def test_an_array_that_is_not_there_is_said_to_be_missing(tmp_path):
    write(tmp_path, a=[1])
    assert (has_array(tmp_path / "a.npy"), has_array(tmp_path / "b.npy")) == (True, False)
    with pytest.raises(FileNotFoundError, match=r"b\.npy"):
        load_array(tmp_path / "b.npy")
    assert place_of(tmp_path / "a.npy") == f"{tmp_path / 'arrays.bin'}: a.npy"


def test_what_is_kept_is_made_once_while_the_container_is_open(tmp_path):
    write(tmp_path, a=[1])
    save_array(tmp_path / "plain.npy", np.array([1]))
    made = []
    opened = load_array(tmp_path / "a.npy")
    for _ in range(2):
        for name in ("a", "plain"):
            keep_with(tmp_path / f"{name}.npy", lambda name=name: made.append(name))
    assert made == ["a", "plain", "plain"]
    del opened
    gc.collect()
    keep_with(tmp_path / "a.npy", lambda: made.append("again"))
    assert made[-1] == "again"


@pytest.mark.parametrize("name", ["a.npy", "b.npy"])
def test_one_damaged_array_is_named_and_the_other_stays_whole(tmp_path, damage_array, name):
    write(tmp_path, a=np.arange(100), b=np.arange(200_000))
    note = write_checksums(tmp_path)
    check_directory(tmp_path, note, hashes=True)
    damage_array(tmp_path, name)
    with pytest.raises(
        DamagedFileError, match=rf"arrays\.bin is not what was written \(the checksum of {name} differs"
    ):
        check_directory(tmp_path, note, hashes=True)
    noted = json.loads((tmp_path / "checksums.json").read_text(encoding="utf-8"))
    assert list(noted) == ["arrays.bin"]
    if name == "a.npy":  # it is small
        with pytest.raises(DamagedFileError, match=name):
            check_directory(tmp_path, note)
    else:
        check_directory(tmp_path, note)


def test_arrays_before_a_cut_are_whole(tmp_path):
    write(tmp_path, a=np.arange(100), b=np.arange(100))
    write_checksums(tmp_path)
    note = json.loads((tmp_path / "checksums.json").read_text(encoding="utf-8"))["arrays.bin"]
    data = (tmp_path / "arrays.bin").read_bytes()
    (tmp_path / "arrays.bin").write_bytes(data[:-8])
    assert whole_arrays(tmp_path / "arrays.bin", FileNote(*note)) == {"a.npy"}
    with pytest.raises(DamagedFileError, match=r"arrays\.bin is cut off in b\.npy"):
        load_array(tmp_path / "b.npy")
    (tmp_path / "arrays.bin").write_bytes(b"")
    with pytest.raises(DamagedFileError, match=r"arrays\.bin is empty"):
        load_array(tmp_path / "a.npy")


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: [entry[0], [-1], *entry[2:]],
        lambda entry: [entry[0], entry[1], -64, entry[3]],
        lambda entry: [entry[0], [1.5], *entry[2:]],
        lambda entry: ["|O", *entry[1:]],
        lambda entry: ["what", *entry[1:]],
        lambda entry: entry[:2],
        lambda entry: None,
    ],
)
def test_a_forged_list_of_arrays_is_refused(tmp_path, change):
    write(tmp_path, a=np.arange(4))
    path = tmp_path / "arrays.json"
    contents = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({"a.npy": change(contents["a.npy"])}), encoding="utf-8")
    with pytest.raises(DamagedFileError, match=r"arrays\.json is not a list of arrays"):
        load_array(tmp_path / "a.npy")


@pytest.mark.parametrize("shape", [[5], [2**61], [2**40, 2**40]])
def test_an_array_never_goes_past_the_end_of_the_file(tmp_path, shape):
    write(tmp_path, a=np.arange(4))
    path = tmp_path / "arrays.json"
    entry = json.loads(path.read_text(encoding="utf-8"))["a.npy"]
    path.write_text(json.dumps({"a.npy": [entry[0], shape, *entry[2:]]}), encoding="utf-8")
    with pytest.raises(DamagedFileError, match=r"is cut off in a\.npy"):
        load_array(tmp_path / "a.npy")


def test_containers_are_shared_by_all_who_open_them(tmp_path):
    write(tmp_path, a=[1])
    first = Container.open(tmp_path)
    (tmp_path.parent / "link").symlink_to(tmp_path)
    assert Container.open(tmp_path.parent / "link") is first
