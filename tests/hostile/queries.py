"""Queries that somebody means ill with, or that a broken program sends: some by name, any number more by chance."""

from __future__ import annotations

import random
from collections.abc import Iterator
from urllib.parse import quote

_MARKUP = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</mark></div><h1>x", "javascript:alert(1)",
    "{{7*7}}", "${jndi:ldap://x/y}", "<!--", "]]>", "&lt;&#0;&amp;", '"><svg/onload=alert(1)>',
)  # fmt: skip
_STATEMENTS = (
    "' OR 1=1 --", '"; DROP TABLE documents; --', "1; SELECT pg_sleep(10)", "../../../etc/passwd", "%00", "%2e%2e%2f",
    "$(reboot)", "`id`", "| cat /etc/passwd", "\\x00\\xff", "null", "NaN", "-1", "1e309", "true", "[]", "{}", "\\",
)  # fmt: skip
_LETTERS = (
    "", " ", "\t\r\n", "\x00", "\x00" * 100, "\x1b[31m\x07", "".join(map(chr, range(32))), "\x7f\x80\x9f",
    "\u200b\u200c\u200d\ufeff", "\u202eevil\u202c", "\u2066\u2067\u2068\u2069", "\u061c\u200e\u200f",
    "\ufffe\uffff\ufffd", "\ud800", "\udfff\ud800", "a\udc80b", "\ud83d", "\U0001f600" * 500,
    "\U0001f469\u200d\U0001f467" * 50, "\U0001f3f3\ufe0f\u200d\U0001f308", "e" + "\u0301" * 1000, "\u0344" * 500,
    "ﷺ" * 500, "ﬃ" * 900, "İ" * 500, "ß" * 900, "\u2028\u2029", "𝕊𝕖𝕒", "ΑΙ" * 300, "\U000e0001\U000e007f", "\U0010ffff",
    "水" * 3000, "ไทย" * 900, "ကမ္ဘာ" * 300, "مرحبا" * 300, "שלום", "\u093c" * 500, "가" * 900, "1" * 4000, "٣" * 1000,
    "½" * 500,
)  # fmt: skip
_LONG = (
    "sea " * 100_000, "a" * 1_000_000, "水" * 100_000, "word" * 1000, "a b " * 1000, "." * 4000, "'" * 4000, "-" * 4000,
    " ".join(map(str, range(900))), "\n" * 4000 + "sea",
)  # fmt: skip
_RANGES = ((0, 0x7F), (0x80, 0x24F), (0x300, 0x36F), (0x590, 0x7FF), (0x900, 0xDFF), (0x2000, 0x206F), (0x3040, 0x9FFF))
_WILD = ((0xD800, 0xDFFF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))

NAMED = (*_LETTERS, *_MARKUP, *_STATEMENTS, *_LONG)


def hostile_queries(count: int, seed: int = 0) -> Iterator[str]:
    """So many hostile queries: the named ones first, then mixtures of them and of letters from anywhere."""
    yield from NAMED[:count]
    chance = random.Random(seed)
    for _ in range(count - len(NAMED)):
        pieces = [_piece(chance) for _ in range(chance.choice((1, 2, 3, 8)))]
        yield chance.choice(("", " ", "\x00", "\u202e")).join(pieces)


def hostile_address(query: str, chance: random.Random) -> str:
    """A query as part of an address; half a surrogate pair goes as the bytes that a careless program would send."""
    encoded = quote(query.encode("utf-8", "surrogatepass"), safe="")
    return encoded + chance.choice(("", "", "", "%", "%ff", "%c0%af", "+%zz", "&k=3", "&lang=fr", "&explain=1"))


def _piece(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.3:
        return chance.choice((*_LETTERS, *_MARKUP, *_STATEMENTS))[:200]
    low, high = chance.choice(_RANGES if kind < 0.85 else _WILD)
    return "".join(chr(chance.randint(low, high)) for _ in range(chance.choice((1, 3, 10, 100))))
