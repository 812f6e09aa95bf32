"""Program messages as plain text: without accelerators, directives, markup and addresses."""

from __future__ import annotations

import html
import re

_ACCELERATOR_ADDED = re.compile(r"\s?[(（][&_]\w[)）]")  # 文件(_F)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_DIRECTIVE = re.compile(
    r"%\([^)]*\)[a-z]|%[-+ #0']*\d*(?:\$|\.\d+|\*)?[-+#0']*\d*(?:\.\d+)?(?:hh?|ll?|[Lqjzt])?[A-Za-z]\b|%\d+|%%"
    r"|\$?\{[^{}]*\}|\$\w+|\$\([^)]*\)|@\w+@?|\\[nrt]"
)
_ADDRESS = re.compile(r"\w+://\S+|\S+@\S+\.\w+|(?:\.\w+)*/\w+/\S+")
_NO_LETTER = re.compile(r"[\W\d_]*")
_LONGEST = 600  # characters: longer messages are licences and lists of options


def clean(message: str) -> str:
    """A message as words; empty if none is left.

    >>> clean("<b>Save _As…</b> %s"), clean("ファイル(&F)"), clean("{0} of %1$d"), clean("name_of_a_key")
    ('Save As…', 'ファイル', 'of', '')
    """
    if len(message) > _LONGEST:
        return ""
    if "<" in message:
        message = _TAG.sub(" ", message)
    if "&" in message or "_" in message:
        message = _ACCELERATOR_ADDED.sub("", html.unescape(message)).replace("&", "")
        message = message.replace("_", "", 1)
    if "_" in message and " " not in message:
        return ""
    if "/" in message or "@" in message:
        message = _ADDRESS.sub(" ", message)
    if any(sign in message for sign in "%{$@\\"):
        message = _DIRECTIVE.sub(" ", message)
    message = " ".join(message.split())
    return "" if _NO_LETTER.fullmatch(message) else message
