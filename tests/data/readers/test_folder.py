"""A folder of documents."""

from __future__ import annotations

import pytest

from isogloss.data.dataset import load_collection
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError


@pytest.fixture
def folder(put):
    """Read the documents of a language from some files: id to (title, text)."""

    def documents(files, language="en", packed=False):
        collection = load_collection(open_source(f"folder:{put(files, packed)}"), language)
        return {document.id: (document.title, document.text) for document in collection}

    return documents


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_text_markdown_and_html_files_are_read_by_their_ending(folder, packed):
    files = {
        "notes/a.txt": "Plain *text*\n\n",
        "b.md": "# A heading\n\nSome *words*.",
        "c.HTML": "<title>T</title><p>x &lt; y</p>",
        "d.htm": "<p>no title</p>",
        "e.markdown": "no heading",
        "f.pdf": "%PDF",
    }
    ending = ".gz" if packed else ""
    assert folder(files, packed=packed) == {
        f"notes/a.txt{ending}": ("a", "Plain *text*"),
        f"b.md{ending}": ("A heading", "Some words."),
        f"c.HTML{ending}": ("T", "x < y"),
        f"d.htm{ending}": ("d", "no title"),
        f"e.markdown{ending}": ("e", "no heading"),
    }


def test_hidden_files_and_folders_are_passed_over(folder):
    files = {".secret.txt": "x", ".git/readme.md": "x", "seen.txt": "y", "sub/.x/z.txt": "x"}
    assert list(folder(files)) == ["seen.txt"]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_language_is_a_sub_folder_or_stands_before_the_ending(folder, packed):
    files = {"fr/a.txt": "un", "en/a.txt": "one", "docs/fr/b.md": "deux", "page.fr.md": "trois", "page.md": "three"}
    found = folder(files, "fr", packed)
    assert [id_.removesuffix(".gz") for id_ in found] == ["docs/fr/b.md", "fr/a.txt", "page.fr.md"]
    assert [title for title, _ in found.values()] == ["b", "a", "page"]


def test_a_folder_without_languages_is_taken_whole(put):
    collection = load_collection(open_source(f"folder:{put({'a.txt': 'x', 'b/c.txt': 'y'})}"), "sw")
    assert collection.ids == ["a.txt", "b/c.txt"]
    assert {document.language for document in collection} == {""}


def test_a_folder_with_nothing_to_read_is_an_error(folder):
    with pytest.raises(InputError, match=r"folder:.*: has no documents in 'en'"):
        folder({"a.pdf": "x"})


def test_a_folder_has_no_queries_to_evaluate_with(put, read):
    with pytest.raises(InputError, match=r"a source of documents only, without queries and judgments"):
        read(f"folder:{put({'a.txt': 'x'})}")


def test_an_empty_file_is_a_warning_and_a_file_that_is_no_text_is_skipped(put):
    files = {
        "empty.txt": "", "good.txt": b"good\n" * 50 + b"\xff\n", "latin.txt": "été à la mer".encode("latin-1"),
        "binary.txt": b"\x00\x01\x02", "wide.txt": "été".encode("utf-16"), "picture.png": b"x", "other.png": b"x",
        "declared.html": '<meta charset="latin-1"><p>été'.encode("latin-1"), "odd.html": b'<meta charset="zip">\xe9',
    }  # fmt: skip
    problems = Problems()
    collection = load_collection(open_source(f"folder:{put(files)}"), "fr", problems)
    texts = {d.id: d.text for d in collection}
    assert texts.pop("good.txt").startswith("good\n")
    assert texts == {"declared.html": "été", "empty.txt": "", "wide.txt": "été"}
    assert problems.warnings == {"empty document text": 1}
    assert problems.told_skipped() == (
        "5 files skipped: 2 of kinds that are not read (2 .png); 2 unknown character set (latin.txt, odd.html); "
        "1 binary (binary.txt)"
    )


def test_a_document_has_the_path_and_the_kind_of_its_file(put):
    collection = load_collection(open_source(f"folder:{put({'a/b.md': 'x', 'c.html': 'y'})}"), "fr")
    assert [document.fields for document in collection] == [
        {"path": "a/b.md", "kind": "markdown"}, {"path": "c.html", "kind": "html"}
    ]  # fmt: skip


def test_a_file_instead_of_the_folder_is_named(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(InputError, match=r"f: is a file, a directory is needed"):
        open_source(f"folder:{tmp_path / 'f'}")
