"""The page of ``cold_start.py``: a figure and a table for each set, tables of titles, tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from cold_start_data import ALL, MOST_QUERIES, SETS, SetName
from cold_start_trials import DEPTH, INGREDIENTS, SYSTEMS, Asked, fusions, ways
from numpy.typing import NDArray

from isogloss.evaluation.significance import holm, paired_t_test
from isogloss.papers.reproduction.figures import line_style, new_figure, save_figure
from isogloss.papers.reproduction.pages import markdown_table
from isogloss.storage.files import atomic_file

Values = NDArray[np.float64]
SIZES = (0, 10, 30, 100, 300, 1000, ALL)
WITHIN, LEVEL = 0.005, 0.05
FIGURES = "appendix/cold-start"
NAMES = {
    "bm25": "BM25, untranslated",
    "bm25-dict": "BM25, dictionary",
    "psq-starter": "PSQ, starter table",
    "psq-pages": "PSQ, own pages",
    "encoder": "encoder",
    "bridge": "`bridge`",
    "bridge+dict": "`bridge`, dictionary",
    "bridge+use": "`bridge`, encoder",
    "bridge+dict+use": "`bridge`, dictionary and encoder",
}
KINDS = {
    Asked("text", ("text",)): "First sentences, texts searched",
    Asked("title", ("text",)): "Titles, texts searched",
    Asked("text", ("title", "text")): "First sentences, titles and texts searched",
    Asked("title", ("title", "text")): "Titles, titles and texts searched",
}
HEAD = f"""\
# From no page of your own

How well does `bridge` search with nothing but documents, and how fast does it improve with translated pages of your
own? The curves show the MRR of the relevant document against the number of own pages (page and translation pairs of the
train split). *BM25*, *PSQ* and the *encoder* are the ingredients of `bridge`, each alone. *Best fusion* is the best
reciprocal rank fusion of two or of all of them, chosen at each point after the fact.

## How it was measured

    python benchmarks/cold_start.py DIR --data DATA --dictionaries DATA/dictionaries --jobs 16
    python benchmarks/cold_start.py DIR --report docs/results/cold-start.md

- English dev queries, the whole collection, one language a set. Where a set has more than {MOST_QUERIES} judged
  dev queries, {MOST_QUERIES} of them are sampled, the same for all systems. A relevant document after rank {DEPTH}
  counts as not found.
- Own pages are sampled from the train split: once, or with `--seeds 3` three times up to 100 pages (the mean is
  shown). A larger sample holds the smaller ones. The other train pages stay in the collection as documents; nothing is
  learned from them.
- Dictionaries: MUSE, for German FreeDict. Lexical ingredients search passages of 30 words; untranslated BM25 searches
  whole texts; the encoder reads the first 40 words of a document, as it does within `bridge`. Its vectors are kept in
  16 bits.
- All systems have their defaults, the same on all sets. Test splits are not used."""


class Rival(NamedTuple):
    """The best of several systems at one point."""

    name: str
    values: Values


class Results:
    """The reciprocal ranks of all trials that were run."""

    def __init__(self, path: Path) -> None:
        self._found: dict[tuple[Any, ...], dict[int, Values]] = {}
        self.dates: set[str] = set()
        for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            asked = Asked(record["query_field"], tuple(record["fields"]))
            key = record["set"], record["system"], record["size"], asked
            ranks = np.asarray(record["ranks"], float)
            values = np.divide(1.0, ranks, out=np.zeros_like(ranks), where=ranks > 0)
            self._found.setdefault(key, {})[record["seed"]] = values
            self.dates.add(record["date"])

    def values(self, each: SetName, system: str, size: int, asked: Asked) -> Values | None:
        """The reciprocal rank of each query, its mean over the samples of pages; what does not learn has no sizes."""
        for wanted in (size, 0) if not _learns(system) else (size,):
            found = self._found.get((each.label, system, wanted, asked))
            if found:
                return np.mean(list(found.values()), axis=0)
        return None

    def best(self, each: SetName, systems: Sequence[str], size: int, asked: Asked) -> Rival | None:
        """The best of some systems."""
        found = {system: self.values(each, system, size, asked) for system in systems}
        rivals = [Rival(system, values) for system, values in found.items() if values is not None]
        return max(rivals, key=lambda rival: rival.values.mean(), default=None)

    def sizes(self, each: SetName) -> list[int]:
        """The numbers of pages that some trial had."""
        there = {key[2] for key in self._found if key[0] == each.label}
        return [size for size in SIZES if size in there]


def _learns(system: str) -> bool:
    return SYSTEMS[system].learns if system in SYSTEMS else "psq-pages" in system


class Test(NamedTuple):
    """A difference that must not be below 0."""

    where: str
    left: float
    right: float
    rival: str
    p: float

    @property
    def difference(self) -> float:
        return self.left - self.right


def write_page(results: Path, page: Path) -> None:
    """Write the page and its figures."""
    found = Results(results)
    sets = [each for each in SETS if found.sizes(each)]
    sections = [HEAD, f"Measured {' to '.join(sorted({min(found.dates), max(found.dates)}))}."]
    for each in sets:
        folder = page.parent / FIGURES
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{each.name}-{each.language}"
        draw(found, each, folder / name)
        asked = next(iter(KINDS))
        sections += [f"## {each.label}", f"![MRR against own pages]({FIGURES}/{name}.png)", table(found, each, asked)]
        for other in ways(each)[1:]:
            sections += [f"{KINDS[other]}:", table(found, each, other)]
    sections += ["## Tests", *tests(found, sets)]
    with atomic_file(page, overwrite=True) as file:
        file.write("\n\n".join(sections) + "\n")


def table(found: Results, each: SetName, asked: Asked) -> str:
    """Systems by numbers of pages; the best of each column is bold."""
    sizes = found.sizes(each)
    rows: dict[str, list[float | None]] = {}
    for system, name in NAMES.items():
        rows[name] = [_mean(found.values(each, system, size, asked)) for size in sizes]
    for form in INGREDIENTS:
        rivals = [found.best(each, list(fusions(form)), size, asked) for size in sizes]
        with_what = NAMES[form].removeprefix("`bridge`").removeprefix(", ")
        name = f"best fusion{', with ' + with_what if with_what else ''}"
        rows[name] = [_mean(rival.values) if rival else None for rival in rivals]
    rows = {name: means for name, means in rows.items() if any(mean is not None for mean in means)}
    best = [max((means[i] or 0.0 for means in rows.values()), default=0.0) for i in range(len(sizes))]
    cells = [(name, *(_cell(mean, top) for mean, top in zip(means, best, strict=True))) for name, means in rows.items()]
    return markdown_table(("own pages", *map(_size, sizes)), cells)


def tests(found: Results, sets: Sequence[SetName]) -> Iterator[str]:
    """``bridge`` against the best of its ingredients and fusions, and against itself with fewer pages."""
    worse, falls, points, steps = [], [], 0, 0
    for each in sets:
        against, growing = _corrected(_against_rivals(found, each)), _corrected(_growing(found, each))
        points, steps = points + len(against), steps + len(growing)
        worse += [test for test in against if test.difference < -WITHIN]
        falls += [test for test in growing if test.difference < 0 and test.p < LEVEL]
    significant = [test for test in worse if test.p < LEVEL]
    yield fill(
        f"Each form of `bridge` against the best of its ingredients and of their fusions, at each point of the curves: "
        f"{points} points. At {points - len(worse)} `bridge` is at least as good, within {_short(WITHIN)}. At "
        f"{len(significant)} of the other {len(worse)} it is significantly below (paired t-test, Holm over the points "
        f"of a set, p < {LEVEL}).", 120,
    )  # fmt: skip
    header = ("point", "`bridge`", "best rival", "its MRR", "difference", "p")
    if worse:
        yield markdown_table(header, map(_row, sorted(worse, key=lambda test: test.p)))
    yield f"Of {steps} steps to more pages {len(falls)} make `bridge` significantly worse."
    if falls:
        yield markdown_table(header, map(_row, falls))


def _against_rivals(found: Results, each: SetName) -> Iterator[Test]:
    for asked in ways(each):
        for size in found.sizes(each):
            for form, parts in INGREDIENTS.items():
                values = found.values(each, form, size, asked)
                rival = found.best(each, [*parts, *fusions(form)], size, asked)
                if values is not None and rival is not None:
                    where = f"{each.label}, {KINDS[asked].lower()}, {_size(size)} pages, {form}"
                    yield _test(where, values, rival)


def _growing(found: Results, each: SetName) -> Iterator[Test]:
    sizes = found.sizes(each)
    for asked in ways(each):
        for form in INGREDIENTS:
            for before, after in pairwise(sizes):
                values, earlier = (found.values(each, form, size, asked) for size in (after, before))
                if values is not None and earlier is not None:
                    where = f"{each.label}, {KINDS[asked].lower()}, {_size(after)} pages, {form}"
                    yield _test(where, values, Rival(f"with {_size(before)} pages", earlier))


def _test(where: str, values: Values, rival: Rival) -> Test:
    p = paired_t_test(values - rival.values)
    return Test(where, float(values.mean()), float(rival.values.mean()), rival.name, p)


def _corrected(made: Iterator[Test]) -> list[Test]:
    rows = list(made)
    return [row._replace(p=p) for row, p in zip(rows, holm([row.p for row in rows]), strict=True)]


def _row(test: Test) -> tuple[str, ...]:
    return test.where, _short(test.left), test.rival, _short(test.right), _short(test.difference), f"{test.p:.4f}"


def draw(found: Results, each: SetName, path: Path) -> None:
    """Two panels: without the encoder and with it."""
    figure = new_figure(11, 5)
    panels = figure.subplots(1, 2, sharey=True)
    sizes, asked = found.sizes(each), next(iter(KINDS))
    shown = (
        ("without the encoder", ("bridge", "bridge+dict"), ("psq-pages", "psq-starter", "bm25-dict")),
        ("with the encoder", ("bridge+use", "bridge+dict+use"), ("encoder",)),
    )
    for axes, (title, forms, others) in zip(panels, shown, strict=True):
        for number, system in enumerate((*forms, *others)):
            curve = [_mean(found.values(each, system, size, asked)) for size in sizes]
            _plot(axes, curve, NAMES[system].replace("`", ""), number)
        rivals = [found.best(each, list(fusions(forms[1])), size, asked) for size in sizes]
        rivals = rivals if any(rivals) else [found.best(each, list(fusions(forms[0])), size, asked) for size in sizes]
        _plot(axes, [_mean(rival.values) if rival else None for rival in rivals], "best fusion", 5)
        axes.set_xticks(range(len(sizes)), [_size(size) for size in sizes])
        axes.set(xlabel="own pages", title=title)
        axes.grid(alpha=0.3)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize="small")
    panels[0].set(ylabel="MRR")
    figure.suptitle(each.label)
    save_figure(figure, path)


def _plot(axes: Any, curve: Sequence[float | None], label: str, number: int) -> None:
    points = [(x, y) for x, y in enumerate(curve) if y is not None]
    if points:
        axes.plot(*zip(*points, strict=True), label=label, **line_style(number, markers=True))


def _mean(values: Values | None) -> float | None:
    return None if values is None else float(values.mean())


def _size(size: int) -> str:
    return "all" if size == ALL else f"{size:,}"


def _cell(mean: float | None, best: float) -> str:
    if mean is None:
        return ""
    return f"**{_short(mean)}**" if mean >= best else _short(mean)


def _short(value: float) -> str:
    """Without the zero before the point."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"
