"""Changes files of indexes, and uses each changed index in a process of its own.

    python tests/hostile/changing.py --changes 1000
    python tests/hostile/changing.py --changes 1000 --large
    python tests/hostile/changing.py --changes 1000 --forged

A change is a flipped bit, a file cut off, a directory in place of a file, a number of JSON replaced, and so on. The
index is then opened, searched, checked and written to. Each of these must give what it gave before, or an error of one
line that names a file. With ``--forged`` all checksums are made to fit the change, as somebody does who sends an index
to somebody else: results may differ then, but nothing else may happen. With ``--large`` no file is compared with its
checksum at opening, only in the background. The outcomes are counted; any that is not allowed is shown, and the exit
status is 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.data.documents import Document
from isogloss.data.readers.demo import Demo
from isogloss.encoders import pretrained_encoder as pretrained
from isogloss.index.checking import check_index
from isogloss.index.commit import _hash
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.retrieval.vectors import approximate, vector_index
from isogloss.search.searcher import Searcher
from isogloss.storage import checksums, verifying
from isogloss.storage.errors import InputError

SYSTEMS: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "bm25": ("bm25", {"passages": "30"}, ["fr", "it"]),
    "psq": ("psq", {}, ["fr", "it"]),
    "bridge": ("bridge", {"pretrained": "letters", "epochs": "2", "dimension": "16"}, ["fr"]),
    "aligned": ("aligned", {"dimension": "30"}, ["fr"]),
    "hybrid": ("hybrid", {"dense": "smooth", "dense_options": "epochs=1;dimension=8"}, ["fr"]),
}
"""The system, its settings and the languages of each index."""
ALLOWED = {"same", "named"}
SECONDS = 60  # for one change: more is a hang
MEMORY = 2**30  # more than an unchanged index needs
_QUERIES = ("how do bees make honey", "why is the sea salty", "mountains and volcanoes")
_NUMBERS: tuple[Any, ...] = (2**63, 10**30, -1, -(2**40), "7", "", 1.5, None, True, [], {}, 0, float("nan"), 1e308)
_TYPES = ("<i8", "<i4", "<f4", "<f8", "|u1", "<u4", "<u8", "|b1", "<i2", ">i4", "<c16", "|S4", "<M8[s]", "|O", "?!")

Change = Callable[[Path], None]


class LetterCounts:
    """Stands in for a sentence encoder."""

    batch, version = 32, "1"

    def encode(self, texts: Any, is_query: bool) -> Any:
        rows = [[text.count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]
        return np.array(rows, np.float32)


def use_stand_ins() -> None:
    """In this process, texts are encoded by their letters, and few vectors are searched by lists too."""
    pretrained.ENCODERS["letters"] = (LetterCounts, ("en", "fr", "it"))
    approximate.TARGET = 0.0  # whatever they find, lists are used
    vector_index.Settings.approximates = lambda self, rows, dimension: rows >= 40  # type: ignore[method-assign]


def make(folder: Path, name: str) -> Path:
    """An index of the demo with several segments and deleted documents."""
    system, settings, languages = SYSTEMS[name]
    path = folder / name
    make_index(path, system, Demo(), languages, settings=settings)
    with IndexWriter(path, background=False) as writer:
        for language in languages:
            some = [writer.index.languages[language].store.id_of(row) for row in (3, 7, 20)]
            writer.delete(some, [language])
            writer.add([Document(f"new{i}", f"Le miel numéro {i}, la mer.", language=language) for i in range(5)])
        writer.commit()
        writer.add([Document("new1", "La ruche est pleine de miel.", "Ruche", languages[0], fields={"kind": "manual"})])
        writer.commit()
    return path


def use(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is done with an index, by name."""
    opened: dict[str, Any] = {}

    def open_it() -> Any:
        opened["index"] = index = open_index(path)
        index.verify().wait()
        for of_query in index.by_query_language.values():
            for language_index in of_query.values():
                language_index.system.warm()
        return sorted(index.manifest.documents.items())

    def searcher() -> Searcher:
        return Searcher(opened["index"])

    def hits(query: str, **more: Any) -> Any:
        return [(hit.document.id, hit.score, hit.document.text) for hit in searcher().search(query, 8, **more)]

    def write() -> Any:
        with IndexWriter(path, background=False) as writer:
            writer.add([Document("last", "Les abeilles et le miel", language="fr")])
            writer.delete(["new2"])
            writer.commit()
            writer.compact()
            opened["index"] = writer.index
        return hits(_QUERIES[0])

    yield "open", open_it
    for query in _QUERIES:
        yield "search", lambda query=query: hits(query)
    yield "filter", lambda: hits(_QUERIES[0], filters={"kind": "manual"})
    yield "batch", lambda: [[hit.document.id for hit in each] for each in searcher().search_each(list(_QUERIES), 20)]
    yield "explain", lambda: [searcher().explain(_QUERIES[0], "fr", id_) for id_ in ("new1", "new3")]
    yield "get", lambda: str(searcher().get("new1", "fr"))
    yield "sources", lambda: {language: str(each[5]) for language, each in opened["index"].sources.items()}
    yield "about", lambda: {**opened["index"].about(), "path": "", "bytes": 0}
    yield "check", lambda: check_index(path)[1]
    yield "write", write


def used(path: Path, about_errors: bool = True) -> dict[str, Any]:
    """The result or the error of each use; nothing is tried after the index could not be opened but check and write."""
    found: dict[str, Any] = {}
    for number, (name, do) in enumerate(use(path)):
        if found.get("0 open", "").startswith("error") and name not in ("check", "write"):
            continue
        try:
            result = json.dumps(do(), default=str)
            if name == "check" and result != "[]":
                result = f"error named: {result}"
        except InputError as error:
            result = f"error {'named' if _is_good(str(error), path) else 'vague'}: {error}"
        except BaseException:
            result = f"error traceback: {traceback.format_exc()}"
        found[f"{number} {name}"] = result
    return found


def _is_good(message: str, path: Path) -> bool:
    return "\n" not in message and path.name in message


def in_child(work: Callable[[], Any]) -> Any:
    """What ``work`` returns in a process of its own, or how that ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        status = 1
        try:
            signal.alarm(SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # faiss warns of few rows
            used_now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used_now + MEMORY, used_now + MEMORY))
            content = json.dumps(work()).encode()
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(content)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    _, ended = os.waitpid(child, 0)
    if os.WIFSIGNALED(ended):
        number = os.WTERMSIG(ended)
        return "hang" if number == signal.SIGALRM else f"signal {number}"
    return json.loads(content) if content else "died"


def outcome(found: Any, expected: dict[str, str], forged: bool) -> tuple[str, str]:
    """In a word and with what shows it: same, named, silent, traceback, vague, signal, hang."""
    if isinstance(found, str):
        return found, found
    for kind in ("traceback",) if forged else ("traceback", "vague"):  # forged ids may not be found
        wrong = [f"{name}: {result}" for name, result in found.items() if result.startswith(f"error {kind}")]
        if wrong:
            return kind, wrong[0]
    different = [name for name, result in found.items() if result != expected[name] and not result.startswith("error")]
    if different and not forged:
        shown = different[0]
        return "silent", f"{shown}: {found[shown][:300]} instead of {expected[shown][:300]}"
    errors = [result for result in found.values() if result.startswith("error")]
    return ("named", errors[0]) if errors else ("other" if different else "same", "")


def _files(index: Path) -> list[Path]:
    return sorted(path for path in index.rglob("*") if path.is_file() and path.name != "write.lock")


def _write_into(path: Path, content: bytes) -> None:
    path.unlink()  # the file of the copy is a link to the original
    path.write_bytes(content)


def byte_changes(random: random.Random, others: list[Path]) -> list[tuple[str, Change]]:
    """Changes of a file, whatever it contains."""

    def edited(edit: Callable[[bytearray], Any]) -> Change:
        def change(path: Path) -> None:
            content = bytearray(path.read_bytes())
            edit(content)
            _write_into(path, bytes(content))

        return change

    def flip(content: bytearray) -> None:
        if content:
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)

    def overwrite(content: bytearray) -> None:
        begin, length = random.randrange(len(content) + 1), random.choice((4, 8, 100, 5000))
        content[begin : begin + length] = random.randbytes(len(content[begin : begin + length]))

    def swap(content: bytearray) -> None:
        size = random.choice((4, 8, 64))
        if len(content) > 2 * size:
            first, second = (random.randrange(len(content) // size) * size for _ in range(2))
            one, other = content[first : first + size], content[second : second + size]
            content[first : first + size], content[second : second + size] = other, one

    def replaced(make: Callable[[Path], Any]) -> Change:
        def change(path: Path) -> None:
            path.unlink()
            make(path)

        return change

    return [
        ("flip", edited(flip)),
        ("overwrite", edited(overwrite)),
        ("swap", edited(swap)),
        ("zero", edited(lambda content: content.__setitem__(slice(0, None), bytes(len(content))))),
        ("truncate", edited(lambda content: content.__delitem__(slice(random.randrange(len(content) + 1), None)))),
        ("cut", edited(lambda content: content.__delitem__(slice(len(content) - 1, None)))),
        ("extend", edited(lambda content: content.extend(random.randbytes(random.choice((1, 64, 5000)))))),
        ("empty", edited(lambda content: content.clear())),
        ("remove", replaced(lambda path: None)),
        ("directory", replaced(lambda path: path.mkdir())),
        ("fifo", replaced(os.mkfifo)),
        ("loop", replaced(lambda path: path.symlink_to(path.name))),
        ("dangling", replaced(lambda path: path.symlink_to("nowhere"))),
        ("device", replaced(lambda path: path.symlink_to("/dev/zero"))),
        ("link", replaced(lambda path: path.symlink_to(random.choice(others)))),
        ("exchange", replaced(lambda path: shutil.copy(random.choice(others), path))),
        ("same-name", replaced(lambda path: shutil.copy(
            random.choice([each for each in others if each.name == path.name] or others), path))),
    ]  # fmt: skip


def json_changes(random: random.Random) -> list[tuple[str, Change]]:
    """Changes of a value or a key in JSON."""

    def edited(edit: Callable[[Any, Any], Any]) -> Change:
        def change(path: Path) -> None:
            content = json.loads(path.read_bytes())
            places = [(holder, key) for holder, key in _places(content)]
            edit(*random.choice(places)) if places else None
            _write_into(path, json.dumps(content).encode())

        return change

    def number(holder: Any, key: Any) -> None:
        holder[key] = random.choice(_NUMBERS)

    def forget(holder: Any, key: Any) -> None:
        del holder[key]

    def rename(holder: Any, key: Any) -> None:
        if isinstance(holder, dict):
            holder[random.choice(("", "../../x", f"{key}x", "\ud800"))] = holder.pop(key)

    def add(holder: Any, key: Any) -> None:
        if isinstance(holder, dict):
            holder["more"] = 1
        else:
            holder.append(1)

    def whole(value: bytes) -> Change:
        return lambda path: _write_into(path, value)

    return [
        *(("number", edited(number)) for _ in range(4)),
        ("forget", edited(forget)),
        ("rename", edited(rename)),
        ("add", edited(add)),
        ("deep", whole(b"[" * 100_000)),
        ("list", whole(b"[]")),
        ("null", whole(b"null")),
        ("not-utf8", whole(b'{"a": "\xff\xfe"}')),
        ("string", whole(b'"index"')),
    ]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def entry_changes(random: random.Random) -> list[tuple[str, Change]]:
    """Changes of arrays.json: where an array begins, its type and its shape."""

    def edited(edit: Callable[[dict[str, Any], str], Any]) -> Change:
        def change(path: Path) -> None:
            entries = json.loads(path.read_bytes())
            edit(entries, random.choice(list(entries)))
            _write_into(path, json.dumps(entries).encode())

        return change

    def start(entries: dict[str, Any], name: str) -> None:
        entries[name][2] = random.choice((0, 1, 7, 64, random.choice(list(entries.values()))[2], 10**6, 2**62, 2**70))

    def kind(entries: dict[str, Any], name: str) -> None:
        entries[name][0] = random.choice(_TYPES)

    def shape(entries: dict[str, Any], name: str) -> None:
        old = entries[name][1]
        entries[name][1] = random.choice(
            ([], [0], [1], [old[0] - 1, *old[1:]], [*old, 1], [1, *old], [2**62, 4], [2**40], [0, 2**63], [-1], "3",
             [old[0] + 1, *old[1:]], [*reversed(old)], [1] * 80)
        )  # fmt: skip

    def other(entries: dict[str, Any], name: str) -> None:
        entries[name] = random.choice([each for key, each in entries.items() if key != name] or [[]])

    return [("start", edited(start)), ("kind", edited(kind)), ("shape", edited(shape)), ("other", edited(other))]


def array_changes(random: random.Random) -> list[tuple[str, Change]]:
    """Changes of the numbers of one array in arrays.bin."""

    def edited(edit: Callable[[Any], Any]) -> Change:
        def change(path: Path) -> None:
            entries = json.loads((path.parent / "arrays.json").read_bytes())
            content = bytearray(path.read_bytes())
            kind, shape, begin, _ = entries[random.choice(list(entries))]
            array = np.ndarray(shape, kind, content, begin).reshape(-1)
            if array.size:
                edit(array)
            del array
            _write_into(path, bytes(content))

        return change

    def extreme(array: Any) -> None:
        whole = array.dtype.kind in "iub"
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        values = [limits.min, limits.max, 0, 1] if limits else [0, 1] if whole else [np.nan, np.inf, -1e30, 0]
        some = [random.randrange(array.size) for _ in range(random.choice((1, 3, array.size)))]
        array[some] = random.choice(values)

    def shift(array: Any) -> None:
        array += np.ones(1, array.dtype) * random.choice((1, 5, 100))

    return [
        ("extreme", edited(extreme)),
        ("extreme", edited(extreme)),
        ("shift", edited(lambda array: shift(array) if array.dtype.kind != "b" else None)),
        ("reverse", edited(lambda array: array.__setitem__(slice(None), array[::-1].copy()))),
        ("shuffle", edited(lambda array: np.random.default_rng(random.randrange(2**32)).shuffle(array))),
    ]


def forge_checksums(index: Path, changed: Path) -> None:
    """Make every checksum above a changed file fit it again, where the files can still be read."""
    folder = changed.parent
    if changed.name == "arrays.bin":
        entries = json.loads((folder / "arrays.json").read_bytes())
        content = changed.read_bytes()
        for entry in entries.values():
            size = int(np.prod(entry[1])) * np.dtype(entry[0]).itemsize
            entry[3] = blake2b(content[entry[2] : entry[2] + size], digest_size=16).hexdigest()
        _write_into(folder / "arrays.json", json.dumps(entries).encode())
    elif changed.name == "arrays.json":
        entries = json.loads(changed.read_bytes())
        content = (folder / "arrays.bin").read_bytes()
        for entry in entries.values():
            try:
                size = int(np.prod(entry[1])) * np.dtype(entry[0]).itemsize
                entry[3] = blake2b(content[entry[2] : entry[2] + size], digest_size=16).hexdigest()
            except (TypeError, ValueError, IndexError, KeyError, OverflowError):
                continue
        _write_into(changed, json.dumps(entries).encode())
    commit = json.loads((index / "commit.json").read_bytes())
    for parent in changed.parents:
        note = parent / checksums.FILE
        if note.exists() and changed != note and index in parent.parents:
            note.unlink()
            checksums.write_checksums(parent)
            break
    if changed.name != "commit.json":
        for name in commit["files"]:
            commit["files"][name] = checksums.note_of(index / name)
    commit.pop("checksum", None)
    _write_into(index / "commit.json", json.dumps({**commit, "checksum": _hash(commit)}).encode())


def copied(index: Path, where: Path) -> Path:
    """A copy whose large files are links to the originals."""
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(index, where, copy_function=lambda source, target: (
        shutil.copy2 if source.endswith(".json") else os.link)(source, target))  # fmt: skip
    return where


def change_of(file: Path, chance: random.Random, others: list[Path], forged: bool) -> tuple[str, Change]:
    """A change that fits a file, drawn at random."""
    kinds = [byte_changes(chance, others)] * (1 if forged else 3)
    if file.suffix == ".json":
        kinds.append(json_changes(chance))
    if file.name == "arrays.json":
        kinds += [entry_changes(chance)] * 2
    if file.name == "arrays.bin":
        kinds += [array_changes(chance)] * 4
    return chance.choice(chance.choice(kinds))


def is_changed(index: Path, file: Path, change: Change, forged: bool) -> bool:
    """Change a file; False if its checksums could not be made to fit."""
    try:
        change(file)
        if forged and file.exists() and not file.is_file():
            return False
        if forged:
            forge_checksums(index, file)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        if not forged:
            raise
        return False
    return True


def campaign(folder: Path, names: list[str], changes: int, seed: int, forged: bool, show: int) -> Counter[str]:
    """Count the outcomes of so many changes, spread over all files of all indexes."""
    chance, counts = random.Random(seed), Counter[str]()
    indexes = {name: folder / name for name in names}
    expected = {name: used(copied(path, folder / "used" / name)) for name, path in indexes.items()}  # loads code, once
    for name, found in expected.items():
        wrong = [each for each in found.values() if each.startswith("error")]
        if wrong:
            raise SystemExit(f"{name}: an unchanged index gives {wrong[0]}")
    files = [(name, file.relative_to(path)) for name, path in indexes.items() for file in _files(path)]
    for name, path in indexes.items():
        copied(path, folder / "others" / name)
    others = [folder / "others" / name / file for name, file in files]
    chance.shuffle(files)
    for number in range(changes):
        name, file = files[number % len(files)]
        kind, change = change_of(file, chance, others, forged)
        path = copied(indexes[name], folder / "used" / name)
        if not is_changed(path, path / file, change, forged):
            counts["not forged"] += 1
            continue
        what, why = outcome(in_child(lambda path=path: used(path)), expected[name], forged)
        counts[what] += 1
        if what not in ALLOWED and not (forged and what == "other") and counts[what] <= show:
            sys.stdout.write(f"{what}: change {number}, {name}, {kind} of {file}: {why[-1500:]}\n")
            sys.stdout.flush()
    return counts


def main() -> int:
    """Make the indexes, change their files, print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--forged", action="store_true")
    parser.add_argument("--large", action="store_true", help="take every file for a large one")
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    use_stand_ins()
    faulthandler.enable()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="isogloss-hostile-"))
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    try:
        for name in options.systems:
            if not (folder / name).exists():
                make(folder, name)
        if options.large:
            checksums.SMALL, verifying.AT_OPENING = 0, 0
        counts = campaign(folder, options.systems, options.changes, options.seed, options.forged, options.show)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(json.dumps({"outcomes": dict(sorted(counts.items()))}) + "\n")
    return 1 if set(counts) - ALLOWED - ({"other", "not forged"} if options.forged else set()) else 0


if __name__ == "__main__":
    sys.exit(main())
