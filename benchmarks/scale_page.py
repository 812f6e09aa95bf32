"""The tables of ``docs/results/scale.md``, made of the cells that were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scale_growth import Growth, Points, growth

Kept = Sequence[Mapping[str, Any]]
"""Cells as they are kept, all sizes of one backend after the other."""

HEADING = "## The tables\n"
"""Where they stand in a page, up to the next heading of its kind."""
BILLION = 1_000_000_000
_MACHINE = 64 * 2**30
_FOR_SEARCH = 0.75  # of a machine's memory: the rest is for the system and for what is being built
_JOBS = {"encoding": "documents encoded", "training": "pairs trained on, one epoch"}
_MEASURES = {
    "build_seconds": "build",
    "build_memory": "memory, build",
    "memory": "memory, search",
    "disk": "disk",
    "single_ms": "one query",
    "batch_ms": "32 queries",
}


def page(cells: Kept) -> str:
    """All tables, as Markdown."""
    ways = _ways(cells)
    searched = {name: points for name, points in ways.items() if name not in _JOBS and name != "checks"}
    parts = {
        "Search": _measured(searched, cells),
        "Encoding and training": _jobs(ways),
        "Exponents": _exponents(ways),
        "A billion documents, computed from these": _billion(searched, ways),
        "Ray": _checks(ways),
    }
    sections = [f"### {title}\n\n{text}" for title, text in parts.items() if text]
    return "\n\n".join([_when(cells), *sections]) + "\n"


def put_into(path: Path, text: str) -> None:
    """Let the tables take the place of those that stand in a page, or be a file of their own."""
    before, mark, after = path.read_text(encoding="utf-8").partition(HEADING) if path.exists() else ("", "", "")
    if not mark:
        path.write_text(text, encoding="utf-8")
        return
    following = after.find("\n## ")
    rest = after[following:] if following >= 0 else ""
    path.write_text(f"{before}{HEADING}\n{text}{rest}", encoding="utf-8")


def _ways(cells: Kept) -> dict[str, Points]:
    found: dict[str, dict[int, Mapping[str, Any]]] = {}
    for cell in cells:
        for name, point in cell.get("ways", {}).items():
            found.setdefault(name, {})[int(cell["rows"])] = point
    return dict(found)


def _when(cells: Kept) -> str:
    days = sorted({cell["when"] for cell in cells if "when" in cell})
    cores = sorted({cell["cores"] for cell in cells if "cores" in cell})
    if not days:
        return "Nothing was measured yet."
    when = " to ".join(dict.fromkeys([days[0], days[-1]]))
    busy = max((cell.get("load", 0.0) for cell in cells), default=0.0)
    return (
        f"Measured {when} (`benchmarks/scale.py`), {' or '.join(map(str, cores))} core(s), one thread a process;"
        f" the load of the machine before a cell was at most {busy:.1f}."
    )


def _measured(ways: Mapping[str, Points], cells: Kept) -> str:
    head = ["", "documents", *_MEASURES.values(), "recall@10", "searched"]
    rows = []
    for name, points in ways.items():
        for count, point in sorted(points.items()):
            shown = [_shown(measure, point.get(measure)) for measure in _MEASURES]
            recall = f"{point['recall']:.3f}" if "recall" in point else ""
            rows.append([name, f"{count:,}", *shown, recall, str(point.get("kind", ""))])
    lines = [_table(head, rows)] if rows else []
    skipped = [f"- {cell['what']}, {cell['rows']:,}: {cell['skipped']}" for cell in cells if cell.get("skipped")]
    return "\n\n".join(lines + (["Not measured:\n\n" + "\n".join(skipped)] if skipped else []))


def _jobs(ways: Mapping[str, Points]) -> str:
    rows = [
        [title, f"{count:,}", _seconds(point["seconds"]), f"{count / point['seconds']:,.0f}", _bytes(point["memory"])]
        for name, title in _JOBS.items()
        for count, point in sorted(ways.get(name, {}).items())
    ]
    return _table(["", "number", "time", "a second", "memory"], rows) if rows else ""


def _exponents(ways: Mapping[str, Points]) -> str:
    """The table of exponents, each with the sizes that it was fitted over."""
    rows = []
    for name, points in ways.items():
        measures = ["seconds", *list(_MEASURES)[1:]] if name in _JOBS else list(_MEASURES)
        cells = [_fitted(growth(points, measure)) for measure in measures]
        if any(cells):
            rows.append([name, *cells])
    if not rows:
        return ""
    largest = max(count for points in ways.values() for count in points)
    return f"Each with the sizes it was fitted over, of {largest:,} at most.\n\n" + _table(
        ["", *_MEASURES.values()], rows
    )


def _fitted(fit: Growth | None) -> str:
    return f"{fit.exponent:.2f} ({fit.sizes[0]:,} to {fit.sizes[-1]:,})" if fit else ""


def _billion(ways: Mapping[str, Points], jobs: Mapping[str, Points]) -> str:
    rows = [row for name, points in ways.items() if (row := _at_a_billion(name, points))]
    head = ["computed, for 1,000,000,000", "build", "memory, build", "disk", "read by searches", "machines of 64 GiB"]
    lines = [_table([*head, "one query"], rows)] if rows else []
    for name, title in _JOBS.items():
        fit = growth(jobs.get(name, {}), "seconds")
        if fit:
            lines.append(f"A billion {title}: {_seconds(fit.at(BILLION, least=1.0))} (computed, one core).")
    return "\n\n".join(lines)


def _at_a_billion(name: str, points: Points) -> list[str] | None:
    """What it would take; a query is asked of all machines at once, each with its share of the documents."""
    wanted = ("build_seconds", "build_memory", "disk", "hot", "single_ms")
    fits = {measure: growth(points, measure) for measure in wanted}
    found: dict[str, Growth] = {measure: fit for measure, fit in fits.items() if fit}
    if len(found) < len(wanted):
        return None
    memory, disk, hot = (found[measure].on_line(BILLION) for measure in wanted[1:4])
    machines = math.ceil(hot / (_MACHINE * _FOR_SEARCH))
    build, single = found["build_seconds"].at(BILLION, least=1.0), found["single_ms"].at(BILLION / machines)
    return [name, _seconds(build), _bytes(memory), _bytes(disk), _bytes(hot), str(machines), _milliseconds(single)]


def _checks(ways: Mapping[str, Points]) -> str:
    for found in ways.get("checks", {}).values():
        ratios = "; ".join(f"{name}: x {value:.2f}" for name, value in found.items())
        return f"Two one-thread Ray workers against one process, indexing: {ratios}."
    return ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(measure: str, value: float | None) -> str:
    if value is None:
        return ""
    if measure.endswith("_ms"):
        return _milliseconds(value)
    return _seconds(value) if measure.endswith("seconds") else _bytes(value)


def _milliseconds(value: float) -> str:
    if value >= _LONG:
        return _seconds(value / 1000)
    return f"{value:,.2f} ms" if value < _SHORT else f"{value:,.0f} ms"


def _seconds(value: float) -> str:
    for unit, size in _UNITS_OF_TIME:
        if value >= 2 * size:
            return f"{value / size:,.0f} {unit}"
    return f"{value:.1f} s"


_SHORT, _LONG = 10, 10_000  # milliseconds
_UNITS_OF_TIME = (("days", 86_400), ("hours", 3_600), ("minutes", 60))


def _bytes(value: float) -> str:
    for unit, size in (("TiB", 2**40), ("GiB", 2**30)):
        if value >= size:
            return f"{value / size:,.1f} {unit}"
    return f"{value / 2**20:.1f} MiB"
