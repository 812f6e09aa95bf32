"""Files of each kind that were made or damaged to do harm: each is read, or skipped with a reason, and none hangs."""

from __future__ import annotations

import io
import random
import tracemalloc
import zipfile

import pytest
from tests.data.readers.files.making import archive, docx, epub, mail, odt, paragraph, pdf, pptx, relations, xlsx

from isogloss.cli.main import main
from isogloss.data.problems import Problems
from isogloss.data.readers.files import archives, isolated, kinds
from isogloss.data.readers.files.blocks import UnreadableError
from isogloss.data.readers.files.isolated import IsolatedReader
from isogloss.data.readers.files.kinds import read_here
from isogloss.data.readers.registry import open_source

CHANGES = 60  # for each kind
MOST_HELD = 200 << 20  # bytes
WHOLE = {
    "docx": docx(paragraph("Ein Absatz.") * 20),
    "pptx": pptx(("First", "one"), ("Second", "two")),
    "xlsx": xlsx({"A": ['<c t="s"><v>0</v></c>'] * 9}, ["<t>Tee</t>"]),
    "opendocument": odt("<text:p>Ein Absatz.</text:p>" * 20),
    "epub": epub({"a.xhtml": "<h1>One</h1><p>first</p>"}),
    "mail": mail(),
    "pdf": pdf(["A line."] * 9, ["Another."]),
}
ENDINGS = {"opendocument": ".odt", "mail": ".eml"}
XML = ("docx", "pptx", "xlsx", "opendocument", "epub")
ENTITIES = (
    '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE a [<!ENTITY % a SYSTEM "http://localhost/">%a;]>',
)


@pytest.fixture(scope="module")
def reader():
    pytest.importorskip("pypdfium2")
    made = IsolatedReader(seconds=20)
    yield made
    made.close()


def changed(data, chance):
    """The data cut, with a few bytes changed, or with a part repeated."""
    how, begin = chance.randrange(3), chance.randrange(len(data))
    if how == 0:
        return data[:begin]
    if how == 1:
        made = bytearray(data)
        for _ in range(chance.randrange(1, 9)):
            made[chance.randrange(len(made))] = chance.randrange(256)
        return bytes(made)
    return data[:begin] + data[begin : begin + chance.randrange(1, 400)] * chance.randrange(2, 6) + data[begin:]


@pytest.mark.parametrize("kind", WHOLE)
def test_cut_and_changed_files_are_read_or_skipped(kind, reader):
    chance = random.Random(kind)
    for _ in range(CHANGES):
        data = changed(WHOLE[kind], chance)
        try:
            title, text = reader.read(kind, data)
        except UnreadableError as error:
            assert error.reason
            assert "\n" not in str(error)
        else:
            assert isinstance(title, str)
            assert isinstance(text, str)


def rewritten(data, change):
    """An archive with every part changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return archive({name: change(file.read(name).decode()) for name in file.namelist()})


@pytest.mark.parametrize("entities", ENTITIES)
@pytest.mark.parametrize("kind", XML)
def test_entities_are_neither_expanded_nor_fetched(kind, entities):
    made = rewritten(WHOLE[kind], lambda part: part if part.startswith("app") else f"{entities}{part}")
    with pytest.raises(UnreadableError, match="declares the entity 'a', which is not read") as error:
        read_here(kind, made)
    assert error.value.reason == "XML entities"


@pytest.mark.parametrize("kind", XML)
def test_elements_that_are_nested_without_end_are_refused(kind):
    made = rewritten(WHOLE[kind], lambda part: "<a>" * 100_000)
    with pytest.raises(UnreadableError, match=r"1,000 elements are inside each other|no part 'content"):
        read_here(kind, made)


@pytest.mark.parametrize("kind", ["docx", "epub", "opendocument"])
def test_an_archive_bomb_is_refused_and_not_held(kind):
    bomb = b" " * (300 << 20)
    parts = {
        "docx": {"_rels/.rels": relations(("officeDocument", "a")), "a": bomb},
        "epub": {"META-INF/container.xml": bomb},
        "opendocument": {"content.xml": bomb},
    }
    made = archive(parts[kind])
    assert len(made) < 1 << 20
    del bomb, parts
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableError) as error:
            read_here(kind, made)
        assert error.value.reason == "archive bomb"
        assert tracemalloc.get_traced_memory()[1] < MOST_HELD
    finally:
        tracemalloc.stop()


def test_many_parts_together_are_too_large(monkeypatch):
    monkeypatch.setattr(archives, "LARGEST", 50_000)
    page = "<p>" + "mot " * 5_000
    with pytest.raises(UnreadableError) as error:
        read_here("epub", epub({f"{number}.xhtml": page for number in range(9)}))
    assert error.value.reason == "too large"


def test_a_shared_string_that_is_used_a_thousand_times_does_not_fill_the_memory():
    made = xlsx({"A": ['<c t="s"><v>0</v></c>'] * 1_000}, [f"<t>{'x' * 500_000}</t>"])
    with pytest.raises(UnreadableError) as error:
        read_here("xlsx", made)
    assert error.value.reason == "too large"


def test_parts_outside_of_the_archive_are_not_read():
    made = epub({"../../../../etc/passwd": "x"})
    assert read_here("epub", made)[1] in ("", "x")
    outside = {"word/_rels/document.xml.rels": relations(("styles", "/etc/passwd"), ("footnotes", "../../etc/passwd"))}
    assert read_here("docx", docx(paragraph("a"), **outside)) == ("", "a")


@pytest.mark.parametrize(
    "data",
    [
        b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n" * 30_000,
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 20_000,
        b"Subject: " + b"=?utf-8?q?a?= " * 50_000 + b"\n\nx",
        b"Subject: " + b"(" * 200_000 + b"\n\nx",
        b"a" * 1_000_000,
        b"From: a\n" * 100_000,
        b"Content-Type: text/plain; charset=idna\n\n" + b"a." * 100_000,
        b"Content-Transfer-Encoding: uuencode\nContent-Type: text/plain\n\nbegin 666 a\n" + b"M" * 100_000,
    ],
    ids=range(8),
)
def test_odd_messages_end_soon(data, reader):
    try:
        reader.read("mail", data)
    except UnreadableError as error:
        assert error.reason in ("damaged", "takes too long")


def test_a_file_that_takes_too_long_is_skipped_and_the_next_is_read(monkeypatch):
    quick = IsolatedReader(seconds=0.000_001)
    try:
        with pytest.raises(UnreadableError) as error:
            quick.read("mail", b"Subject: a\n\n" + b"a\n" * 500_000)
        assert error.value.reason == "takes too long"
        quick._seconds = 20
        assert quick.read("mail", mail())[0] == "Tea"
    finally:
        quick.close()


def test_a_process_that_ends_makes_its_file_unreadable_and_is_replaced():
    made = IsolatedReader()
    try:
        assert made.read("mail", mail())[0] == "Tea"
        process = made._process
        process.kill()
        process.wait()
        with pytest.raises(UnreadableError):
            made.read("mail", mail())
        assert made.read("mail", mail())[0] == "Tea"
    finally:
        made.close()


def test_the_process_can_write_no_file():
    limits = isolated._limit.__code__.co_names
    assert "RLIMIT_FSIZE" in limits
    assert "RLIMIT_AS" in limits


def test_without_the_extra_pdf_is_skipped_with_the_way_to_install_it(monkeypatch):
    from isogloss.storage.errors import MissingExtraError

    def missing(package, extra, purpose):
        raise MissingExtraError(package, extra, purpose)

    monkeypatch.setattr("isogloss.data.readers.files.pdf.import_extra", missing)
    with pytest.raises(UnreadableError, match=r"pip install 'isogloss\[documents\]'") as error:
        kinds.read_here("pdf", WHOLE["pdf"])
    assert error.value.reason == "extra not installed"


def test_a_folder_of_such_files_is_indexed_and_tells_what_was_skipped(tmp_path, capsys, reader):
    chance = random.Random(1)
    for kind, data in WHOLE.items():
        ending = ENDINGS.get(kind, f".{kind}")
        (tmp_path / f"whole{ending}").write_bytes(data)
        (tmp_path / f"cut{ending}").write_bytes(data[: len(data) // 2])
        (tmp_path / f"changed{ending}").write_bytes(changed(data, chance))
    (tmp_path / "secret.pdf").write_bytes(pdf(["x"], encrypted=True))
    (tmp_path / "picture.png").write_bytes(b"x")
    (tmp_path / "clear.txt").write_text("Der Bäcker backt das Brot am frühen Morgen, und die Leute kaufen es gern.")
    problems = Problems()
    found = {document.id for _, document in open_source(f"folder:{tmp_path}").all_documents(problems)}
    assert found >= {f"whole{ENDINGS.get(kind, f'.{kind}')}" for kind in WHOLE}
    skipped = {reason: len(files) for reason, files in problems.skipped_by_reason().items()}
    assert skipped["encrypted"] == 1
    assert skipped["damaged"] >= 5
    assert sum(skipped.values()) + len(found) == 3 * len(WHOLE) + 3
    assert main(["index", str(tmp_path), "--system", "bm25", "-o", str(tmp_path.parent / "ix")]) == 0
    told = capsys.readouterr().err
    assert "1 encrypted (secret.pdf)" in told
    assert f"all of them: isogloss data show {tmp_path}" in told
    assert main(["data", "show", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "secret.pdf: is encrypted; save it without a password" in shown
    assert "1 .png" in shown
