"""A directory is there whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from isogloss.storage import files
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_directory


@pytest.fixture(params=["exchange", "two renames"])
def any_kernel(request, monkeypatch):
    """With the kernel's exchange of two paths and without it."""
    if request.param == "two renames":
        monkeypatch.setattr(files, "_exchange", lambda left, right: False)


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def tree(directory):
    return {str(path.relative_to(directory)): path.read_text() for path in directory.rglob("*") if path.is_file()}


def test_a_directory_appears_when_the_block_ends_and_not_before(tmp_path):
    target = tmp_path / "new" / "index"
    with atomic_directory(target) as partial:
        (partial / "sub").mkdir()
        (partial / "sub" / "a").write_text("1")
        assert not target.exists()
    assert tree(target) == {"sub/a": "1"}
    assert names(target.parent) == ["index"]


@pytest.mark.usefixtures("any_kernel")
def test_overwriting_keeps_the_old_one_until_the_new_one_is_complete(tmp_path):
    target = tmp_path / "index"
    target.mkdir()
    (target / "old").write_text("1")
    with atomic_directory(target, overwrite=True) as partial:
        (partial / "new").write_text("2")
        assert tree(target) == {"old": "1"}
    assert tree(target) == {"new": "2"}
    assert names(tmp_path) == ["index"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [{}, {"old": "1"}])
def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path, failure, before):
    target = tmp_path / "index"
    for name, text in before.items():
        target.mkdir()
        (target / name).write_text(text)
    with pytest.raises(failure), atomic_directory(target, overwrite=True) as partial:
        (partial / "new").write_text("2")
        raise failure
    assert tree(tmp_path) == {f"index/{name}": text for name, text in before.items()}
    assert names(tmp_path) == ["index"] * bool(before)


def test_a_failure_takes_the_folders_away_that_were_made_for_it(tmp_path):
    with pytest.raises(ValueError, match="no"), atomic_directory(tmp_path / "a" / "b" / "index"):
        raise ValueError("no")
    assert names(tmp_path) == []


def test_a_rename_that_fails_puts_the_old_one_back(tmp_path, monkeypatch):
    target = tmp_path / "index"
    target.mkdir()
    (target / "old").write_text("1")
    monkeypatch.setattr(files, "_exchange", lambda left, right: False)
    rename = Path.rename

    def no_room(path, to):
        if path.name.endswith(".partial"):
            raise OSError("no room")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", no_room)
    with pytest.raises(OSError, match="no room"), atomic_directory(target, overwrite=True) as partial:
        (partial / "new").write_text("2")
    assert tree(tmp_path) == {"index/old": "1"}
    assert names(tmp_path) == ["index"]


def test_one_that_is_not_empty_is_refused_without_overwrite(tmp_path):
    (tmp_path / "old").write_text("1")
    with pytest.raises(InputError, match=r"exists and is not empty; .*overwrite=True"), atomic_directory(tmp_path):
        pytest.fail("the block must not run")
    assert tree(tmp_path) == {"old": "1"}


def test_one_without_the_sign_of_its_kind_is_refused_and_kept(tmp_path):
    (tmp_path / "letter.txt").write_text("1")
    with pytest.raises(InputError, match=r"holds something else \(it has no index\.json\), which would be lost"):
        atomic_directory(tmp_path, overwrite=True, sign="index.json").__enter__()
    assert tree(tmp_path) == {"letter.txt": "1"}


@pytest.mark.usefixtures("any_kernel")
def test_an_empty_one_is_filled_without_overwrite(tmp_path):
    (tmp_path / "index").mkdir()
    with atomic_directory(tmp_path / "index") as partial:
        (partial / "new").write_text("2")
    assert tree(tmp_path) == {"index/new": "2"}
    assert names(tmp_path) == ["index"]


def test_the_current_directory_can_be_the_target(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with atomic_directory(".") as partial:
        (partial / "new").write_text("2")
    assert tree(tmp_path) == {"here/new": "2"}


@pytest.mark.usefixtures("any_kernel")
def test_a_link_to_a_directory_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "old").write_text("1")
    (tmp_path / "link").symlink_to("real")
    with atomic_directory(tmp_path / "link", overwrite=True) as partial:
        (partial / "new").write_text("2")
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path) == ["link", "real"]
    assert tree(tmp_path / "real") == {"new": "2"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_in_the_way_is_refused_and_kept(tmp_path, overwrite):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"file: (is a file|exists)"), atomic_directory(tmp_path / "file", overwrite):
        pytest.fail("the block must not run")
    with pytest.raises(InputError, match="is a file, a directory is needed for index"):
        atomic_directory(tmp_path / "file" / "index", overwrite).__enter__()
    assert tree(tmp_path) == {"file": "x"}


def test_permissions_are_those_of_the_mask_or_of_the_directory_replaced(tmp_path):
    (tmp_path / "private").mkdir(mode=0o700)
    before = os.umask(0o027)
    try:
        for name in ("new", "private"):
            with atomic_directory(tmp_path / name):
                pass
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "private")]
    assert modes == [0o750, 0o700]
