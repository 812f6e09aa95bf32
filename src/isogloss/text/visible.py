r"""Text of others as it may be shown on a terminal.

Documents, file names and queries can hold escape sequences, which move the cursor or rename the window, and characters
that turn the direction of writing, which make a line read otherwise than it is. These are shown by their numbers.
"""

from __future__ import annotations

import re

_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb]")


def visible(text: str) -> str:
    r"""The text with its control characters, overrides of direction and halves of characters as numbers.

    Tabs and line breaks stay.

    >>> visible("\x1b[2Jcaf\xe9 \u202etxt.exe")
    '\\x1b[2Jcafé \\u202etxt.exe'
    """
    return _HIDDEN.sub(lambda match: _number(match[0]), text) if not text.isprintable() else text


def visible_json(text: str) -> str:
    r"""JSON with the same characters as the escapes of JSON; they are in its strings only.

    >>> visible_json('"\x9b2J"')
    '"\\u009b2J"'
    """
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text) if not text.isprintable() else text


def _number(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
