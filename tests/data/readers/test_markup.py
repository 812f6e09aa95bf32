"""Titles and words out of Markdown and HTML."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.readers.files.html import read_html
from isogloss.data.readers.files.markdown import read_markdown
from isogloss.text.tokenizer import tokenize


@pytest.mark.parametrize(
    ("markdown", "title", "text"),
    [
        ("---\ntitle: 'Green tea'\ndate: 2020\n---\n# Leaves\nare *boiled*", "Green tea", "# Leaves\n\nare boiled"),
        ("---\ndate: 2020\n...\n\n# Leaves #\nboiled", "Leaves", "boiled"),
        ("# In C# ##  \nwritten", "In C#", "written"),
        ("---\n---\n# Leaves\nboiled", "Leaves", "boiled"),
        ("Leaves\n======\n\nboiled", "Leaves", "boiled"),
        ("# The `kettle` of **Ann**\nwhistles", "The kettle of Ann", "whistles"),
        ("intro\n\n## Part\n\ntext", "", "intro\n\n## Part\n\ntext"),
        ("see [the leaf](leaf.md) and [a root][r] ![picture](p.png)", "", "see the leaf and a root"),
        ("- one\n* two\n1. three\n2) four\n> five", "", "- one\n- two\n- three\n- four five"),
        ("3.14 is less than 4.\n-5 is cold", "", "3.14 is less than 4. -5 is cold"),
        ("| a | b |\n|---|:-:|\n| c | d |", "", "a | b\nc | d"),
        ("```python\nx_y = 1\n```", "", "```\nx_y = 1\n```"),
        ("<b>bold</b> <!-- not\nseen --> R&amp;D __init__ un_der", "", "bold R&D init un_der"),
        ("这是**重点**内容", "", "这是重点内容"),
    ],
)
def test_markdown_gives_a_title_and_its_words(markdown, title, text):
    found_title, found_text = read_markdown(markdown)
    assert found_title == title
    assert found_text == text


@pytest.mark.parametrize(
    ("html", "title", "text"),
    [
        ("<html><head><title>Tea &amp; milk</title><style>p{}</style></head><body>hot</body>", "Tea & milk", "hot"),
        ("<title>Tea</title><h1>Leaves</h1><p>hot</p>", "Tea", "# Leaves\n\nhot"),
        ("<h1>Leaves</h1><p>hot</p><h1>More</h1>", "Leaves", "hot\n\n# More"),
        ("<p>a<script>if (a < b) alert('no')</script>b</p><noscript>no</noscript>", "", "a b"),
        ("<p>caf&eacute; &#8212; th&#xe9;</p>", "", "café — thé"),
        ("<p>H<sub>2</sub>O <b>w</b>ord<br>next<br/>last</p><p>end", "", "H2O word next last\n\nend"),
        ("<ul><li>one<li>two</ul><table><tr><td>a</td><td>b</td></tr></table>", "", "- one\n- two\n\na | b"),
        ("<h1><img src='x.png'> Leaves<br>of tea</h1><p>hot", "Leaves of tea", "hot"),
        ("<h1>Leaves<p>hot<p>drink", "Leaves", "hot\n\ndrink"),
        ("<template><h1>no</h1><title>no</title></template><h1>yes</h1>x", "yes", "x"),
        ("<title>Tea</title><svg><title>icon</title></svg>hot", "Tea", "hot"),
        ("<script>//<![CDATA[\nx\n//]]></script><p>seen</p><![if !IE]><p>too</p>", "", "seen\n\ntoo"),
        ("<!-- no --><p>yes</p>", "", "yes"),
        ("", "", ""),
    ],
)
def test_html_gives_a_title_and_the_visible_words(html, title, text):
    assert read_html(html) == (title, text)


@settings(max_examples=50, deadline=None)
@given(st.text(st.sampled_from("<>!/[]()-#*_`|&;='\"\\ \nabh1é中") | st.characters(codec="utf-8")))
def test_no_text_is_too_odd_for_the_readers(text):
    for title, body in (read_html(text), read_markdown(text)):
        assert title == title.strip()
        assert body == body.strip()


@settings(max_examples=33, deadline=None)
@given(st.lists(st.text("abcdéñ中文", min_size=1, max_size=8), min_size=1))
def test_plain_words_survive_both_readers(words):
    text = " ".join(words)
    assert tokenize(read_html(f"<p>{text}</p>")[1]) == tokenize(text)
    assert tokenize(read_markdown(text)[1]) == tokenize(text)
