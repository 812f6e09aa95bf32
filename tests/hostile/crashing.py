"""Kills a writer at random moments while readers search, and checks that nothing was lost and nothing is half there.

    python tests/hostile/crashing.py --kills 200

The writer commits pairs of documents, deletes and replaces older pairs, and says so when a commit has returned. After
each kill every change that was acknowledged must be there, the one that was under way whole or not at all, and readers
must never have seen one document of a pair without the other, or two of different versions.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

from isogloss.data.documents import Document
from isogloss.data.problems import Problems
from isogloss.data.source import Source
from isogloss.index.checking import check_index
from isogloss.index.making import make_index
from isogloss.index.reader import OpenIndex, open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage.lines import Location

Versions = dict[int, int]
"""The pairs that are there, and the version of each."""


class _One(Source):
    format = "one"

    def documents(self, language: str, problems: Problems):
        yield Location(Path("one")), Document("first", "mot", language=language)


def write(path: Path, said: Connection, versions: Versions, seed: int) -> None:
    """Change an index until killed; before each commit say what it will be, after it that it is."""
    rng = random.Random(seed)
    with IndexWriter(path) as writer:
        while True:
            versions = _changed(versions, rng, writer)
            said.send(("about to", versions))
            writer.commit()
            said.send(("done", versions))


def _changed(versions: Versions, rng: random.Random, writer: IndexWriter) -> Versions:
    versions = dict(versions)
    for _ in range(rng.randrange(1, 4)):
        new = max(versions, default=0) + 1
        number = rng.choice([new, new, *versions])
        versions[number] = versions.get(number, 0) + 1
        text = f"mot version{versions[number]}"
        writer.add(Document(f"{number}{side}", text, language="fr", fields={"pair": number}) for side in "ab")
    if len(versions) > 30:
        for number in rng.sample(sorted(versions), 4):
            del versions[number]
            writer.delete([f"{number}a", f"{number}b"])
    return versions


def read(path: Path, stop, failures) -> None:
    """Search until told to stop; whatever is wrong with an answer is put on the queue."""
    index = open_index(path)
    while not stop.is_set():
        try:
            index = index.refreshed()
            versions_in(index)
        except Exception as error:
            failures.put(repr(error))


def versions_in(index: OpenIndex) -> Versions:
    """The pairs that an index answers with; an error if one is not whole."""
    sides: dict[str, dict[int, int]] = {"a": {}, "b": {}}
    for hit in Searcher(index).search("mot", k=100_000, explain=False):
        if hit.document.id != "first":
            version = int(hit.document.text.removeprefix("mot version"))
            sides[hit.document.id[-1]][int(hit.document.id[:-1])] = version
    if sides["a"] != sides["b"]:
        raise AssertionError(f"half a pair: {sides}")
    number = next(iter(sides["a"]), None)
    if number is not None:
        found = {hit.document.id for hit in Searcher(index).search("mot", filters={"pair": str(number)}, explain=False)}
        if found != {f"{number}a", f"{number}b"}:
            raise AssertionError(f"the filter for pair {number} finds {found}")
    return sides["a"]


def crash(path: Path, kills: int, seed: int = 0, readers: int = 1) -> tuple[int, int]:
    """Kill a writer so many times; how many commits were acknowledged, and how many documents there are at the end."""
    rng = random.Random(seed)
    context = multiprocessing.get_context("fork")
    make_index(path, "bm25", _One("one"), ["fr"])
    stop, failures = context.Event(), context.SimpleQueue()
    reading = [context.Process(target=read, args=(path, stop, failures)) for _ in range(readers)]
    for process in reading:
        process.start()
    try:
        versions: Versions = {}
        commits = 0
        for number in range(kills):
            versions, acknowledged = _kill_one(context, path, versions, rng, seed + number)
            commits += acknowledged
    finally:
        stop.set()
        for process in reading:
            process.join()
    assert failures.empty(), failures.get()
    with IndexWriter(path) as writer:  # takes away what was left
        writer.compact()
    assert versions_in(open_index(path)) == versions
    assert check_index(path)[1] == []
    return commits, 2 * len(versions)


def _kill_one(context, path: Path, versions: Versions, rng: random.Random, seed: int) -> tuple[Versions, int]:
    """Start a writer, kill it, and compare what is there with what it has said."""
    hear, say = context.Pipe(duplex=False)
    process = context.Process(target=write, args=(path, say, versions, seed))
    process.start()
    say.close()
    wanted, done = rng.randrange(0, 12), 0
    possible = [versions]
    try:
        while done < wanted:
            possible, done = _heard(hear.recv(), possible, done)
        hear.poll(rng.random() * 0.05)  # somewhere in the middle of the next one
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    while hear.poll():
        try:
            possible, done = _heard(hear.recv(), possible, done)
        except EOFError:
            break
    there = versions_in(open_index(path))
    assert there in possible, f"{there} is none of {possible}"
    return there, done


def _heard(message: tuple[str, Versions], possible: list[Versions], done: int) -> tuple[list[Versions], int]:
    """What may be there after a message: before a commit has returned, the old state or the new one."""
    kind, versions = message
    return ([versions], done + 1) if kind == "done" else ([possible[-1], versions], done)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = crash(Path(scratch) / "index", options.kills, options.seed, options.readers)
    said = f"{options.kills} kills: {found[0]} commits acknowledged, none lost; {found[1]} documents at the end"
    sys.stdout.write(said + "\n")
