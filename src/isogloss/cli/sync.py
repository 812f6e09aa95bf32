"""``isogloss sync``."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.options import add_index, add_json
from isogloss.cli.output import check_outputs, counted, note, write_json
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.index.syncing import Synced

EXAMPLE = """\
  isogloss sync my-index                       # what changed in the folder that it was made of
  isogloss sync my-index --watch               # and whatever will change; end it with Ctrl-C
  isogloss sync my-index --from /new/place     # the folder has moved
  isogloss sync my-index manuals --force       # of its sources this one, though most of its files are gone
  isogloss sync my-index --forget old.jsonl    # follow a source no longer; its documents stay"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    add_index(parser)
    parser.add_argument(
        "sources", nargs="*", default=[], metavar="SOURCE",
        help="which of the folders and files that INDEX was made of, as 'isogloss info' lists them (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--from", dest="moved", default="", metavar="SOURCE",
        help="where the folder or file is now; needed once where you have not named it on this machine before",
    )  # fmt: skip
    parser.add_argument(
        "--force", action="store_true",
        help="delete the documents of a source that has vanished, or of most of its files at once",
    )  # fmt: skip
    parser.add_argument("--forget", metavar="SOURCE", help="follow a source no longer; its documents stay")
    parser.add_argument(
        "--watch", action="store_true", help="go on with whatever changes, until Ctrl-C (best with the extra 'watch')"
    )
    parser.add_argument(
        "--poll", action="store_true",
        help="with --watch: look every two seconds, as for folders of a network, whose changes no system tells",
    )  # fmt: skip
    add_json(parser, "how many documents have changed")


def run(options: argparse.Namespace) -> None:
    """Bring an index up to date."""
    from isogloss.index.syncing import forget_origin, sync_index

    if options.forget:
        name = forget_origin(options.index, options.forget)
        note(f"{options.index}: {name} is followed no longer; its documents stay", options.quiet)
        return
    if options.watch:
        if options.json or options.force or options.moved:
            raise InputError("sync: --watch goes on by itself; give --json, --force and --from to a sync without it")
        _watch(options)
        return
    if options.json:
        check_outputs(True, options.json)
    done = sync_index(options.index, options.sources, options.moved, options.force)
    _tell(options, done)
    if options.json:
        write_json(options.json, asdict(done), overwrite=True)


def _tell(options: argparse.Namespace, done: Synced) -> None:
    for warning in done.warnings:
        note(f"warning: {warning}", options.quiet)
    parts = ((done.added, "added"), (done.replaced, "replaced"), (done.deleted, "deleted"))
    changed = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    read = f"{done.read:,} of {counted(done.files, 'file')} read"
    what = f"{changed} ({read})" if changed else f"up to date ({read})"
    note(f"{options.index}: {what}", options.quiet)


def _watch(options: argparse.Namespace) -> None:
    """Sync whenever something has changed; whatever goes wrong may be right the next time."""
    from isogloss.index.manifest import Manifest
    from isogloss.index.syncing import named_origins_of, sync_index
    from isogloss.index.watching import changes, is_told

    index = Path(options.index)
    Manifest.load(index)
    paths = [origin.where for origin in named_origins_of(index)]
    told, last = is_told() and not options.poll, ""
    how = "" if told or options.poll else "; it looks every two seconds: pip install 'isogloss[watch]' tells it at once"
    try:
        for number, _ in enumerate(changes(paths, options.poll)):
            try:
                done = sync_index(index, options.sources)
            except InputError as error:
                if not paths:
                    raise
                last = _tell_once(f"warning: {error}", last, options.quiet)
                continue
            if done.changed or not number:
                _tell(options, done)
            elif done.warnings:
                last = _tell_once(f"warning: {done.warnings[0]}", last, options.quiet)
            if not number:
                note(f"{index}: watching {', '.join(map(str, paths))}; end with Ctrl-C{how}", options.quiet)
    except KeyboardInterrupt:
        note(f"{index}: no longer watched", options.quiet)


def _tell_once(message: str, last: str, quiet: bool) -> str:
    """Print a warning, unless it was the last one too."""
    if message != last:
        note(message, quiet)
    return message
