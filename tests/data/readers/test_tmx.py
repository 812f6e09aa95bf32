"""Translation memories (TMX) as parallel text."""

from __future__ import annotations

import gzip

import pytest

from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError

UNITS = """<tu><tuv xml:lang="en-US"><seg>The <bpt i="1">&lt;b&gt;</bpt>bees<ept i="1"/> &amp; <hi>honey</hi></seg>
</tuv><tuv xml:lang="ES"><seg>Las abejas y la miel</seg></tuv></tu>
<tu><tuv lang="en"><seg>only English</seg></tuv></tu>
<tu><tuv xml:lang="es"><prop>x</prop><seg>Sí</seg></tuv><tuv xml:lang="en"><seg>Yes</seg></tuv></tu>
"""
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
{}</body></tmx>
"""


@pytest.fixture
def texts(put):
    def read(content, pair=("en", "es")):
        source = open_source(str(put({"memory.tmx": content}) / "memory.tmx"))
        return [(location.line, each) for location, each in source.parallel(pair, Problems())]

    return read


def test_units_with_both_languages_are_pairs(texts):
    assert texts(TMX.format(UNITS)) == [(4, ("The bees & honey", "Las abejas y la miel")), (7, ("Yes", "Sí"))]
    assert texts(TMX.format(UNITS), ("es", "en"))[1] == (7, ("Sí", "Yes"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_of_xml(texts, encoding):
    declared = "UTF-8" if encoding == "utf-8-sig" else encoding.upper()
    content = TMX.format(UNITS).replace("UTF-8", declared).replace("\n", "\r\n").encode(encoding)
    assert [pair for _, pair in texts(content)] == [("The bees & honey", "Las abejas y la miel"), ("Yes", "Sí")]
    assert len(texts(gzip.compress(content))) == 2


def test_a_language_that_is_not_there_is_an_error(texts):
    with pytest.raises(
        InputError, match=r"tmx: has no translation unit in en and fr; languages here: ES, en, en-US, es"
    ):
        texts(TMX.format(UNITS), ("en", "fr"))
    with pytest.raises(InputError, match=r"languages here: none"):
        texts(TMX.format(""))


BOMB = '<!DOCTYPE tmx [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in ("ab", "bc", "cd", "de", "ef", "fg", "gh", "hi")
)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (f"<?xml version='1.0'?>\n{BOMB}]><tmx><seg>&i;</seg></tmx>", r"tmx:2: declares the entity 'a'"),
        ('<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx>&x;</tmx>', r"tmx:1: declares the entity 'x'"),
        ('<!DOCTYPE tmx [<!ENTITY % x SYSTEM "http://x/y"> %x;]><tmx/>', r"tmx:1: declares the entity 'x'"),
        (TMX.format(UNITS)[:-20], r"tmx:7: not well-formed XML \(no element found\); make"),
        (TMX.format(UNITS).replace("</seg>", "</sog>", 1), r"tmx:4: not well-formed XML \(mismatched tag\)"),
        ("", r"not well-formed XML \(no element found\)"),
        ("hello", r"tmx:1: not well-formed XML"),
        ("<html><p>x</p></html>", r"tmx:1: begins with <html>, not with <tmx>"),
        ("<tmx>" * 100, r"tmx:1: more than 64 elements are inside each other"),
        (TMX.format("<tu><tuv><seg>" + "x" * 300_000), r"tmx:4: a translation unit has more than 262,144 characters"),
        (TMX.format(UNITS).encode().replace(b"bees", b"\xff\xff"), r"tmx:4: not well-formed XML"),
        (TMX.format(UNITS).replace("UTF-8", "klingon"), r"tmx: unknown encoding: klingon; convert the file to UTF-8"),
        (gzip.compress(TMX.format(UNITS).encode())[:60], r"a damaged gzip archive"),
    ],
    ids=[
        "bomb",
        "file",
        "parameter",
        "cut off",
        "tags",
        "empty",
        "text",
        "html",
        "deep",
        "long",
        "bytes",
        "encoding",
        "gz",
    ],
)
def test_a_damaged_or_hostile_file_is_an_error_in_one_line(texts, content, error):
    with pytest.raises(InputError, match=error) as raised:
        texts(content)
    assert "\n" not in str(raised.value)
