"""Comparison of golden outputs: of two commits to the last bit, or of two machines up to the last digits of scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

RANKS = 10
"""How many documents of each query the outputs have that are committed."""
Row = list
"""The values of one line."""


def differences(expected: Path, actual: Path, tolerance: float = 0.0) -> Iterator[str]:
    """What differs between two folders, a line for each file.

    With a ``tolerance``, scores may differ by that share of them, and documents may change places whose scores differ
    by no more; everything else has to be the same.
    """
    names = {path.relative_to(folder) for folder in (expected, actual) for path in folder.rglob("*") if path.is_file()}
    for name in sorted(names):
        if not (expected / name).exists():
            yield f"{name}: only in {actual}"
        elif not (actual / name).exists():
            yield f"{name}: only in {expected}"
        elif (expected / name).read_bytes() != (actual / name).read_bytes():
            difference = _difference(expected / name, actual / name, tolerance)
            if difference:
                yield f"{name}: {difference}"


def shorten(source: Path, target: Path) -> None:
    """Write the part of a file of outputs that is committed: the first documents of each query, seven digits."""
    rows = read_rows(source)
    if source.suffix == ".ranking":
        rows = [row for ranking in _by_key(rows, 1).values() for row in ranking[:RANKS]]
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(json.dumps(_rounded(value), ensure_ascii=False) for value in row) for row in rows]
    target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_rows(path: Path) -> list[Row]:
    """The values of each line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [[json.loads(cell) for cell in line.split("\t")] for line in lines]


def _difference(expected: Path, actual: Path, tolerance: float) -> str:
    """The first difference of two files; empty if there is none that counts."""
    before, after = read_rows(expected), read_rows(actual)
    if tolerance and expected.suffix == ".ranking":
        return _ranking_difference(before, after, tolerance)
    if tolerance and expected.suffix == ".explanation":
        return _explanation_difference(before, after, tolerance)
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        if not _same(one, other, tolerance):
            return f"line {number} was {_shown(one)}, is {_shown(other)}"
    if len(before) != len(after):
        return f"had {len(before)} lines, has {len(after)}"
    return "" if tolerance else "has the same values, written in another way"


def _ranking_difference(before: list[Row], after: list[Row], tolerance: float) -> str:
    """Rankings differ where scores do, or where documents have changed places whose scores are not nearly the same."""
    rankings, others = _by_key(before, 1), _by_key(after, 1)
    if list(rankings) != list(others):
        return f"had {len(rankings)} queries, has {len(others)}, or in another order"
    for query, ranking in rankings.items():
        other = others[query]
        if len(ranking) != len(other):
            return f"{query!r} had {len(ranking)} documents, has {len(other)}"
        scores = {document: score for _, document, score in ranking}
        lowest = ranking[-1][2]
        for (_, document, score), (_, other_document, other_score) in zip(ranking, other, strict=True):
            expected_score = scores.get(other_document, lowest)  # a document not listed may tie with the last
            if not (_close(score, other_score, tolerance) and _close(score, expected_score, tolerance)):
                return f"{query!r} had {document!r} {score}, has {other_document!r} {other_score}"
    return ""


def _explanation_difference(before: list[Row], after: list[Row], tolerance: float) -> str:
    """Explanations differ where other hits are explained, or one of them by other lines; their order does not count."""
    explanations, others = _by_key(before, 2), _by_key(after, 2)
    changed = sorted(explanations.keys() ^ others.keys())
    if changed:
        return f"{len(changed)} hits are explained in one of both only, the first: {changed[0]}"
    for key in sorted(explanations):
        lines, other_lines = (sorted(rows, key=lambda row: row[2:4]) for rows in (explanations[key], others[key]))
        if len(lines) != len(other_lines):
            return f"{key} had {len(lines)} lines, has {len(other_lines)}"
        for line, other in zip(lines, other_lines, strict=True):
            if not _same(line, other, tolerance):
                return f"{key} had {_shown(line)}, has {_shown(other)}"
    return ""


def _by_key(rows: list[Row], length: int) -> dict[tuple, list[Row]]:
    """The rows by their first values, in order."""
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[:length]), []).append(row)
    return groups


def _same(one: Row, other: Row, tolerance: float) -> bool:
    if len(one) != len(other):
        return False
    for value, other_value in zip(one, other, strict=True):
        if isinstance(value, float) and isinstance(other_value, float):
            if not _close(value, other_value, tolerance):
                return False
        elif value != other_value:
            return False
    return True


def _close(score: float, other: float, tolerance: float) -> bool:
    return abs(score - other) <= tolerance * max(1.0, abs(score))


def _rounded(value: object) -> object:
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _shown(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False)[:200]
