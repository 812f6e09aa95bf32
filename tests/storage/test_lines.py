"""Lines with their locations, from files of every condition."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location, find_file, read_lines

PACKING = {"plain": lambda data: data, "gzip": gzip.compress}


def lines_of(path):
    return [line for _, line in read_lines(path)]


def error_of(path):
    with pytest.raises(InputError) as error:
        list(read_lines(path))
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("pack", PACKING.values(), ids=PACKING.keys())
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\r\nb", ["a", "b"]),
        ("\ufeffété\n\ufeffb\n", ["été", "\ufeffb"]),
        ("a\x0b\x85\u2028b\n\n c \n", ["a\x0b\x85\u2028b", "", " c "]),
        ("", []),
        ("\n", [""]),
    ],
)
def test_lines_come_without_their_ends_plain_or_packed_whatever_the_name(pack, data, lines, tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(pack(data.encode()))
    read = list(read_lines(path))
    assert [line for _, line in read] == lines
    assert [location for location, _ in read] == [Location(path, number) for number in range(1, len(lines) + 1)]


@settings(deadline=None, max_examples=33)
@given(lines=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0\ufeff"))))
def test_any_lines_are_read_as_they_were_written(lines, tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "file.gz"
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    assert lines_of(path) == lines


def test_the_packed_file_is_found_by_its_plain_name_and_the_plain_one_goes_first(tmp_path):
    (tmp_path / "file.gz").write_bytes(gzip.compress(b"packed"))
    assert lines_of(tmp_path / "file") == ["packed"]
    (tmp_path / "file").write_text("plain")
    assert lines_of(tmp_path / "file") == ["plain"]


def test_archives_one_after_another_are_one_file(tmp_path):
    (tmp_path / "file.gz").write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert lines_of(tmp_path / "file.gz") == ["a", "b"]


def test_an_archive_cut_anywhere_is_an_input_error_never_a_shorter_file(tmp_path):
    path = tmp_path / "file.gz"
    whole = gzip.compress(b"first line\nsecond line\n")
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert "the gzip archive is cut off" in error_of(path), size


def test_a_truncated_archive_is_an_input_error_that_names_the_last_whole_line(tmp_path):
    path = tmp_path / "file.gz"
    lines = [f"{number} {number**20 % 1_000_003}" for number in range(100_000)]
    whole = gzip.compress("\n".join(lines).encode(), mtime=0)
    path.write_bytes(whole[: len(whole) // 2])
    read = []
    with pytest.raises(InputError) as error:
        for _, line in read_lines(path):
            read.append(line)  # what came before the error counts
    assert read
    assert read == lines[: len(read)]
    assert str(error.value) == f"{path}:{len(read)}: the gzip archive is cut off after this line"


@pytest.mark.parametrize("position", [15, -8])
def test_a_damaged_archive_is_an_input_error(position, tmp_path):
    data = bytearray(gzip.compress(b"some lines of text\n" * 10, mtime=0))
    data[position] ^= 0xFF
    (tmp_path / "file.gz").write_bytes(data)
    assert "damaged gzip archive" in error_of(tmp_path / "file.gz")


@pytest.mark.parametrize("data", [b"text\n\x89PNG\x00\x1a\n", b"text\nzero \x00 byte\n", "text\n\n".encode("utf-16")])
def test_a_binary_file_is_an_input_error_even_where_broken_lines_are_allowed(data, tmp_path):
    (tmp_path / "file").write_bytes(data)
    assert "a binary file, text is needed" in error_of(tmp_path / "file")
    with pytest.raises(InputError, match="binary"):
        list(read_lines(tmp_path / "file", on_broken=lambda location, what: None))


def test_a_line_that_is_not_utf8_is_an_input_error_with_line_byte_and_position(tmp_path):
    (tmp_path / "file").write_bytes("one\nété\n".encode() + "été\n".encode("latin-1"))
    assert error_of(tmp_path / "file") == f"{tmp_path / 'file'}:3: not UTF-8 (byte 0xe9 at position 1)"


def test_a_line_that_is_not_utf8_goes_to_the_handler_and_is_left_out(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one\ntw\xff\nthree\n\xc3\n")
    broken = []
    read = list(read_lines(path, on_broken=lambda location, what: broken.append((location, what))))
    assert read == [(Location(path, 1), "one"), (Location(path, 3), "three")]
    assert [(str(location), what) for location, what in broken] == [
        (f"{path}:2", "not UTF-8 (byte 0xff at position 3)"),
        (f"{path}:4", "not UTF-8 (byte 0xc3 at position 1)"),
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "none: no such file (nor none.gz)"),
        ("none.gz", "none.gz: no such file"),
        ("dir", "dir: is a directory, a file is needed"),
        (".", ".: is a directory, a file is needed"),
        ("..", "..: is a directory, a file is needed"),
        ("/", "/: is a directory, a file is needed"),
        ("file/deeper", "file/deeper: no such file (nor deeper.gz)"),
    ],
)
def test_what_is_no_file_is_an_input_error_that_says_what_it_is(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dir").mkdir()
    Path("file").touch()
    assert error_of(Path(name)) == message
    with pytest.raises(InputError):
        find_file(Path(name))


def test_a_place_shows_its_line_where_it_has_one():
    assert str(Location(Path("a/b"), 3)) == "a/b:3"
    assert str(Location(Path("a/b"))) == "a/b"
