"""Titles and structured texts out of files of each kind."""

from __future__ import annotations

import pytest
from tests.data.readers.files.making import archive, docx, epub, mail, odt, paragraph, pdf, pptx, xlsx

from isogloss.data.readers.files.blocks import UnreadableError
from isogloss.data.readers.files.isolated import IsolatedReader
from isogloss.data.readers.files.kinds import read_here


def test_a_word_document_keeps_headings_lists_and_tables():
    cell = "<w:tc>{}</w:tc>".format
    body = (
        paragraph("Der Titel", "Titel") + paragraph("Teil & Ganzes", "berschrift2") + paragraph("Ein Absatz.")
        + paragraph("Punkt", within="<w:numPr/>")
        + f"<w:tbl><w:tr>{cell(paragraph('a'))}{cell(paragraph('b') + paragraph('c'))}</w:tr></w:tbl>"
        + "<w:p><w:r><w:t>eins</w:t><w:br/><w:t>zwei</w:t></w:r><w:del><w:delText>weg</w:delText></w:del></w:p>"
        + "<mc:AlternateContent><mc:Choice>" + paragraph("im Kasten") + "</mc:Choice><mc:Fallback>"
        + paragraph("im Kasten") + "</mc:Fallback></mc:AlternateContent>"
    )  # fmt: skip
    notes = {"word/footnotes.xml": f'<w:footnotes xmlns:w="w">{paragraph("Eine Fußnote.")}</w:footnotes>'}
    assert read_here("docx", docx(body, **notes)) == (
        "Der Titel",
        "## Teil & Ganzes\n\nEin Absatz.\n\n- Punkt\n\na | b c\n\neins zwei\n\nim Kasten\n\nEine Fußnote.",
    )


def test_the_title_of_a_document_without_headings_is_that_of_its_properties():
    properties = '<p xmlns:dc="dc"><dc:title>From the properties</dc:title></p>'
    made = docx(paragraph("Text."), **{"docProps/core.xml": properties})
    assert read_here("docx", made) == ("From the properties", "Text.")


def test_slides_come_in_the_order_of_the_presentation_with_their_notes():
    made = pptx(("First", "one"), ("Second", "two"))
    assert read_here("pptx", made) == ("First", "one\n\n## Second\n\ntwo\n\nA note.")


def test_a_workbook_has_sheets_and_rows():
    rows = [
        '<c t="s"><v>1</v></c><c t="inlineStr"><is><t>Menge</t></is></c><c/><c t="b"><v>1</v></c>',
        '<c t="str"><f>A1</f><v>Summe</v></c><c><v>0.30000000000000004</v></c><c t="s"><v>99</v></c>',
    ]
    made = xlsx({"Lager": rows, "Leer": []}, ["<t>x</t>", "<r><t>Tee</t></r><r><t>blatt</t></r><rPh><t>y</t></rPh>"])
    assert read_here("xlsx", made)[1] == "## Lager\n\nTeeblatt | Menge | TRUE\nSumme | 0.3\n\n## Leer"


def test_opendocument_keeps_headings_lists_and_tables():
    body = (
        '<text:h text:outline-level="2">Teil</text:h><text:p>Ein<text:s/>Absatz<text:line-break/>hier.</text:p>'
        "<text:list><text:list-item><text:p>Punkt</text:p></text:list-item></text:list>"
        "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>"
    )
    assert read_here("opendocument", odt(body, "Ein Titel")) == (
        "Ein Titel", "## Teil\n\nEin Absatz hier.\n\n- Punkt\n\na | b"
    )  # fmt: skip


def test_a_book_has_its_chapters_in_order_and_nothing_else():
    chapters = {
        "b%20c.xhtml": "<html><head><title>x.xhtml</title></head><body><h1>One</h1><p>first</p></body></html>",
        "a.xhtml": "<h1>Two</h1><pre>code  here</pre>",
    }
    parts = {"OEBPS/b c.xhtml": chapters["b%20c.xhtml"], "OEBPS/not-in-the-spine.xhtml": "<p>no</p>"}
    assert read_here("epub", epub(chapters, "Tea & Milk".replace("&", "&amp;"), **parts)) == (
        "Tea & Milk", "# One\n\nfirst\n\n# Two\n\n```\ncode  here\n```"
    )  # fmt: skip


def test_a_message_has_its_subject_and_text_once_and_names_attachments():
    title, text = read_here("mail", mail("Tee für zwei 茶", "Komm um fünf.\n\nBis dann!"))
    assert title == "Tee für zwei 茶"
    assert text == "From: Ann <ann@example.org>\nTo: bob@example.org\n\nKomm um fünf.\n\nBis dann!\n\n- cup.png"


def test_a_page_of_html_in_a_message_is_read_where_there_is_no_plain_text():
    made = b"Subject: =?utf-8?q?T=C3=A9?=\nContent-Type: text/html; charset=no-such\n\n<h1>T</h1><p>hot</p>"
    assert read_here("mail", made) == ("Té", "hot")


@pytest.fixture(scope="module")
def reader():
    pytest.importorskip("pypdfium2")
    made = IsolatedReader()
    yield made
    made.close()


def test_lines_of_pdf_pages_become_paragraphs_without_what_repeats(reader):
    long = "A line of text that is about as long as all the others of it"
    pages = [
        [f"Manual {n}", f"{word} {long}", long, "ends here.", f"{word} {long}", "short", f"Page {n} of 9"]
        for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    ]
    title, text = reader.read("pdf", pdf(*pages, title="A manual"))
    assert title == "A manual"
    assert text.startswith(f"one {long} {long} ends here.\n\none {long}")
    assert "Manual" not in text
    assert "of 9" not in text


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (pdf(["secret"], encrypted=True), "encrypted"), (pdf([]), "no text"), (b"%PDF-1.4 nothing", "damaged"),
        (b"", "damaged"),
    ],
)  # fmt: skip
def test_a_pdf_without_text_says_why(made, reason, reader):
    with pytest.raises(UnreadableError) as error:
        reader.read("pdf", made)
    assert error.value.reason == reason


@pytest.mark.parametrize(
    ("kind", "made", "reason"),
    [
        ("docx", b"\xd0\xcf\x11\xe0" + b"x" * 600, "encrypted"),
        ("docx", archive({"a.txt": "x"}), "damaged"),
        ("epub", archive({"META-INF/container.xml": "<a/>"}), "damaged"),
        ("opendocument", archive({"META-INF/manifest.xml": "<m><encryption-data/></m>"}), "encrypted"),
        ("epub", epub({"a.xhtml": "x"}, **{"META-INF/encryption.xml": '<e><c URI="OEBPS/a.xhtml"/></e>'}), "encrypted"),
        ("xlsx", b"PK\x03\x04", "damaged"),
        ("mail", b"", "damaged"),
        ("text", "Où êtes-vous ?".encode("latin-1"), "unknown character set"),
        ("html", b"<p>\x00", "binary"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(kind, made, reason):
    with pytest.raises(UnreadableError) as error:
        read_here(kind, made)
    assert error.value.reason == reason
    assert "\n" not in str(error.value)
