"""Markdown of Hugo, Docusaurus, MkDocs and MyST, reStructuredText of Sphinx, and pages with menus."""

from __future__ import annotations

import pytest

from isogloss.data.readers.files.html import declared_charset, read_html
from isogloss.data.readers.files.markdown import read_front_matter, read_markdown
from isogloss.data.readers.files.rst import read_rst

MARKDOWN = {
    "hugo": (
        '+++\ntitle = "Tea"\ndraft = true\n+++\n{{% notice note %}}\nHot *drink*.\n{{% /notice %}}\n\n'
        '{{< tab name="Linux" >}}\nBoil {{< ref "x.md" >}} water.\n{{< /tab >}}\n\n'
        "{{< highlight go >}}\na * b\n{{< /highlight >}}",
        ("Tea", "Hot drink.\n\nLinux Boil water.\n\n```\na * b\n```"),
    ),
    "docusaurus": (
        "---\ntitle: 'Tea'\nid: x\n---\nimport Tabs from '@theme/Tabs';\n\n## Parts {#parts}\n\n:::note[Careful]\n\n"
        "It is **hot**.\n\n:::\n\n:::tip A hint\nWait.\n:::\n\n<Tabs>\n<TabItem value='a' label='Apple'>\n\nfruit\n\n"
        "</TabItem>\n</Tabs>\n\n{/* not seen */}",
        ("Tea", "## Parts\n\nCareful\n\nIt is hot.\n\nA hint\n\nWait.\n\nApple\n\nfruit"),
    ),
    "mkdocs": (
        '# Tea\n\n!!! warning "It is hot"\n    Wait a\n    minute.\n\n    ``` py\n    x = 1\n'
        '    ```\n\n??? note\n    Hidden.\n\n'
        '=== "C"\n\n    One.\n\n=== "Rust"\n\n    Two. [Button](x){ .md-button }\n\n[TOC]\n--8<-- "x.md"\n',
        ("Tea", "It is hot\n\nWait a minute.\n\n```\nx = 1\n```\n\nHidden.\n\nC\n\nOne.\n\nRust\n\nTwo. Button"),
    ),
    "myst": (
        "(tea)=\n# Tea\n\n```{note} Hot\n:class: x\n\nSee {ref}`the leaves <leaf>` and {doc}`milk`.\n```\n\n"
        ":::{tip}\nWait.\n:::\n\n```{code-block} python\n:linenos:\n\nx = 1\n```\n\n"
        "```{toctree}\na\nb\n```\n\n% a comment\nEnd[^1].\n",
        ("Tea", "Hot\n\nSee the leaves and milk.\n\nWait.\n\n```\nx = 1\n```\n\nEnd ."),
    ),
    "github": (
        "# Tea\n\n> [!NOTE]\n> Hot.\n\n    indented  code\n\n- [x] boil\n- pour\n  slowly\n\n"
        "<details><summary>More</summary>\n\nmilk\n</details>",
        ("Tea", "Hot.\n\n```\nindented  code\n```\n\n- boil\n- pour slowly\n\nMore\n\nmilk"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("dialect", MARKDOWN)
def test_the_text_of_a_dialect_is_kept_and_its_markers_are_gone(dialect):
    text, (title, body) = MARKDOWN[dialect]
    assert read_markdown(text) == (title, body)


def test_values_of_front_matter_in_toml_and_yaml():
    assert read_front_matter('+++\ntitle = "Tea"\n+++\n') == read_front_matter("---\ntitle: Tea\n---\n")
    assert read_front_matter("---\nno end") == {}


def test_restructured_text_of_sphinx():
    text = """\
.. _tea:

===
Tea
===

:Author: Ann

.. note:: Hot
   :class: x

   A *drink* of :ref:`leaves <leaf>`, ``milk`` and `sugar <https://example.org>`_ [1]_.

.. py:function:: boil(water, *, pot=None)
   :module: kitchen

   Boils |it|; see :class:`~kitchen.Pot` and __init__::

       boil(1)

          indented

.. toctree::
   :maxdepth: 2

   a
   b

.. a comment
   of two lines

Parts
-----

* one
  more
* two

.. code-block:: python
   :linenos:

   x = 1

>>> boil()
'hot'

=====  =====
Leaf   Price
=====  =====
green  1
=====  =====

.. [1] A footnote.
"""
    assert read_rst(text) == (
        "Tea",
        "Author: Ann\n\nHot\n\nA drink of leaves, milk and sugar .\n\nboil(water, *, pot=None)\n\n"
        "Boils it; see kitchen.Pot and __init__:\n\n```\nboil(1)\n\n   indented\n```\n\n"
        "## Parts\n\n- one more\n- two\n\n"
        "```\nx = 1\n```\n\n```\n>>> boil()\n'hot'\n```\n\nLeaf Price\n\ngreen 1\n\nA footnote.",
    )  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [
        "<header>Site</header><nav><ul><li>Home</ul></nav><main><h2>Tea</h2><p>hot</p></main><footer>©</footer>",
        "<div class='navheader'><table><tr><td>Prev</td></tr></table></div><h2>Tea</h2><p>hot</p>"
        "<div class=navfooter>N</div>",
        "<div role=navigation>Home <div>more</div></div><h2>Tea<a class='headerlink' href='#t'>¶</a></h2><p>hot</p>",
        "<div class='sphinxsidebar'><h3>Contents</h3></div><div role='main'><h2>Tea</h2><p>hot</p></div><p>beside",
        "<p hidden>no</p><h2>Tea</h2><div role=tabpanel hidden><p>hot</p></div><div aria-hidden=true>no</div>",
        "<article><header><h2>Tea</h2></header><aside>hot</aside></article><aside>beside</aside>",
    ],
)  # fmt: skip
def test_what_stands_beside_the_text_of_a_page_is_left_out(page):
    assert read_html(page) == ("", "## Tea\n\nhot")


def test_a_page_of_nothing_but_a_menu_keeps_it():
    assert read_html("<nav><ul><li>Tea<li>Milk</ul>")[1] == "- Tea\n- Milk"


def test_a_page_keeps_lists_tables_and_code():
    page = (
        "<ul><li><p>one</p></li><li>two <b>x</b></li></ul><table><tr><th>a</th><th></th><th>b</th></tr></table>"
        "<pre>if x:\n\ty</pre><p>海は\n塩辛い and\nmore</p>"
    )
    assert read_html(page)[1] == "- one\n- two x\n\na | b\n\n```\nif x:\n    y\n```\n\n海は塩辛い and more"


def test_the_character_set_that_a_page_declares():
    assert declared_charset(b"<html><meta http-equiv=x content='text/html; charset=iso-8859-2'>") == "iso-8859-2"
    assert declared_charset(b'<?xml version="1.0" encoding="euc-jp"?>') == "euc-jp"
    assert declared_charset(b"<meta charset=utf-8>") == "utf-8"
    assert declared_charset(b"<p>") == ""
