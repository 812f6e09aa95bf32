"""Large files are compared with their checksums once, and damage that is found in the background is an error."""

import logging
import os

import pytest

from isogloss.storage import verifying
from isogloss.storage.checksums import NotedFile, note_of
from isogloss.storage.errors import DamagedFileError
from isogloss.storage.verifying import Background, LargeFile, OpeningChecks, damage_of


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(b"content" * 1000)
    return NotedFile(path, note_of(path))


@pytest.fixture
def compared(monkeypatch):
    """The files that were compared."""
    seen, check_file = [], verifying.check_file
    monkeypatch.setattr(
        verifying, "check_file", lambda path, *more, **how: (seen.append(path), check_file(path, *more, **how))
    )
    return seen


def forget():
    verifying._verified.clear()


def damage(path):
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"!")


def test_a_file_is_compared_once_by_any_process_of_the_user(file, compared):
    OpeningChecks().check([file])
    OpeningChecks().check([file])
    forget()
    OpeningChecks().check([file])
    assert compared == [file.path]


def test_a_file_that_has_changed_since_is_compared_again(file):
    OpeningChecks().check([file])
    before = file.path.stat()
    damage(file.path)
    os.utime(file.path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as if nothing had happened
    with pytest.raises(DamagedFileError, match=r"large is not what was written"):
        OpeningChecks().check([file])


def test_opening_compares_only_so_much(file, compared):
    damage(file.path)
    checks = OpeningChecks(most=file.note.size - 1)
    checks.check([file])
    assert not compared
    assert [each.path for each in checks.files] == [file.path]


def test_damage_is_found_in_the_background_and_logged(file, caplog):
    damage(file.path)
    large = LargeFile.of(file)
    assert damage_of([large]) is None
    with caplog.at_level(logging.ERROR):
        assert Background().verify([large]).wait(30)
    found = damage_of([large])
    assert found is not None
    assert found[0] == large
    assert str(file.path) in str(found[1])
    assert str(file.path) in caplog.text
    assert not large.is_replaced
    with pytest.raises(DamagedFileError):  # it is known now
        OpeningChecks(most=0).check([file])
    file.path.write_bytes(b"content" * 1000)
    assert large.is_replaced


def test_a_file_that_a_writer_has_removed_is_no_damage(file):
    large = LargeFile.of(file)
    file.path.unlink()
    assert Background().verify([large]).wait(30)
    assert damage_of([large]) is None


def test_where_nothing_can_be_remembered_files_are_compared_each_time(file, compared, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    for _ in range(2):
        OpeningChecks().check([file])
        forget()
    assert compared == [file.path] * 2


def test_what_is_remembered_does_not_grow_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(verifying, "_MOST", 4)
    for number in range(10):
        path = tmp_path / str(number)
        path.write_bytes(b"x" * number)
        LargeFile.of(NotedFile(path, note_of(path))).verify()
    assert len(list((tmp_path / "cache" / "isogloss" / "verified").iterdir())) <= 4
