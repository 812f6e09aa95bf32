"""Small files that become large: every reader refuses them with their name and the limit, and holds little of them."""

from __future__ import annotations

import gzip
import json
import struct
import tracemalloc

import pytest

from isogloss.cli.main import main
from isogloss.data.dataset import load_collection
from isogloss.data.problems import Problems
from isogloss.data.readers import folder
from isogloss.data.readers.registry import open_source
from isogloss.storage import lines
from isogloss.storage.errors import InputError

MEGABYTES = 2_000
MOST_HELD = 300 << 20  # bytes


def bomb(unit: bytes) -> bytes:
    """Two gigabytes in two megabytes: an archive of many members."""
    return gzip.compress(unit * ((1 << 20) // len(unit))) * MEGABYTES


ONE_LINE = bomb(b"a")
READERS = (
    ("a.jsonl.gz", "jsonl:a.jsonl"), ("corpus.jsonl.gz", "beir:."), ("wiki_fr.documents.gz", "wikiclir:."),
    ("documents.jsonl.gz", "trec:."), ("a.txt.gz", "folder:."), ("a.html.gz", "folder:."), ("fr.mtx.gz", "platt:."),
    ("fr.po.gz", "po:fr.po.gz"), ("a.tmx.gz", "tmx:a.tmx.gz"), ("a.tsv.gz", "tsv:a.tsv"),
)  # fmt: skip
"""A file, and the source that reads it."""


@pytest.mark.parametrize(("name", "source"), READERS)
def test_one_endless_line_is_refused_by_its_name_and_not_held(name, source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(ONE_LINE)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=name.removesuffix(".gz")):
            load_collection(open_source(source), "fr", Problems(stop_at_errors=False))
        assert tracemalloc.get_traced_memory()[1] < MOST_HELD
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("unit", [b"\0", b"\n", b"{}\n"], ids=["zeros", "line-breaks", "objects"])
@pytest.mark.parametrize(("name", "source"), READERS)
def test_a_gzip_bomb_is_refused_by_its_name(name, source, unit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lines, "_FREE", 1 << 16)  # soon
    (tmp_path / name).write_bytes(gzip.compress(unit * ((1 << 20) // len(unit))))
    with pytest.raises(InputError, match=name.removesuffix(".gz")):
        load_collection(open_source(source), "fr", Problems(stop_at_errors=False))


def test_the_limit_of_expansion_and_the_way_out_are_named(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(bomb(b"mot " * 50 + b"\n"))
    with pytest.raises(InputError, match=r"a\.txt\.gz: .* more than 200 bytes of each of its own; .* gunzip"):
        list(lines.read_lines(tmp_path / "a.txt.gz"))


def test_ordinary_archives_are_read_however_large(tmp_path):
    text = "".join(f"{number} lines of a text that is {number * 7919 % 1000} words long\n" for number in range(200_000))
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert sum(1 for _ in lines.read_lines(tmp_path / "a.txt.gz")) == 200_000


def test_a_line_of_two_gigabytes_is_not_held(tmp_path):
    path = tmp_path / "a.jsonl"
    with open(path, "wb") as file:
        file.truncate(2 << 30)  # without a block on disk
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"a\.jsonl:1: a line of more than 67,108,864 bytes"):
            load_collection(open_source(f"jsonl:{path}"), "fr")
        assert tracemalloc.get_traced_memory()[1] < MOST_HELD
    finally:
        tracemalloc.stop()


def test_a_file_that_is_too_large_is_refused_and_the_others_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "_LARGEST_TEXT", 1_000)
    (tmp_path / "large.txt").write_text("mot\n" * 300)
    with pytest.raises(InputError, match=r"no documents in 'fr'; 1 file skipped: 1 too large \(large\.txt\)"):
        load_collection(open_source(f"folder:{tmp_path}"), "fr")
    (tmp_path / "small.txt").write_text("mot\n")
    problems = Problems()
    assert load_collection(open_source(f"folder:{tmp_path}"), "fr", problems).ids == ["small.txt"]
    assert problems.told_skipped() == "1 file skipped: 1 too large (large.txt)"


def test_a_catalogue_whose_texts_overlap_is_refused(tmp_path):
    """60,000 messages that are all the same megabyte would be 60 gigabytes."""
    count, text = 60_000, b"x" * (1 << 20)
    tables = 28 + 16 * count
    head = struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0)
    (tmp_path / "fr.mo").write_bytes(head + struct.pack("<2I", len(text), tables) * (2 * count) + text)
    with pytest.raises(InputError, match=r"fr\.mo: a damaged message catalogue \(its texts overlap\)"):
        load_collection(open_source(f"po:{tmp_path / 'fr.mo'}"), "fr")


def test_a_matrix_whose_first_line_is_larger_than_memory_is_refused(tmp_path):
    (tmp_path / "fr.mtx").write_text("2000000000 1 1\n1 1 0.5\n")
    (tmp_path / "fr.vocab").write_text("mot\n")
    with pytest.raises(InputError, match=r"fr\.mtx:1: says 2,000,000,000 rows, but 1 entries follow"):
        load_collection(open_source(f"platt:{tmp_path}"), "fr")


def test_a_word_that_counts_ten_thousand_times_does_not_fill_the_memory(tmp_path):
    (tmp_path / "fr.mtx").write_text("2 2 3\n1 1 99999\n2 1 1\n2 2 1\n" + "")
    (tmp_path / "fr.vocab").write_text("x" * 1_000_000 + "\nmot\n")
    problems = Problems(stop_at_errors=False)
    found = load_collection(open_source(f"platt:{tmp_path}"), "fr", problems)
    assert sum(len(document.text) for document in found) < 20_000_000


def test_the_command_says_it_in_one_line(tmp_path, capsys):
    (tmp_path / "a.jsonl.gz").write_bytes(bomb(b"{}" + b" " * 500 + b"\n"))
    assert (
        main(["index", str(tmp_path / "a.jsonl.gz"), "--system", "bm25", "-o", str(tmp_path / "ix"), "--skip-bad"]) == 2
    )
    error = capsys.readouterr().err
    assert "a.jsonl.gz: the gzip archive makes more than 200 bytes" in error
    assert error.count("\n") == 1


def test_deeply_nested_lines_are_malformed_lines(tmp_path):
    deep = "[" * 100_000
    nested = {"id": "a", "text": "x", "fields": json.loads("[" * 900 + "]" * 900)}
    rows = [deep, '{"a":' * 100_000, json.dumps({"id": nested["fields"], "text": "x"}), '{"id": "b", "text": "y"}']
    rows += [json.dumps({"id": "c", "text": "x", "fields": {"deep": nested["fields"]}}), '{"id": 1' + "0" * 5_000 + "}"]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    problems = Problems(stop_at_errors=False)
    assert load_collection(open_source(f"jsonl:{tmp_path / 'a.jsonl'}"), "fr", problems).ids == ["b"]
    assert sum(problems.errors.values()) == 5
