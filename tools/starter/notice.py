"""The NOTICE of isogloss-starter: every source with its licence.

python tools/starter/notice.py > packages/starter/NOTICE
"""

from __future__ import annotations

from collections import defaultdict
from textwrap import fill

from sources import listed

_HEAD = """\
isogloss-starter

The tables of this package are statistics: which words translate each other, how probably, and how often each was seen.
They were computed by tools/starter of isogloss from the texts below. No text is part of the package. A pair of words
that was seen in one text only is left out, unless the text is a name of CLDR.
"""
_CLDR = """\
Unicode CLDR: names and key words of characters, names of languages, countries, scripts, units, currencies, months and
days. Copyright (c) Unicode, Inc. Licence Unicode-3.0, in the file LICENSE.Unicode. Packages of npm:
"""
_BIBLE = """\
Bibles of the eBible corpus (https://ebible.org, https://github.com/BibleNLP/ebible), beside the World English Bible
(public domain):
"""
_DEBIAN = """\
Messages of programs and their translations, from the compiled message catalogues of packages of Debian 12. Their
copyright holders are named in /usr/share/doc/PACKAGE/copyright of each package. Packages by licence:
"""


def notice() -> str:
    """The whole text."""
    sources = listed()
    by_licence = defaultdict(list)
    for part in sources["debian"].values():
        for name, licence in part.items():
            by_licence[licence].append(name)
    parts = [_HEAD, _CLDR, _wrapped(", ".join(sources["npm"])), _BIBLE]
    parts.append("".join(f"    {language}: {translation}\n" for language, translation in sources["bible"].items()))
    parts.append(_DEBIAN)
    for licence, names in sorted(by_licence.items()):
        parts.append(_wrapped(f"{licence}: {', '.join(sorted(names))}"))
    return "\n".join(parts)


def _wrapped(text: str) -> str:
    return fill(text, 120, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False) + "\n"


if __name__ == "__main__":
    print(notice(), end="")
