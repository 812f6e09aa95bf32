"""``isogloss info``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli.options import add_index, add_json
from isogloss.cli.output import check_outputs, console, counted, counted_languages, write_json

if TYPE_CHECKING:
    from isogloss.index.reader import OpenIndex

EXAMPLE = """\
  isogloss info my-index
  isogloss info my-index --json -"""
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    add_json(parser, "all of it")


def run(options: argparse.Namespace) -> None:
    """Print what an index is made of."""
    from isogloss.index.reader import open_index

    if options.json:
        check_outputs(True, options.json)
    with closing(open_index(Path(options.index))) as index:
        about = facts(index)
    if options.json:
        write_json(options.json, about, overwrite=True)
        return
    out = console()
    for name, value in _lines(about):
        out.print(f"{name + ':':<17} {value}" if name else f"{'':<17} {value}", markup=False, soft_wrap=True)


def facts(index: OpenIndex) -> dict[str, Any]:
    """What an index is made of, with what, how large and when."""
    from isogloss.index.commit import FILE as COMMIT
    from isogloss.index.manifest import FILE as MANIFEST
    from isogloss.index.named_origins import is_named
    from isogloss.index.origins import load_origins

    manifest = index.manifest
    systems = {
        language: {of_query: system.name for of_query, system in of_language.items()}
        for language, of_language in index.systems.items()
    }
    origins = []
    for record in load_origins(index.path, index.commit).values():
        origin = record.origin
        is_known = is_named(manifest.identity, origin.source)
        origins.append(
            {
                "source": origin.source,
                "files": len(record.paths),
                "documents": len(record.documents),
                "read": _time(origin.read_at),
                "languages": list(origin.languages),
                "named_here": is_known,
                # Where a stranger says: even to look may mount a disk of theirs.
                "is_there": origin.where.exists() if is_known else None,
            }
        )
    return {
        **index.about(),
        "systems": systems,
        "options": manifest.options,
        "fields": list(manifest.fields),
        "made_by": manifest.made_by,
        "made": _time((index.path / MANIFEST).stat().st_mtime),
        "changed": _time((index.path / COMMIT).stat().st_mtime),
        "origins": origins,
    }


def _lines(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values for people."""
    yield "index", about["path"]
    yield "documents", counted_languages(about["documents"], len(about["documents"]))
    for language, count in about["sources"].items():
        yield "", f"{count:,} in {language} to search with"
    yield "queries in", ", ".join(about["query_languages"])
    yield "system", about["system"]
    for language, systems in about["systems"].items():
        others = [f"{name} for {query}" for query, name in systems.items() if name != about["system"]]
        if others:
            yield "", f"{language}: {', '.join(others)}"
    yield "searched", ", ".join(about["fields"])
    yield "size", _size(about["bytes"])
    if "engine" in about:
        yield "engine", about["engine"]["url"]
    yield "made", f"{about['made']} by {about['made_by']}"
    yield "changed", f"{about['changed']}, {counted(about['generation'], 'commit')}"
    yield "segments", f"{about['segments']}, deleted documents in them: {about['deleted']:,}"
    for number, origin in enumerate(about["origins"]):
        counts = f"{counted(origin['files'], 'file')}, {counted(origin['documents'], 'document')}"
        state = "; it is not there" if origin["is_there"] is False else ""
        state += "" if origin["named_here"] else "; you have not named it on this machine"
        yield "" if number else "made of", f"{origin['source']} ({counts}, read {origin['read']}{state})"
    if not about["origins"]:
        yield "made of", "unknown; 'isogloss sync --from SOURCE' names it"
    for damage in about["damaged"]:
        yield "damaged", damage


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(" ", "seconds").removesuffix("+00:00") + " UTC"
    except (OverflowError, ValueError, OSError):  # in an index of a stranger
        return "unknown"


def _size(count: float) -> str:
    """Bytes for people.

    >>> _size(512), _size(12_345_678)
    ('512 bytes', '12.3 MB')
    """
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.1f} {_UNITS[unit]}" if unit else f"{count} bytes"
