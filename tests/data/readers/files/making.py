"""Tiny files of each kind, made of text."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def archive(parts, method=zipfile.ZIP_DEFLATED):
    """A ZIP archive of names and texts."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return made.getvalue()


def relations(*targets):
    """Relations r0, r1, … of a part: kind and target of each."""
    rows = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets)
    )
    return f'<Relationships xmlns="{_RELATIONS}">{rows}</Relationships>'


def docx(body, **parts):
    """A document of Word with this body."""
    styles = "".join(
        f'<w:style w:styleId="{id_}"><w:name w:val="{name}"/></w:style>'
        for id_, name in (("berschrift1", "heading 1"), ("berschrift2", "heading 2"), ("Titel", "Title"))
    )
    return archive(
        {
            "_rels/.rels": relations(("officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": relations(("styles", "styles.xml"), ("footnotes", "footnotes.xml")),
            "word/styles.xml": f'<w:styles xmlns:w="w">{styles}</w:styles>',
            "word/document.xml": f'<w:document xmlns:w="w" xmlns:mc="mc"><w:body>{body}</w:body></w:document>',
            **parts,
        }
    )


def paragraph(text, style="", within=""):
    """A paragraph of Word."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/>{within}</w:pPr>' if style or within else ""
    return f"<w:p>{named}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def pptx(*slides):
    """A presentation: title and text of each slide; the first is stored last."""
    parts = {
        "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": relations(
            *(("slide", f"slides/slide{len(slides) - n}.xml") for n in range(len(slides)))
        ),
        "ppt/presentation.xml": '<p:presentation xmlns:p="p" xmlns:r="' + _OFFICE + '"><p:sldIdLst>'
        + "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(len(slides)))
        + "</p:sldIdLst></p:presentation>",
    }  # fmt: skip
    for number, (title, text) in enumerate(slides):
        shapes = "".join(
            f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
            f"<p:txBody><a:p><a:r><a:t>{escape(words)}</a:t></a:r></a:p></p:txBody></p:sp>"
            for kind, words in (("title", title), ("body", text), ("sldNum", "17"))
        )
        name = f"ppt/slides/slide{len(slides) - number}.xml"
        parts[name] = f'<p:sld xmlns:p="p" xmlns:a="a"><p:cSld>{shapes}</p:cSld></p:sld>'
    parts["ppt/slides/_rels/slide1.xml.rels"] = relations(("notesSlide", "../notesSlides/notesSlide1.xml"))
    parts["ppt/notesSlides/notesSlide1.xml"] = (
        '<p:notes xmlns:p="p" xmlns:a="a"><a:p><a:t>A note.</a:t></a:p></p:notes>'
    )
    return archive(parts)


def xlsx(sheets, shared=()):
    """A workbook: name of each sheet to its rows of cells, as XML."""
    names = list(sheets)
    return archive(
        {
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
            "xl/_rels/workbook.xml.rels": relations(
                *(("worksheet", f"worksheets/sheet{n}.xml") for n in range(len(names))),
                ("sharedStrings", "sharedStrings.xml"),
            ),
            "xl/workbook.xml": f'<workbook xmlns="x" xmlns:r="{_OFFICE}"><sheets>'
            + "".join(f'<sheet name="{name}" r:id="r{n}"/>' for n, name in enumerate(names))
            + "</sheets></workbook>",
            "xl/sharedStrings.xml": '<sst xmlns="x">' + "".join(f"<si>{each}</si>" for each in shared) + "</sst>",
            **{
                f"xl/worksheets/sheet{n}.xml": '<worksheet xmlns="x"><sheetData>'
                + "".join(f"<row>{row}</row>" for row in sheets[name])
                + "</sheetData></worksheet>"
                for n, name in enumerate(names)
            },
        }
    )


def odt(body, title=""):
    """A text of OpenDocument."""
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f'<o:d xmlns:o="o" xmlns:text="t" xmlns:table="tb">{body}</o:d>',
            "meta.xml": f'<o:m xmlns:o="o" xmlns:dc="dc"><dc:title>{title}</dc:title></o:m>',
        }
    )


def epub(chapters, title="A book", **parts):
    """A book: names of chapters to pages; they are read in this order."""
    items = "".join(f'<item id="{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in chapters)
    spine = "".join(f'<itemref idref="{n}"/>' for n in chapters)
    return archive(
        {
            "META-INF/container.xml": '<container><rootfile full-path="OEBPS/a.opf"/></container>',
            "OEBPS/a.opf": f'<package xmlns:dc="d"><metadata><dc:title>{title}</dc:title></metadata>'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OEBPS/{name}": page for name, page in chapters.items()},
            **parts,
        }
    )


def pdf(*pages, title="", encrypted=False):
    """A PDF of pages of ASCII lines."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        text = " T* ".join(f"({line}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {text} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    objects.append(f"<< /Title ({title}) >>")
    trailer = f"/Root 1 0 R /Info {len(objects)} 0 R"
    if encrypted:
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -1 /O <{'41' * 32}> /U <{'42' * 32}> >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<00><00>]"
    made, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    start = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return (made + f"trailer << /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n").encode()


def mail(subject="Tea", text="Come at five.", **others):
    """A message with a text, its page and a picture."""
    from email.message import EmailMessage

    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Ann <ann@example.org>", "bob@example.org"
    message.set_content(text)
    message.add_alternative(f"<p>{text}</p>", subtype="html")
    message.add_attachment(b"x", maintype="image", subtype="png", filename=others.get("filename", "cup.png"))
    return message.as_bytes()
