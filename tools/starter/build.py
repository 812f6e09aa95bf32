"""Build the tables of isogloss-starter from openly licensed translated texts.

python tools/starter/build.py --work DIR -o packages/starter/src/isogloss_starter/tables

DIR keeps what is downloaded, and the pairs of texts of each language: a build that was interrupted goes on. Tables that
are in the output already are kept, unless --overwrite is given. It takes Debian 12 with apt and npm, and --bible FOLDER
for the verses. The same inputs give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from choosing import chosen
from sources import (
    Pair,
    bible_languages,
    bible_pairs,
    catalogues,
    cldr_languages,
    cldr_pairs,
    fetch,
    message_pairs,
    versions,
)
from tables import make_table

from isogloss.storage.checksums import note_of_bytes
from isogloss.storage.files import atomic_file, write_bytes
from isogloss.storage.progress import track
from isogloss.translation.word_tables import pack_table

RECORD = "tables.json"
_FEWEST = 5_000  # pairs of texts: below that a language has no table
_LARGEST = 800_000  # bytes of a table


@dataclass(frozen=True)
class Folders:
    """Where things are."""

    work: Path
    bible: Path | None
    output: Path


def main() -> None:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="where downloads are kept")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--bible", type=Path, metavar="FOLDER", help="en.gz, fr.gz, …: one verse a line")
    parser.add_argument("--language", action="append", help="only this one; repeat for more")
    parser.add_argument("--processes", type=int, default=1, help="languages at a time")
    parser.add_argument("--overwrite", action="store_true", help="build tables anew that are there")
    arguments = parser.parse_args()
    folders = Folders(arguments.work, arguments.bible, arguments.output)
    fetch(folders.work)
    found = catalogues(folders.work)
    known = {*found, *cldr_languages(folders.work), *bible_languages(folders.bible)}
    languages = sorted(set(arguments.language or known))
    record = {} if arguments.overwrite and not arguments.language else read_record(folders.output)
    if not arguments.overwrite:
        languages = [language for language in languages if language not in record]
    jobs = [(language, found.get(language, [])) for language in languages]
    for language, about in track(_built(folders, jobs, arguments.processes), "building tables", len(jobs)):
        record.pop(language, None)
        if about:
            record[language] = about
            print(language, about["texts"], about["words"], about["word pairs"], about["bytes"], flush=True)
        write_record(folders.output, record, versions(folders.work))


def _built(
    folders: Folders, jobs: list[tuple[str, list[Path]]], processes: int
) -> Iterator[tuple[str, dict[str, Any] | None]]:
    if processes == 1:
        yield from map(partial(build, folders), jobs)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(partial(build, folders), jobs)


def build(folders: Folders, job: tuple[str, list[Path]]) -> tuple[str, dict[str, Any] | None]:
    """Write the table of a language; what ``tables.json`` says of it, or nothing where there are too few texts."""
    language, paths = job
    file = folders.work / "pairs" / f"{language}.tsv"
    if not file.is_file():
        found = chain(
            chosen(list(message_pairs(paths))),
            cldr_pairs(folders.work, language),
            bible_pairs(folders.bible, language),
        )
        write_pairs(file, found)
    pairs = read_pairs(file)
    if len(pairs) < _FEWEST:
        return language, None
    table = make_table(pairs, language, _LARGEST)
    content = pack_table(table)
    write_bytes(folders.output / f"{language}.words.xz", content)
    return language, {
        "texts": dict(sorted(Counter(pair.source for pair in pairs).items())),
        "words": [len(table.query_words), len(table.document_words)],
        "word pairs": len(table.query_numbers),
        "bytes": len(content),
        "hash": note_of_bytes(content).hash,
    }


def write_pairs(file: Path, pairs: Iterable[Pair]) -> None:
    """Keep pairs of texts, one a line."""
    with atomic_file(file) as output:
        output.writelines("\t".join(" ".join(part.split()) for part in pair) + "\n" for pair in pairs)


def read_pairs(file: Path) -> list[Pair]:
    """What ``write_pairs`` wrote."""
    with open(file, encoding="utf-8", newline="\n") as lines:
        return [Pair(*line.rstrip("\n").split("\t")) for line in lines]


def read_record(output: Path) -> dict[str, Any]:
    """What ``tables.json`` says of each language."""
    path = output / RECORD
    return dict(json.loads(path.read_text(encoding="utf-8"))["languages"]) if path.is_file() else {}


def write_record(output: Path, record: dict[str, Any], inputs: dict[str, str]) -> None:
    """Write ``tables.json``."""
    with atomic_file(output / RECORD) as file:
        json.dump({"languages": dict(sorted(record.items())), "inputs": inputs}, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()
