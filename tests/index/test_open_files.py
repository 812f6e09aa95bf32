"""An open index takes few file descriptors; a limit of open files is no damage, and forged files are refused."""

import errno
import gc
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isogloss.data.documents import Document
from isogloss.index.checking import check_index, repair_index
from isogloss.index.commit import Commit
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.segments import write_array
from isogloss.index.writer import IndexWriter
from isogloss.retrieval import list_checks
from isogloss.search.searcher import Searcher
from isogloss.storage import checksums, verifying
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.checksums import write_checksums
from isogloss.storage.containers import Container, packed
from isogloss.storage.errors import DamagedIndexError, InputError, OpenFilesError


@pytest.fixture
def index(tmp_path, pages, lexicons):
    make_index(tmp_path / "index", "bm25-dict", pages(), ["fr", "it"], settings=lexicons)
    return tmp_path / "index"


def descriptors():
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted in /proc")
def test_a_segment_takes_one_descriptor(index):
    before = descriptors()
    with IndexWriter(index, background=False) as writer:
        for number in range(5):
            writer.add([Document(f"new{number}", "le phare", language="fr")])
            writer.commit()
    del writer
    opened = open_index(index)
    segments, orders = len(opened.commit.segments), 1
    assert segments == 7
    assert descriptors() - before <= segments + orders
    del opened
    assert descriptors() == before


@pytest.mark.parametrize("skip_damaged", [False, True])
def test_a_limit_of_open_files_is_named_and_is_no_damage(index, monkeypatch, skip_damaged):
    def no_more(directory):
        raise OSError(errno.EMFILE, "Too many open files", str(directory))

    monkeypatch.setattr(Container, "open", no_more)
    with pytest.raises(
        OpenFilesError, match=r"this process may have [\d,]+; raise the limit with 'ulimit -n"
    ) as caught:
        open_index(index, skip_damaged)
    assert "damaged" not in str(caught.value)


WRITING = """
import resource, sys
from isogloss import Index
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]),) * 2)
index = Index.open(sys.argv[1])
for number in range(20):
    index.add([{"id": f"new{number}", "text": "le miel et la mer"}], "fr" if number % 2 else "it")
    assert index.search("honey")
index.delete(["new3"])
print(len(index))
"""


@pytest.mark.parametrize("limit", [64, 128])
def test_writes_and_searches_go_on_with_few_descriptors(index, limit):
    done = subprocess.run(
        [sys.executable, "-c", WRITING, str(index), str(limit)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "25"), done.stderr


REACHED = """
import os, resource, sys
from isogloss.cli.main import main
from isogloss.search import hits, searcher
resource.setrlimit(resource.RLIMIT_NOFILE, (64,) * 2)
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(64 - 3 - int(sys.argv[2]))]
sys.exit(main(sys.argv[3:]))
"""


@pytest.mark.parametrize("left", [0, 3])
@pytest.mark.parametrize("command", [["search", "INDEX", "honey"], ["check", "INDEX"], ["delete", "INDEX", "fr-sea"]])
def test_the_limit_is_named_when_it_is_reached_and_nothing_is_called_damaged(index, left, command):
    command = [str(index) if each == "INDEX" else each for each in command]
    done = subprocess.run(
        [sys.executable, "-c", REACHED, str(index), str(left), *command], capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    told = done.stdout + done.stderr
    assert "damaged" not in told
    assert "repair" not in told
    assert "Traceback" not in told
    assert done.returncode == 0 or "ulimit -n" in told


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ENOMEM, errno.EROFS, errno.ENOSPC, errno.EMFILE])
@pytest.mark.parametrize("use", [open_index, check_index, repair_index, lambda path: IndexWriter(path).__enter__()])
def test_an_error_of_the_system_is_not_called_damage(index, number, use, monkeypatch):
    def fails(path):
        raise OSError(number, os.strerror(number), str(path))

    for module in ("containers", "checksums", "arrays"):
        monkeypatch.setattr(f"isogloss.storage.{module}.open_regular", fails)
    with pytest.raises(InputError) as caught:
        use(index)
    assert not isinstance(caught.value, DamagedIndexError)
    assert "damaged" not in str(caught.value)
    assert "repair" not in str(caught.value)
    assert os.strerror(number) in str(caught.value) or "ulimit -n" in str(caught.value)


@pytest.fixture
def large(monkeypatch, tmp_path):
    """Every file is a large one, and none is compared at opening."""
    monkeypatch.setattr(checksums, "SMALL", 0)
    monkeypatch.setattr(verifying, "AT_OPENING", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_damage_found_in_the_background_ends_searching_until_it_is_mended(index, large, damage_array):
    (segment,) = index.glob("segments/fr-*")
    whole = (segment / "arrays.bin").read_bytes()
    damage_array(segment, "system/en/lengths.npy")
    opened = open_index(index)
    assert Searcher(opened).search("honey")  # nothing is known yet
    assert opened.verify().wait(30)
    for use in (lambda: Searcher(opened).search("honey"), lambda: Searcher(opened).get("fr-sea"), opened.refreshed):
        with pytest.raises(DamagedIndexError, match=r"arrays\.bin is not what was written .*lengths\.npy"):
            use()
    (segment / "arrays.bin").unlink()
    (segment / "arrays.bin").write_bytes(whole)
    mended = opened.refreshed()
    assert mended is not opened
    assert mended.verify().wait(30)
    assert Searcher(mended.refreshed()).search("honey")


def test_damage_found_in_the_background_is_gone_with_the_segment(index, large, damage_array):
    (segment,) = index.glob("segments/fr-*")
    damage_array(segment, "system/en/lengths.npy")
    opened = open_index(index)
    assert opened.verify().wait(30)
    repair_index(index)
    mended = opened.refreshed()
    assert mended.verify().wait(30)
    assert Searcher(mended.refreshed()).search("honey")


def test_what_check_has_compared_is_not_compared_at_opening(index, large, monkeypatch):
    check_index(index)
    opened = open_index(index)
    assert opened.large
    assert all(file.is_verified for file in opened.large)


def forge(index, language, name, change):
    """Change an array of a segment, and all checksums with it."""
    (segment,) = index.glob(f"segments/{language}-*")
    arrays = {each: np.array(load_array(segment / each)) for each in Container.open(segment).entries}
    arrays[name] = change(arrays[name])
    for file in ("arrays.bin", "arrays.json"):
        (segment / file).unlink()
    with packed(segment):
        for each, array in arrays.items():
            save_array(segment / each, array)
    commit = Commit.load(index)
    noted = {f"segments/{segment.name}/checksums.json": write_checksums(segment)}
    replace(commit, files={**commit.files, **noted}).save(index)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("system/en/documents.npy", lambda a: a + 1_000_000),
        ("system/en/documents.npy", lambda a: -a - 1),
        ("system/en/frequencies.npy", lambda a: a * 0),
        ("system/en/offsets.npy", lambda a: a[::-1].copy()),
        ("system/en/lengths.npy", lambda a: -a),
        ("system/en/terms.offsets.npy", lambda a: a[::-1].copy()),
        ("fields/lengths.npy", lambda a: a[:1]),
        ("pages.offsets.npy", lambda a: np.append(0, a[:-1])),
        ("id_order.npy", lambda a: a + 7),
        ("id_order.npy", lambda a: a.astype(np.float64)),
    ],
)
def test_a_forged_array_is_an_error_that_names_it(index, name, change):
    forge(index, "fr", name, change)
    with pytest.raises(InputError, match=rf"the index is damaged \(.*{Path(name).stem.split('.')[0]}"):
        open_index(index)


def test_a_forged_list_that_is_large_is_an_error_when_it_is_searched(index, monkeypatch):
    monkeypatch.setattr(list_checks, "_AT_ONCE", 0)
    forge(index, "fr", "system/en/documents.npy", lambda a: a + 1_000_000)
    with pytest.raises(InputError, match=r"arrays\.bin: system/en/documents\.npy has numbers .*isogloss check"):
        Searcher(open_index(index)).search("honey")


def test_orders_and_bitmaps_that_do_not_fit_are_refused(index):
    with IndexWriter(index, background=False) as writer:
        writer.add([Document("new", "le phare", language="fr")])
        writer.delete(["fr-sea"])
        writer.commit()
    commit = Commit.load(index)
    for file in (commit.languages["fr"].order_file, commit.languages["fr"].segments[0].deleted_file):
        whole = np.load(index / file)
        note = write_array(index, file, whole[:-1])
        replace(commit, files={**commit.files, file: note}).save(index)
        with pytest.raises(InputError, match=f"{file} does not fit"):
            open_index(index)
        write_array(index, file, whole)
    commit.save(index)
    assert open_index(index).manifest.documents["fr"] == 3
