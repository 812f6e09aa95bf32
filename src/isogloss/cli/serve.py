"""``isogloss serve``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from isogloss.cli.options import add_index, add_reranking, add_translator, count, number
from isogloss.cli.output import note
from isogloss.storage.errors import InputError

EXAMPLE = """\
  isogloss serve my-index
  isogloss serve my-index --workers 4 --token-file token.txt
  curl 'http://127.0.0.1:8000/api/v1/search?q=how+do+volcanoes+erupt&k=3'
  curl -X PUT -H "Authorization: Bearer $(cat token.txt)" -H 'Content-Type: application/x-ndjson' \\
       --data-binary @documents.jsonl http://127.0.0.1:8000/api/v1/documents"""
_FEWEST_LETTERS = 16
_SECONDS = number("of seconds up to 3600", lambda value: 0 < value <= 3600)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument("--compare", metavar="INDEX", help="a second index, to see its rankings beside the first's")
    parser.add_argument("--workers", type=count, default=1, help="processes that answer (default 1)")
    parser.add_argument("--timeout", type=_SECONDS, default=10.0, metavar="SECONDS", help="for a search (default 10)")
    parser.add_argument(
        "--in-flight", type=count, default=0, metavar="N",
        help="searches that a worker takes at once, more are refused (default: 3, and 2 for each of its cores)",
    )  # fmt: skip
    parser.add_argument(
        "--token-file", metavar="FILE",
        help="holds the token that writing needs; without it and without ISOGLOSS_TOKEN nobody can write",
    )  # fmt: skip
    parser.add_argument("--log-queries", action="store_true", help="write queries into the log, not only their length")
    add_reranking(parser)
    add_translator(parser)
    add_address(parser)


def add_address(parser: argparse.ArgumentParser) -> None:
    """--host, --port and --allow-host."""
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default 127.0.0.1: this machine only)")
    parser.add_argument("--port", type=_port, default=8000, help="0 takes a free one (default 8000)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="also answer to this host name, that of a proxy in front, say (repeatable)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Serve an index until a signal stops it."""
    from isogloss.server import check_extra

    check_extra()
    from isogloss.server.limits import Limits
    from isogloss.translation.machine import checked_translator

    serve_index(
        options.index, options,
        supervised=True,
        compare=Path(options.compare) if options.compare else None,
        rerank=options.rerank,
        rerank_depth=options.rerank_depth,
        translator=checked_translator(options.translator),
        token=_token(options.token_file),
        limits=Limits(seconds=options.timeout, in_flight=options.in_flight),
        log=not options.quiet,
        log_queries=options.log_queries,
    )  # fmt: skip


def serve_index(index: str | Path, options: argparse.Namespace, browse: bool = False, **settings: Any) -> None:
    """Serve an index where the options say; the address is a line of its own on standard output.

    ``browse``: show the page in the user's browser.
    """
    from isogloss.server import serve
    from isogloss.server.guard import is_loopback

    def announce(address: str) -> None:
        print(address, flush=True)
        note(f"serving {index}; stop with Ctrl-C", options.quiet)
        if not is_loopback(options.host):
            writing = "whoever has the token can write" if settings.get("token") else "nobody can write"
            note(f"warning: others can reach {options.host}: all of them can search, {writing}", options.quiet)
        if browse:
            import webbrowser

            webbrowser.open(address)

    workers = getattr(options, "workers", 1)
    serve(
        index, options.host, options.port, workers=workers, announce=announce, hosts=options.allow_host, **settings
    )  # fmt: skip


def can_browse() -> bool:
    """Whether somebody sits at a terminal on a desktop: elsewhere no browser is opened."""
    desktop = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return desktop and sys.stdout.isatty()


def _token(file: str | None) -> str:
    """The token that writing needs, from a file or from the environment; empty if there is none."""
    if file is None:
        token, where = os.environ.get("ISOGLOSS_TOKEN", ""), "ISOGLOSS_TOKEN"
        if not token:
            return ""
    else:
        token, where = Path(file).read_text(encoding="utf-8", errors="replace"), file
    token = token.strip()
    if len(token) < _FEWEST_LETTERS or not (token.isascii() and token.isprintable()) or " " in token:
        raise InputError(f"{where}: a token is at least {_FEWEST_LETTERS} letters and digits, without spaces")
    return token


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)
