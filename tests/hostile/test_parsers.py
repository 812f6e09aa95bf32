"""Markup that is written to be slow: a reader of quadratic time needs hours for these, and is ended by the timeout."""

from __future__ import annotations

import os
import random

import pytest

from isogloss.data.dataset import load_collection
from isogloss.data.problems import Problems
from isogloss.data.readers.files.html import read_html
from isogloss.data.readers.files.markdown import read_markdown
from isogloss.data.readers.files.rst import read_rst
from isogloss.data.readers.gettext import read_po
from isogloss.data.readers.messages import plain_message
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError

SIZE = 200_000  # characters
MIXED = 100 if "ISOGLOSS_HOSTILE" in os.environ else 6  # `make soak` tries more
pytestmark = pytest.mark.timeout(60)

HTML = (
    '<a href="', "<a href='x", "<div>", "<b>", "<p>", "<svg>", "<template><svg>", "<!--", "<!-", "<!--->", "<![CDATA[",
    "<!", "<?", "</", "<", "&", "&amp;", "&#x41", "&#1", "<a b=", "<a b=c=", "\0<p>", "<table><tr><td>", "<script>",
    "<script/>", "<title>x", "</b></p>", "<style>", "<textarea>", "<x =",
)  # fmt: skip
MARKDOWN = (
    "[a](", "[", "]", "[[]", "![", "![a](", "[a](b", "[a](<", '[a](b "', "[a]((", "[a][", "*", "_", "*a ", "a_", "*a_",
    "**a *b ", "a**b", "`", "a`", "``a`", "<", "<a", "<!--", "<!-- -", "<a href=", "> ", ">", "- ", "1. ", "1",
    "# ", "#", " #", "a\n=\n", "=\n", "---\n", "--- \n", "```\n", "|a", "a|b\n-|-\n", "&", "&#1", "\\",
    "    a\n", "[a]: b\n", " ", "\t", "{{< a >}}", "{{<", "{{", "{a}`", "{a}`b <", "{/*", "{#", ":::a\n", ":::\n",
    "!!! a\n", '=== "a"\n', "[[", "[[a|", "[^", "<A b='", "+++\n", "```{a}\n:b: c\n", "import a\n", "a\n---\n", "海\n",
    "{{< highlight >}}\n", ">", "\n", "%\n", "(a)=\n",
)  # fmt: skip
RST = (
    "=", "==\n", "a\n==\n", "a\n", ".. ", ".. a::\n", ".. a:: b\n   :c: d\n", ".. _a:\n", "::\n", " ::\n", "  a::\n",
    ":a:", ":a:`", ":a:`b <", "`", "``", "`a <", "*", "a*", "**a", "_", "a_", "a__ ", "|", "|a", "[a]_", "[", "\\",
    ">>> a\n", "* a\n", "1. ", "#. ", "+--+\n", "| a |\n", " " * 40 + "a\n", "\t", ":a: b\n", ".. |a| replace:: b\n",
    ".. [1] a\n",
)  # fmt: skip


@pytest.mark.parametrize("part", HTML)
def test_html_is_read_in_linear_time(part):
    for text in (part * (SIZE // len(part)), "x" + part * (SIZE // len(part)) + "y"):
        assert len(read_html(text)[1]) <= len(text)


@pytest.mark.parametrize("part", MARKDOWN)
def test_markdown_is_read_in_linear_time(part):
    for text in (part * (SIZE // len(part)), "x" + part * (SIZE // len(part)) + "y"):
        assert len(read_markdown(text)[1]) <= 3 * len(text)


@pytest.mark.parametrize("part", RST)
def test_restructured_text_is_read_in_linear_time(part):
    for text in (part * (SIZE // len(part)), "x" + part * (SIZE // len(part)) + "y"):
        assert len(read_rst(text)[1]) <= 3 * len(text)


@pytest.mark.parametrize(
    ("opened", "closed"), [("<div>", "</p>"), ("<svg>", "</template>"), ("<b>", "</div>"), ("<template>", "</svg>")]
)
def test_open_elements_are_not_searched_at_each_tag(opened, closed):
    assert read_html(opened * 60_000 + closed * 60_000 + "seen")[1] in ("seen", "")


def test_parts_of_markup_in_any_order():
    chance = random.Random(18)
    for _ in range(MIXED):
        few = chance.sample(HTML + MARKDOWN + RST, 3)
        text = "".join(chance.choices(few, k=SIZE // 8))
        for title, body in (read_html(text), read_markdown(text), read_rst(text)):
            assert len(title) + len(body) <= 4 * len(text)


def test_a_character_reference_with_thousands_of_digits_is_no_number():
    for digits in ("1" * 5_000, "x" + "f" * 5_000):
        assert read_html(f"<p>a &#{digits}; b</p>")[1] == "a \N{REPLACEMENT CHARACTER} b"
        assert read_markdown(f"a &#{digits}; b")[1] == "a \N{REPLACEMENT CHARACTER} b"


def test_what_is_not_closed_ends_with_the_page_as_in_browsers():
    assert read_html("<p>seen<!-- not <p>seen")[1] == "seen"
    assert read_html('<p>seen<a href="not <p>seen')[1] == "seen"
    assert read_html("<p>seen<script>not <p>seen")[1] == "seen"
    assert read_html("<p>1 < 2 and 3 > 2<p")[1] == "1 < 2 and 3 > 2"
    assert read_markdown("a <!-- is kept, since nothing closes it")[1] == "a <!-- is kept, since nothing closes it"


def test_catalogues_are_read_in_linear_time(tmp_path):
    many = '"a"\n' * (SIZE // 4)
    (tmp_path / "fr.po").write_text(f'msgid "sea"\nmsgstr ""\n{many}')
    pairs = read_po(tmp_path / "fr.po", Problems())
    assert [len(translation) for _, (_, translation) in pairs] == [SIZE // 4]


@pytest.mark.parametrize("part", ["%0", "0", " ", "%s", "%(a", "{a", "<a", "&a", " (_", "_"])
def test_messages_are_cleaned_in_linear_time(part):
    for text in (part * (SIZE // len(part)), "%" + part * (SIZE // len(part)) + "!"):
        assert len(plain_message(text)) <= len(text)


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "undefined", "rot13", "zlib", "no-such"])
def test_a_character_set_that_is_none_of_text_is_refused(charset, tmp_path):
    (tmp_path / "fr.po").write_text(f'msgid ""\nmsgstr "Content-Type: text/plain; charset={charset}\\n"\n')
    with pytest.raises(InputError, match=r"fr\.po: the character set '.*' is not known"):
        list(read_po(tmp_path / "fr.po", Problems()))


@pytest.mark.parametrize("part", ["<top", "<top>", "<num>a\n", "a\n", "<title", "< ", "&#1"])
def test_topics_are_read_in_linear_time(part, tmp_path):
    (tmp_path / "topics.txt").write_text("<top><num>1<title>" + part * (SIZE // len(part)))
    found = open_source(f"trec:{tmp_path}").queries("en", Problems(stop_at_errors=False))
    assert len(list(found)) <= SIZE // len(part) + 1


def test_a_translation_memory_in_small_pieces_is_read_in_linear_time(tmp_path):
    pieces = "<hi>a</hi>" * (SIZE // 10)
    unit = f'<tu><tuv xml:lang="en"><seg>{pieces}</seg></tuv><tuv xml:lang="fr"><seg>b</seg></tuv></tu>'
    (tmp_path / "a.tmx").write_text(f"<tmx><body>{unit}</body></tmx>")
    [(_, (text, _))] = open_source(f"tmx:{tmp_path / 'a.tmx'}").parallel(("en", "fr"), Problems())
    assert len(text) == SIZE // 10


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE tmx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE tmx [<!ENTITY % a SYSTEM "http://localhost/">%a;]>',
    ],
)
def test_entities_are_neither_expanded_nor_fetched(head, tmp_path):
    (tmp_path / "a.tmx").write_text(f"{head}<tmx><body><tu><tuv xml:lang='en'><seg>&a;</seg></tuv></tu></body></tmx>")
    with pytest.raises(InputError, match="declares the entity 'a', which is not read"):
        load_collection(open_source(f"tmx:{tmp_path / 'a.tmx'}"), "en")
