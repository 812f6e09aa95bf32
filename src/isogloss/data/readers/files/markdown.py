r"""The title and the text of Markdown files, in time that is linear in their length.

What Hugo, Docusaurus, MkDocs and Sphinx (MyST) add to Markdown is read too: front matter, shortcodes, admonitions,
tabs, components, directives and roles. Their text is kept, their markers are not. Lines are scanned one after another,
and every pattern is possessive: markdown-it-py takes quadratic time for some texts, and knows none of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from isogloss.data.readers.files.blocks import CODE, ITEM, PARAGRAPH, Blocks, heading
from isogloss.data.readers.files.html import unescape

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"^(\w[\w-]*+)[ \t]*+[:=][ \t]*+(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"([ \t]*+)(`{3,}+|~{3,}+|:{3,}+)[ \t]*+(.*)")
_DIRECTIVE = re.compile(r"\{([\w:+-]++)\}[ \t]*+(.*)")
_CONTAINER = re.compile(r"[\w-]++[ \t]*+(?:\[([^\[\]]*+)\]|(.*))")  # note[Title], note Title
_CODE_DIRECTIVES = frozenset({
    "code", "code-block", "code-cell", "sourcecode", "parsed-literal", "doctest", "testcode", "prompt", "math",
    "eval-rst",
})  # fmt: skip
_LEFT_OUT = frozenset({"toctree", "contents", "tableofcontents", "include", "image", "raw", "mermaid", "graphviz"})
_NO_ARGUMENT = frozenset({"figure", "literalinclude", "tab-set", "grid", "list-table", "div"})
_OPTION = re.compile(r"[ \t]*+:[\w-]++:(?:[ \t].*)?")
_ADMONITION = re.compile(r"""[ \t]*+(?:(?:!!!|\?\?\?\+?)[ \t]++[^"]*+(?:"([^"]*+)")?|===[!+]?[ \t]++"([^"]*+)").*""")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]++(.*)")
_UNDERLINE = re.compile(r"[ \t]{0,3}(=++|-++)[ \t]*+")
_RULE = re.compile(r"[-:|=*_+ \t]++")
_LIST_ITEM = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?(.*)")
_QUOTATION = re.compile(r"[ \t]*+(?:>[ \t]?)++(?:\[![A-Za-z]++\][+-]?)?")
_MODULE_LINE = re.compile(
    r"""import\s[^'"]*+(?:(?<=from )|(?<=import ))['"][^'"]*+['"];?\s*+|export\s++(?:const|default|function|let)\s.*"""
)
_SKIPPED_LINE = re.compile(
    r"[ \t]*+(?:\([\w:. -]++\)=|%(?: .*)?|--8<--.*|\[TOC\]|"
    r"\[\[_?TOC_?\]\]|\[[^\[\]^]++\]:[ \t]*+\S.*|\{:[^{}]*+\}|[{][.#][^{}]*+\})[ \t]*+",
    re.IGNORECASE,
)  # targets, comments, snippets, tables of contents, definitions of links, attributes
_HIGHLIGHT = re.compile(r"[ \t]*+\{\{[<%][ \t]*+(/?)[ \t]*+(?:highlight|code|codeblock)\b[^{}]*+\}\}[ \t]*+")
_KEPT_VALUE = re.compile(
    r"""\b(?:title|label|name|caption|header|heading|summary|alt)[ \t]*+=[ \t]*+(?:"([^"<>{}]*+)"|'([^'<>{}]*+)')"""
)
_TARGET = r"\((?:[^()]|\([^()]*+\))*+\)"  # of a link, with at most one pair of parentheses in it


def _words(role: re.Match[str]) -> str:
    return role[1].rstrip()


_INLINE: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\{[\w:+-]++\}`[!~]?([^`<>]*+)(?:<[^`<>]*+>)?`"), _words),  # roles
    (re.compile(rf"!\[[^\[\]]*+\]{_TARGET}"), " "),  # images
    (re.compile(rf"\[([^\[\]]*+)\](?:{_TARGET}|\[[^\[\]]*+\])"), r"\1"),  # links keep their words
    (re.compile(r"\[\[(?:[^\[\]|]*+\|)?([^\[\]|]*+)\]\]"), r"\1"),  # links of wikis
    (re.compile(r"\[\^[^\[\]]*+\]:?"), " "),  # footnotes
    (re.compile(r"</?[a-zA-Z][^<>]*+>"), " "),
    (re.compile(r"\{/\*[^{}]*+\}"), " "),  # comments of MDX
    (re.compile(r"\{\{[^{}]*+\}\}"), " "),  # shortcodes, variables
    (re.compile(r"\{ ?[:#.][^{}\n]*+\}"), ""),  # ids of headings, attribute lists
    (re.compile(r"(?<![\w*])[*_]++|(?<![*_])(?:[*_]++(?!\w)|_*+\*[*_]++)|`++"), ""),  # emphasis and code
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_INDENT = "    "  # of code


def read_markdown(text: str) -> tuple[str, str]:
    r"""Title and text: the title of the front matter, or else the first heading, which then is not in the text.

    >>> read_markdown("---\ntitle: Tea\n---\n!!! note \"Hot\"\n    A *drink* of [leaves](leaf.md).\n## How\nBoil.")
    ('Tea', 'Hot\n\nA drink of leaves.\n\n## How\n\nBoil.')
    """
    values = read_front_matter(text)
    found = _FRONT_MATTER.match(text)
    page = _Page()
    for line in _without_comments(text[found.end() :] if found else text).splitlines():
        page.take(line)
    blocks = page.finish()
    title = _inline(values.get("title", "")) or blocks.first(heading(1))
    return title, blocks.without(title).text()


def read_front_matter(text: str) -> dict[str, str]:
    r"""The values of the front matter, YAML or TOML, that take one line; none where a text has no front matter.

    >>> read_front_matter("---\ntitle: Tea\nslug: 'drinks/tea'\n---\nA drink.")
    {'title': 'Tea', 'slug': 'drinks/tea'}
    """
    found = _FRONT_MATTER.match(text)
    return {key: value.strip().strip("\"'") for key, value in _VALUE.findall(found[2])} if found else {}


class _Page:
    """Collects the blocks of a page, line by line."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._lines: list[str] = []
        self._kind = PARAGRAPH
        self._fences: list[str] = []  # that hold text, the innermost last
        self._code: list[str] | None = None
        self._closing, self._indent, self._is_kept = "", 0, True  # of the code
        self._options = False  # whether options of a directive may follow
        self._nested = False  # whether indented lines belong to a list or an admonition

    def finish(self) -> Blocks:
        """All blocks."""
        self._end_code()
        self._end_block()
        return self._blocks

    def take(self, line: str) -> None:
        """The next line."""
        if self._code is not None:
            self._take_code(line)
        elif self._options and (not line.strip() or _OPTION.fullmatch(line)):
            self._options = bool(line.strip())
        else:
            self._options = False
            if line.startswith((_INDENT, "\t")) and line.strip() and not (self._nested or self._lines or self._fences):
                self._begin_code(_INDENT, len(_INDENT))
                self._take_code(line.expandtabs(4))
                return
            self._nested = self._nested and (line[:1].isspace() or not line)
            quoted = _QUOTATION.match(line)
            line = line[quoted.end() :] if quoted else line
            if not self._take_marker(line):
                self._take_text(line)

    def _take_code(self, line: str) -> None:
        bare = line.strip()
        if self._closing == _INDENT and bare and not line.startswith((_INDENT, "\t")):
            self._end_code()
            self.take(line)
            return
        is_end = bare == self._closing or (
            bool(self._closing) and bare.startswith(self._closing) and not bare.strip(self._closing[0])
        )
        if is_end or (not self._closing and _HIGHLIGHT.fullmatch(line)):
            self._end_code()
        elif self._code is not None and not (self._options and _OPTION.fullmatch(line)):
            self._options = False
            self._code.append(line[min(self._indent, len(line) - len(line.lstrip())) :])

    def _begin_code(self, closing: str, indent: int, is_kept: bool = True) -> None:
        self._end_block()
        self._code, self._closing, self._indent, self._is_kept = [], closing, indent, is_kept

    def _end_code(self) -> None:
        if self._code and self._is_kept:
            self._blocks.add("\n".join(self._code), CODE)
        self._code = None

    def _take_marker(self, line: str) -> bool:
        """Whether a line begins or ends something else than text."""
        if fence := _FENCE.fullmatch(line):
            self._take_fence(*fence.groups())
        elif (found := _HIGHLIGHT.fullmatch(line)) and not found[1]:
            self._begin_code("", len(line) - len(line.lstrip()))
        elif found := _ADMONITION.fullmatch(line):
            self._add(found[1] or found[2] or "")
            self._nested = True
        elif found := _HEADING.fullmatch(line):
            self._add(_without_closing(found[2]), heading(len(found[1])))
        elif (found := _UNDERLINE.fullmatch(line)) and self._lines and self._kind == PARAGRAPH:
            self._kind = heading(1 if found[1][0] == "=" else 2)
            self._end_block()
        elif not line.strip() or _RULE.fullmatch(line) or _SKIPPED_LINE.fullmatch(line):
            self._end_block()
        else:
            return bool(_MODULE_LINE.fullmatch(line))
        return True

    def _take_fence(self, indent: str, fence: str, info: str) -> None:
        if not info and self._fences and fence.startswith(self._fences[-1]):
            self._fences.pop()
            self._end_block()
            return
        directive = _DIRECTIVE.fullmatch(info)
        name = directive[1].rpartition(":")[2] if directive else ""
        if fence[0] != ":" and (not directive or name in _CODE_DIRECTIVES):
            self._begin_code(fence, len(indent))
            self._options = directive is not None
        elif name in _LEFT_OUT or name in _CODE_DIRECTIVES:
            self._begin_code(fence, len(indent), is_kept=name in _CODE_DIRECTIVES)
        else:
            container = _CONTAINER.fullmatch(info)
            title = directive[2] if directive else (container[1] or container[2] or "") if container else ""
            self._fences += [fence] if info else []
            self._options = directive is not None
            self._add("" if name in _NO_ARGUMENT else title)

    def _take_text(self, line: str) -> None:
        item = _LIST_ITEM.fullmatch(line)
        if item:
            self._end_block()
            self._kind, self._nested = ITEM, True
        elif line.lstrip().startswith("|"):
            self._end_block()
            self._blocks.add_row([_inline(cell) for cell in line.strip().strip("|").split("|")])
            return
        self._lines.append(item[1] if item else line)

    def _add(self, text: str, kind: str = PARAGRAPH) -> None:
        self._end_block()
        self._blocks.add(_inline(text), kind)

    def _end_block(self) -> None:
        if self._lines:
            self._blocks.add(_inline("\n".join(self._lines)), self._kind)
        self._lines, self._kind = [], PARAGRAPH


def _without_closing(title: str) -> str:
    """A heading without the signs at its end: ``In C# ##`` to ``In C#``."""
    bare = title.rstrip().rstrip("#")
    return bare if bare[-1:].isspace() else title


def _without_comments(text: str) -> str:
    end = text.rfind("-->") + len("-->")  # after it no comment is closed: none is searched for
    return _COMMENT.sub(" ", text[:end]) + text[end:]


def _inline(text: str) -> str:
    """A block without what marks words; of components and shortcodes the titles are kept."""
    if "=" in text and ("<" in text or "{{" in text):
        text = _MARKED.sub(_titles, text)
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return unescape(text)


_MARKED = re.compile(r"<[A-Z][^<>]*+>|\{\{[^{}]*+\}\}")
"""Components and shortcodes."""


def _titles(match: re.Match[str]) -> str:
    return " ".join(["", *(double or single for double, single in _KEPT_VALUE.findall(match[0])), ""])
