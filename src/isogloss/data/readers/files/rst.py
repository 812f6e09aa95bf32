r"""The title and the text of reStructuredText files, in time that is linear in their length.

Lines are scanned one after another. docutils knows neither the directives nor the roles of Sphinx, which most such
files use, and leaves out what it does not know; here the text of every directive is kept but for a few.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from isogloss.data.readers.files.blocks import CODE, ITEM, PARAGRAPH, Blocks, heading

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1++[ \t]*+")
_TABLE_RULE = re.compile(r"[-=+ \t]{3,}+")
_DIRECTIVE = re.compile(r"\.\.[ \t]++(?:\|[^|]++\|[ \t]++)?([\w:.+-]*?[\w+-])::(?:[ \t]++(.*))?")
_FOOTNOTE = re.compile(r"\.\.[ \t]++\[[^\[\]]++\][ \t]++(.*)")
_EXPLICIT = re.compile(r"\.\.(?:[ \t].*)?")
_ANONYMOUS = re.compile(r"__(?:[ \t].*)?")
_OPTION = re.compile(r":[\w-]++:(?:[ \t].*)?")
_FIELD = re.compile(r":([^:`]++):(?:[ \t]++(.*))?")
_LIST_ITEM = re.compile(r"(?:[-*+•]|(?:\d{1,9}|#)[.)]|\(\d{1,9}\))[ \t]++(?:-[ \t]++)?(.*)")
_CODE = frozenset({
    "code", "code-block", "sourcecode", "parsed-literal", "productionlist", "doctest", "testcode", "testoutput",
    "prompt", "math", "highlight-block",
})  # fmt: skip
_LEFT_OUT = frozenset({
    "toctree", "contents", "include", "literalinclude", "raw", "image", "highlight", "index", "module", "currentmodule",
    "meta", "role", "default-role", "sectnum", "graphviz", "digraph", "tabularcolumns", "testsetup", "testcleanup",
    "sectionauthor", "moduleauthor", "codeauthor", "automodule", "autoclass", "autofunction", "automethod",
    "py:module", "py:currentmodule", "replace", "unicode", "date",
})  # fmt: skip
_NO_ARGUMENT = frozenset(
    {"figure", "only", "csv-table", "list-table", "class", "container", "rst-class", "tabs", "cssclass"}
)


def _words(role: re.Match[str]) -> str:
    return role[1].rstrip()


_INLINE: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"``([^`]*+)``"), r"\1"),
    (re.compile(r"(?::(?:[\w.+-]++:){1,3}+)?`[!~]?([^`<>]*+)(?:<[^`<>]*+>)?`(?:__?)?"), _words),  # roles and links
    (re.compile(r"\[[^\[\]\s]++\]_"), " "),  # footnotes
    (re.compile(r"\|([^|\s][^|]*+)\|_?"), r"\1"),  # substitutions
    (re.compile(r"(?<!\w)([^\W_]++)__?(?!\w)"), r"\1"),  # links of one word
    (re.compile(r"(?<![\w*])\*++(?=\w)|(?<=[^\s*])\*++(?![\w*])"), ""),  # emphasis
    (re.compile(r"\\([^\w\s])"), r"\1"),
    (re.compile(r"\\\s"), ""),
)


def read_rst(text: str) -> tuple[str, str]:
    r"""The title, which is the first heading, and the text without it.

    >>> read_rst("Tea\n===\n\n.. note:: Hot\n\n   A *drink* of :ref:`leaves <leaf>`::\n\n      boil()\n")
    ('Tea', 'Hot\n\nA drink of leaves:\n\n```\nboil()\n```')
    """
    page, lines = _Page(), text.expandtabs(8).splitlines()
    for number, line in enumerate(lines):
        page.take(line, lines[number + 1] if number + 1 < len(lines) else "")
    blocks = page.finish()
    title = blocks.first("h1")
    return title, blocks.without(title).text()


class _Page:
    """Collects the blocks of a page, line by line."""

    def __init__(self) -> None:
        self._blocks = Blocks()
        self._lines: list[str] = []
        self._kind = PARAGRAPH
        self._styles: list[str] = []  # of headings, by their levels
        self._overlined = self._underlined = False
        self._block: list[str] | None = None  # an indented block that is no text: code, or what is left out
        self._indent, self._is_code = 0, False
        self._is_doctest = False  # which ends with a blank line
        self._options = False

    def finish(self) -> Blocks:
        """All blocks."""
        self._end_indented()
        self._end_block()
        return self._blocks

    def take(self, line: str, following: str) -> None:
        """The next line, and the one that follows it."""
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if self._block is not None:
            if indent > self._indent if bare else not self._is_doctest:
                self._block.append(line)
                return
            self._end_indented()
        if self._underlined:
            self._underlined = False
        elif not bare:
            self._end_block()
            self._options = False
        elif self._options and _OPTION.fullmatch(bare):
            return
        elif not self._take_heading(line, bare, following) and not self._take_marker(bare, indent):
            self._take_text(bare, indent)

    def _take_heading(self, line: str, bare: str, following: str) -> bool:
        if self._lines or line[:1].isspace():
            return self._take_overlined(bare, following)
        rule = _ADORNMENT.fullmatch(line)
        if rule:  # an overline, a transition, or the rule of a table
            self._overlined = bool(following.strip()) and " " not in bare and len(bare) >= len(following.strip())
            return True
        return self._take_overlined(bare, following)

    def _take_overlined(self, bare: str, following: str) -> bool:
        """Whether the line is a heading with its underline."""
        rule = _ADORNMENT.fullmatch(following)
        is_heading = bool(rule) and len(following.rstrip()) >= max(3, min(len(bare), 4)) and not self._lines
        if is_heading:
            style = f"{following[0]}{self._overlined}"
            if style not in self._styles:
                self._styles.append(style)
            self._blocks.add(_inline(bare), heading(self._styles.index(style) + 1))
            self._underlined = True
        self._overlined = False
        return is_heading

    def _take_marker(self, bare: str, indent: int) -> bool:
        """Whether a line begins something else than text."""
        if directive := _DIRECTIVE.fullmatch(bare):
            self._take_directive(directive[1], directive[2] or "", indent)
        elif footnote := _FOOTNOTE.fullmatch(bare):
            self._end_block()
            self._lines.append(footnote[1])
        elif _EXPLICIT.fullmatch(bare):
            self._begin_indented(indent, is_code=False)
        elif _ANONYMOUS.fullmatch(bare) or _TABLE_RULE.fullmatch(bare):
            self._end_block()
        else:
            return False
        return True

    def _take_directive(self, name: str, argument: str, indent: int) -> None:
        short = name.rpartition(":")[2]
        if name in _CODE or name in _LEFT_OUT or short.startswith("auto"):
            self._begin_indented(indent, is_code=name in _CODE)
            return
        self._end_block()
        self._options = True
        if argument and name not in _NO_ARGUMENT:
            self._lines.append(argument)
            if ":" in name or "(" in argument:  # the signature of a function
                self._end_block()

    def _take_text(self, bare: str, indent: int) -> None:
        self._options = False
        item = _LIST_ITEM.fullmatch(bare)
        if item:
            self._end_block()
            self._kind = ITEM
        elif field := _FIELD.fullmatch(bare):
            self._end_block()
            bare = f"{field[1]}: {field[2] or ''}"
        elif bare.startswith("| ") or bare == "|":
            self._end_block()
            self._blocks.add_row([_inline(cell) for cell in bare.strip("|").split("|")])
            return
        elif bare.startswith(">>> ") and not self._lines:
            self._begin_indented(indent - 1, is_code=True)
            self._block, self._is_doctest = [bare], True
            return
        text = item[1] if item else bare
        if text.endswith("::"):
            self._lines.append(text[:-1].rstrip(":") + ":" if text.strip(":") else "")
            self._begin_indented(indent, is_code=True)
        else:
            self._lines.append(text)

    def _begin_indented(self, indent: int, is_code: bool) -> None:
        self._end_block()
        self._block, self._indent, self._is_code, self._is_doctest = [], indent, is_code, False

    def _end_indented(self) -> None:
        if self._block and self._is_code:
            lines = self._block
            while lines and (not lines[0].strip() or _OPTION.fullmatch(lines[0].strip())):
                lines = lines[1:]
            indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
            self._blocks.add("\n".join(line[indent:] for line in lines), CODE)
        self._block = None

    def _end_block(self) -> None:
        if self._lines:
            self._blocks.add(_inline("\n".join(self._lines)), self._kind)
        self._lines, self._kind = [], PARAGRAPH


def _inline(text: str) -> str:
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return text
