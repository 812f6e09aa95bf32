"""The tables of ``docs/results/scale.md``, made of the cells that were measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HEADING = "## The tables\n"
"""Where they stand in a page, up to the next heading of its kind."""
BEFORE = "bridge before"
BILLION = 1_000_000_000
_NAMES = {BEFORE: "bridge, before", "tantivy": "BM25 of tantivy"}
_FEWEST = 3  # sizes that an exponent is of
_ENTRY_BYTES = 8  # of a posting in Qdrant's index: a weight of 4 bytes, and (assumed) 4 for the number of the point
_MACHINE_BYTES = 64 * 1e9
_COMPARED = ("pruned", "parts", "another_order")
_MEASURES = {
    "build_s": "build",
    "build_bytes": "memory, build",
    "disk_bytes": "disk",
    "resident_bytes": "memory, search",
    "explained_ms": "one query",
    "plain_ms": "without explanations",
}

Cell = Mapping[str, Any]
Found = dict[tuple[str, int], dict[str, Any]]


def page(cells: Sequence[Cell]) -> str:
    """All tables, as Markdown."""
    found: Found = {}
    for cell in cells:
        if cell["what"] in ("build", "search", "batch", "tantivy"):
            found.setdefault((cell["system"], cell["documents"]), {}).update(cell)
    found = dict(sorted(found.items(), key=lambda each: (_order(each[0][0]), each[0][1])))
    parts = {
        "One query": _queries(found),
        "Building, memory and disk": _builds(found),
        "256 queries in one call": _batches(found),
        "How it grows": _exponents(found),
        "A service": _serving(cells),
        "The same results": _checks(cells),
        "A billion documents on Qdrant, computed": _billion(found),
    }
    sections = [f"### {title}\n\n{text}" for title, text in parts.items() if text]
    return "\n\n".join([_when(found.values()), *sections]) + "\n"


def put_into(path: Path, text: str) -> None:
    """Let the tables take the place of those that stand in a page."""
    before, _, after = path.read_text(encoding="utf-8").partition(HEADING)
    following = after.find("\n## ")
    rest = after[following:] if following >= 0 else ""
    path.write_text(f"{before}{HEADING}\n{text}{rest}", encoding="utf-8")


def _order(system: str) -> int:
    names = ["bridge", "psq", "bm25-dict", "bm25", "smooth", "tantivy"]
    return names.index(system) if system in names else len(names)


def _name(system: str) -> str:
    return _NAMES.get(system, system)


def _when(cells: Iterable[Cell]) -> str:
    there = list(cells)
    days = sorted({cell["when"] for cell in there})
    if not days:
        return "Nothing was measured yet."
    machines = " and ".join(sorted({cell["machine"] for cell in there}))
    return f"Measured {' to '.join(dict.fromkeys([days[0], days[-1]]))} with `benchmarks/scale.py`; {machines}."


def _queries(found: Found) -> str:
    rows = []
    for (system, size), cell in found.items():
        if "explained_ms" in cell:
            peer = found.get(("tantivy", size), {}).get("explained_ms")
            old = found.get((BEFORE, size), {}).get("explained_ms") if system == "bridge" else None
            rows.append([
                _name(system), f"{size:,}", _ms(cell.get("open_ms")), _ms(cell["explained_ms"]),
                _ms(cell["explained_p99_ms"]), _ms(cell.get("plain_ms")),
                f"{cell['explained_ms'] / peer:.1f}" if peer else "",
                f"{old / cell['explained_ms']:.0f}" if old else "",
            ])  # fmt: skip
    head = ["", "documents", "open", "one query", "99 %", "without explanations", "times tantivy", "times faster"]
    return _table(head, rows)


def _builds(found: Found) -> str:
    rows = [
        [
            _name(system), f"{size:,}", f"{cell['build_s']:,.1f} s", _bytes(cell.get("build_bytes")),
            _bytes(cell["disk_bytes"]), _bytes(cell.get("text_bytes")), _bytes(cell.get("resident_bytes")),
            f"{cell['recall']:.3f}" if "recall" in cell else "",
        ]
        for (system, size), cell in found.items()
        if "build_s" in cell
    ]  # fmt: skip
    head = ["", "documents", "build", "memory, build", "disk", "of which texts", "memory, search", "recall@10"]
    return _table(head, rows)


def _batches(found: Found) -> str:
    rows = [
        [_name(system), f"{size:,}", str(cell["cores"]), _ms(cell["batch_ms"]), f"{256e3 / cell['batch_ms']:,.0f}"]
        for (system, size), cell in found.items()
        if "batch_ms" in cell
    ]
    return _table(["", "documents", "cores", "time", "queries a second"], rows)


def _exponents(found: Found) -> str:
    """Of y = c n^b, by least squares of the logarithms."""
    rows = []
    for system in dict.fromkeys(system for system, _ in found):
        line = []
        for measure in _MEASURES:
            points = [
                (size, cell[measure]) for (name, size), cell in found.items() if name == system and measure in cell
            ]
            enough = len(points) >= _FEWEST
            line.append(f"{np.polyfit(*np.log(points).T, 1)[0]:.2f}" if enough else "")
        if any(line):
            sizes = [size for name, size in found if name == system]
            rows.append([_name(system), f"{min(sizes):,} to {max(sizes):,}", *line])
    return _table(["exponent b of c·nᵇ", "documents", *_MEASURES.values()], rows)


def _serving(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in sorted(cells, key=lambda each: str(each.get("system"))):
        if cell["what"] == "serving":
            load = f"clients: {cell['clients']}" if "clients" in cell else f"{cell['rate']:,.0f} a second"
            if "adding_s" in cell:
                load += f", {cell['added']:,.0f} documents added in {cell['adding_s']:.1f} s"
            rows.append([
                cell["system"], load, f"{cell['answered']:,.0f}", _ms(cell.get("answer_p50_ms")),
                _ms(cell.get("answer_p99_ms")), f"{cell['refused']:,.0f}" if cell["refused"] else "",
                _ms(cell.get("refusal_p50_ms")), _ms(cell.get("refusal_p99_ms")),
            ])  # fmt: skip
    return _table(["", "load", "answers a second", "p50", "p99", "503 a second", "503, p50", "503, p99"], rows)


def _checks(cells: Sequence[Cell]) -> str:
    rows = [
        [f"{cell['documents']:,}", f"{cell['queries']:,}", *(str(cell[each]) for each in _COMPARED)]
        for cell in cells
        if cell["what"] == "check"
    ]
    return _table(["documents", "queries", "pruned search", "five additions", "in another order"], rows)


def _billion(found: Found) -> str:
    """Postings and texts of a document are those of the largest measured size."""
    there = [(size, cell) for (system, size), cell in found.items() if system == "bridge" and "postings" in cell]
    if not there:
        return ""
    size, cell = max(there, key=lambda each: each[0])
    postings, texts = cell["postings"] / size, cell["text_bytes"] / size
    index, stored = BILLION * postings * _ENTRY_BYTES, BILLION * (postings * _ENTRY_BYTES + texts)
    machines = int(np.ceil(index / (0.75 * _MACHINE_BYTES)))
    days = cell["build_s"] / size * BILLION / 86_400
    head = ["postings a document", "bytes a posting", "index in memory", "vectors and texts on disk"]
    row = [f"{postings:.0f}", f"{_ENTRY_BYTES} (assumed)", _bytes(index), _bytes(stored)]
    return _table([*head, "machines of 64 GB", "expansion"], [[*row, str(machines), f"{days:.1f} days of one core"]])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    used = [column for column in range(len(head)) if any(row[column] for row in rows)]
    lines = [[each[column] for column in used] for each in (head, *rows)]
    rule = ["---" if column in (0, 1) else "--:" for column in used]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def _ms(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.2f} ms" if value < 10 else f"{value:,.0f} ms"


def _bytes(value: float | None) -> str:
    if value is None:
        return ""
    for unit, size in (("TB", 1e12), ("GB", 1e9)):
        if value >= size:
            return f"{value / size:,.2f} {unit}"
    return f"{value / 1e6:,.0f} MB"
