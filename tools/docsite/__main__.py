"""``python -m docsite OUTPUT``: check the links of the pages and build the site."""

from __future__ import annotations

import sys
from pathlib import Path

from docsite.site import build_site


def main(arguments: list[str]) -> int:
    """Build the site; returns the exit status."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m docsite OUTPUT\n")
        return 2
    output = Path(arguments[0])
    try:
        count = build_site(Path(__file__).resolve().parents[2], output)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{count} pages: {(output / 'index.html').resolve().as_uri()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
