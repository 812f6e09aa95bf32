"""Tables in HTML, as notebooks show them. The cells are HTML already: texts in them are escaped by the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table; ``header`` and ``caption`` are texts.

    >>> html_table(["a < b"], [["<b>yes</b>"]])
    '<table><thead><tr><th>a &lt; b</th></tr></thead><tbody><tr><td><b>yes</b></td></tr></tbody></table>'
    """
    heads = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def marked_html(text: str, marks: Iterable[tuple[int, int]]) -> str:
    """A text, escaped, in which the spans that do not overlap are marked.

    >>> marked_html("sel & mer", [(0, 3)])
    '<mark>sel</mark> &amp; mer'
    """
    parts, end = [], 0
    for begin, until in sorted(marks):
        parts += [escape(text[end:begin]), f"<mark>{escape(text[begin:until])}</mark>"]
        end = until
    return "".join([*parts, escape(text[end:])])
