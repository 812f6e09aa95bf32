"""A sync that is killed at any moment loses nothing: the index is as before or as after, and the next sync goes on."""

import multiprocessing
import os
import signal

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.index.checking import check_index
from isogloss.index.listing import list_documents
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.syncing import sync_index

COUNT = 30


def contents(path):
    index = open_index(path)
    return {each.id: next(index.languages["fr"].stored([each.id])).text for each in list_documents(index)}


def sync_and_die(path, moment, done):
    """Sync, but die when something is written to disk, or renamed, for the so many-th time."""
    left = moment

    def dying(original):
        def call(*arguments, **options):
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        return call

    for name in ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir"):
        setattr(os, name, dying(getattr(os, name)))
    sync_index(path)
    done.value = 1


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_sync_killed_at_any_moment_loses_nothing(tmp_path):
    docs, index = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    for number in range(COUNT):
        (docs / f"{number}.txt").write_text(f"mot zéro {number}", encoding="utf-8")
    make_index(index, "bm25", open_source(str(docs)), ["fr"])
    context = multiprocessing.get_context("fork")
    before, done, moment = contents(index), context.Value("i", 0), 0
    kills = committed = 0
    while not done.value:
        moment += 1
        (docs / f"{moment % 10}.txt").write_text(f"mot version {moment}", encoding="utf-8")
        (docs / f"new{moment}.txt").write_text(f"mot nouveau {moment}", encoding="utf-8")
        (docs / f"new{moment - 1}.txt").unlink(missing_ok=True)
        after = {path.name: path.read_text(encoding="utf-8") for path in docs.iterdir()}
        process = context.Process(target=sync_and_die, args=(index, moment, done))
        process.start()
        process.join()
        there = contents(index)
        assert there in (before, after), f"neither the old nor the new documents after {moment} steps"
        kills += process.exitcode == -signal.SIGKILL
        committed += there == after
        before = there
    assert kills > 10
    assert committed > 1, "some were killed after the commit"
    assert there == after
    assert not sync_index(index).changed
    assert check_index(index)[1] == []
