"""``isogloss languages``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli.options import add_json, add_overwrite
from isogloss.cli.output import check_outputs, console, counted, note, print_table, write_json
from isogloss.storage.errors import InputError
from isogloss.text.language_names import code_or_itself

if TYPE_CHECKING:
    from isogloss.systems.languages import LanguageSupport
    from isogloss.translation.dictionaries import Dictionary

EXAMPLE = """\
  isogloss languages
  isogloss languages de
  isogloss languages ja --dictionaries my-dictionaries
  isogloss languages --query-language fr --json -"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    parser.add_argument(
        "language", nargs="?", type=code_or_itself, metavar="LANG", help="tell all about this language of documents"
    )
    parser.add_argument(
        "--query-language",
        default="en",
        type=code_or_itself,
        metavar="LANG",
        help="language of the queries (default en)",
    )
    parser.add_argument(
        "--dictionaries", action="append", metavar="DIR",
        help="search for dictionaries here (repeatable; default: ISOGLOSS_DICTIONARIES, and where Debian puts them)",
    )  # fmt: skip
    add_json(parser, "them")
    add_overwrite(parser)


def run(options: argparse.Namespace) -> None:
    """List the languages, or tell about one."""
    from isogloss.systems.languages import all_support, support
    from isogloss.text.language import check_language

    check_outputs(options.overwrite, options.json)
    for code in (options.query_language, options.language or "en"):
        check_language(code)
    folders = _folders(options.dictionaries)
    if options.language == options.query_language:
        raise InputError(f"languages: queries and documents are both in {options.language!r}; name another LANG")
    if options.language:
        found = [support(options.language, options.query_language, folders)]
    else:
        found = all_support(options.query_language, folders)
    if options.json:
        described = [_as_json(each) for each in found]
        write_json(options.json, described[0] if options.language else described, options.overwrite)
    if options.json == "-":
        return
    if options.language:
        _print_one(found[0])
    else:
        _print_all(found, options.query_language)
        note("more about one: isogloss languages LANG", options.quiet)


def _folders(named: Sequence[str] | None) -> list[Path] | None:
    for folder in named or ():
        if not Path(folder).is_dir():
            raise InputError(f"{folder}: no such folder; --dictionaries needs one")
    return [Path(folder) for folder in named] if named else None


def _print_all(languages: Sequence[LanguageSupport], query_language: str) -> None:
    rows = [
        (
            each.language, each.name, "yes" if each.starter else "",
            _size(each.dictionaries[0]) if each.dictionaries else "", each.stems,
            "by ICU" if each.segmented else "", _encoder(each),
        )
        for each in languages
    ]  # fmt: skip
    columns = ("", "documents in", "starter", "dictionary", "stems", "words", "encoder")
    print_table(console(), f"at hand for queries in {query_language}", columns, rows, left=7)


def _print_one(each: LanguageSupport) -> None:
    out = console()
    rows = [
        ("starter table", ", ".join(map(str, each.starter.values())) or "none"),
        *(("dictionary", text) for text in _dictionaries(each.dictionaries)),
        ("stems", each.stems or "none: words match as they are written"),
        ("words", "found by the dictionaries of ICU" if each.segmented else "separated by spaces"),
        ("encoder", _encoder(each) or "does not know this language"),
    ]  # fmt: skip
    title = f"{each.language} ({each.name}) documents, {each.query_language} queries"
    print_table(out, title, ("", "at hand"), rows, left=2)
    if each.installs():
        print_table(out, "can be installed", ("command", "adds"), each.installs(), left=2)


def _dictionaries(found: Sequence[Dictionary]) -> list[str]:
    ways = [", read backwards" if each.reverse else "" for each in found]
    lines = [f"{each.path} ({_size(each)}{way})" for each, way in zip(found, ways, strict=True)]
    return [f"{lines[0]}; lexicon=auto takes this one", *lines[1:]] if lines else ["none"]


def _size(found: Dictionary) -> str:
    return f"{found.kind}, {counted(found.entries, 'line')}"


def _encoder(each: LanguageSupport) -> str:
    if not each.encoder:
        return ""
    return "yes" if each.encoder_installed else "not installed"


def _as_json(each: LanguageSupport) -> dict[str, Any]:
    return {
        "language": each.language, "name": each.name, "query_language": each.query_language,
        "starter": {language: str(path) for language, path in each.starter.items()},
        "dictionaries": [
            {
                "path": str(found.path), "lexicon": found.lexicon, "kind": found.kind, "entries": found.entries,
                "reverse": found.reverse,
            }
            for found in each.dictionaries
        ],
        "stems": each.stems, "segmented": each.segmented,
        "encoder": each.encoder, "encoder_installed": each.encoder_installed,
        "install": [install._asdict() for install in each.installs()],
    }  # fmt: skip
