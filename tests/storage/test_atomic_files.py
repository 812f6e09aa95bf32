"""A file is there whole or not at all."""

import os
import resource
import signal
import stat
from pathlib import Path

import pytest

from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file, refuse_existing


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_a_file_appears_when_the_block_ends_and_not_before(tmp_path):
    path = tmp_path / "deep" / "down" / "out.txt"
    with atomic_file(path) as file:
        file.write("été\n")
        assert not path.exists()
    assert path.read_bytes() == "été\n".encode()
    assert names(path.parent) == ["out.txt"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(failure), atomic_file(path) as file:
        file.write("new")
        raise failure
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


def test_a_failure_takes_the_folders_away_that_were_made_for_the_file(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="no"), atomic_file(tmp_path / "there" / "new" / "deep" / "out.txt"):
        raise ValueError("no")
    assert names(tmp_path) == ["there"]
    assert names(tmp_path / "there") == []


def test_text_that_cannot_be_encoded_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError), atomic_file(tmp_path / "out.txt") as file:
        file.write("\ud800")
    assert names(tmp_path) == []


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    handler, limits = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OSError, match="large"), atomic_file(path) as file:
            file.write("x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_that_the_mask_leaves(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        with atomic_file(tmp_path / "out.txt"):
            pass
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == mode


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("secret")
    path.chmod(0o600)
    with atomic_file(path) as file:
        file.write("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "out.txt")
    with atomic_file(tmp_path / "link", overwrite=False) as file:
        file.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "out.txt").read_text() == "x"


def test_a_device_is_written_to_and_never_replaced(tmp_path):
    (tmp_path / "null").symlink_to(os.devnull)
    for overwrite in (False, True):
        with atomic_file(tmp_path / "null", overwrite) as file:
            file.write("x")
    assert Path(os.devnull).is_char_device()
    assert names(tmp_path) == ["null"]


def test_an_existing_file_is_refused_without_overwrite(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with (
        pytest.raises(InputError, match=r"out\.txt: exists and is not empty; .*overwrite=True"),
        atomic_file(path, overwrite=False),
    ):
        pytest.fail("the block must not run")
    assert path.read_text() == "old"


def test_a_directory_in_the_way_and_a_file_as_parent_are_input_errors(tmp_path):
    (tmp_path / "file").write_text("x")
    for path, message in ((tmp_path, "is a directory"), (tmp_path / "file" / "deeper" / "out", "is a file")):
        with pytest.raises(InputError, match=message), atomic_file(path):
            pytest.fail("the block must not run")
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("kind", ["absent", "empty file", "empty directory", "device"])
def test_what_holds_nothing_is_not_refused(tmp_path, kind):
    (tmp_path / "empty file").touch()
    (tmp_path / "empty directory").mkdir()
    (tmp_path / "device").symlink_to(os.devnull)
    refuse_existing(tmp_path / kind, overwrite=False)
    with pytest.raises(InputError, match=r"exists and is not empty"):
        refuse_existing(tmp_path, overwrite=False)
    refuse_existing(tmp_path, overwrite=True)
