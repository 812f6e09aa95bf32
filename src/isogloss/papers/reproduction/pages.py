"""The pages of ``reproduce``: items, what they are made from, Markdown and CSV tables, means with their intervals."""

from __future__ import annotations

import csv
import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from isogloss.data.source import Pair
from isogloss.evaluation.significance import student_tails
from isogloss.papers.reproduction.running import Data, DataOf
from isogloss.papers.reproduction.trials import Result, TrialDirectory, TrialKind, distinct
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file

_LEVEL, _COVERAGE = 0.05, 0.95
_RESAMPLES = 2000
_RESAMPLED_TOGETHER = 100

Interval = tuple[float, float]


@dataclass(frozen=True)
class Page:
    """The text of an item and its numbers."""

    text: str
    values: Mapping[str, Any]

    def save(self, directory: Path, item: str) -> None:
        """Write ``ITEM.md`` and ``ITEM.json``."""
        values = {"item": item, **self.values}
        for kind, content in (("md", self.text), ("json", json.dumps(values, indent=1))):
            with atomic_file(directory / f"{item}.{kind}") as file:
                file.write(content.rstrip() + "\n")


class Item(NamedTuple):
    """A table or figure: the trials it needs and its page, each of an experiment."""

    trials: Callable[[Any], Iterable[Any]]
    page: Callable[[Any], Page]
    is_drawn: bool = False
    needs_data: bool = True
    cross_lingual: bool = False


class Setup(ABC):
    """What all trials of a command have in common: a dataclass."""

    data: str
    pairs: tuple[Pair, ...]

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """What every item's JSON begins with."""

    def settings_shown(self, item: Item) -> str:
        """The options that were set for all trials of an item, as its page shows them at its end."""
        return ""


SetupKind = TypeVar("SetupKind", bound=Setup)


@dataclass(frozen=True)
class Experiment(Generic[SetupKind, TrialKind, Data]):
    """What items are made from: the setup, the data, the trials that were run, and where the pages go."""

    setup: SetupKind
    data: DataOf[Data]
    trials: TrialDirectory[TrialKind]
    output: Path

    def results(self, trials: Iterable[TrialKind]) -> list[Result[TrialKind]]:
        """Those of the trials that were run."""
        return [result for trial in trials if (result := self.trials.read(trial))]

    def groups(self, groups: Mapping[str, Iterable[TrialKind]]) -> dict[str, list[Result[TrialKind]]]:
        """The same for named groups."""
        return {name: self.results(trials) for name, trials in groups.items()}

    def needed(self, items: Iterable[Item]) -> list[TrialKind]:
        """Each trial that the items need, once."""
        return distinct(trial for item in items for trial in item.trials(self))

    def page(self, item: Item) -> Page:
        """The page of an item; what was set for all trials stands at its end."""
        page, shown = item.page(self), self.setup.settings_shown(item)
        return Page(f"{page.text}\n\nSet for all trials: {shown}.", page.values) if shown else page


def chosen_items(items: Mapping[str, Item], names: Sequence[str]) -> dict[str, Item]:
    """The named items, in the order of the paper; all without a name."""
    unknown = [name for name in names if name not in items]
    if unknown:
        raise InputError(f"ITEM: {unknown[0]!r} is not one of {', '.join(items)}")
    return {name: item for name, item in items.items() if name in names or not names}


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, the first column to the left, the others to the right.

    >>> print(markdown_table(("loss", "MAP"), [("SOSL", "0.841")]))
    | loss | MAP |
    |---|--:|
    | SOSL | 0.841 |
    """
    rule = f"|---|{'--:|' * (len(header) - 1)}"
    first, *others = (f"| {' | '.join(line)} |" for line in (header, *rows))
    return "\n".join((first, rule, *others))


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table as a file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    with atomic_file(path) as file:
        file.write(text.getvalue())


@dataclass(frozen=True)
class Summary:
    """The mean of some seeds, and half the width of its 95% interval (NaN for one seed)."""

    mean: float
    half: float
    values: tuple[float, ...]

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return "—"
        return f"{self.mean:.3f}" + ("" if math.isnan(self.half) else f" ± {self.half:.3f}")

    def as_json(self) -> dict[str, Any]:
        """As plain values; None where there is no number."""
        mean, half = (None if math.isnan(value) else value for value in (self.mean, self.half))
        return {"mean": mean, "half_interval": half, "seeds": list(self.values)}


def summarise(values: Sequence[float]) -> Summary:
    r"""mean(x) ± t_{.975, n-1} s / sqrt(n), s the standard deviation of the n seeds.

    >>> str(summarise([0.80, 0.81, 0.82])), str(summarise([0.8])), str(summarise([]))
    ('0.810 ± 0.025', '0.800', '—')
    """
    if not values:
        return Summary(math.nan, math.nan, ())
    half = math.nan
    if len(values) > 1:
        half = _student_quantile(len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Summary(float(np.mean(values)), half, tuple(map(float, values)))


def bootstrap_interval(values: NDArray[np.floating], seed: int = 0) -> Interval:
    """The 95 % interval of a mean: between the quantiles of the means of as many values, drawn with replacement.

    >>> bootstrap_interval(np.asarray([0.25, 0.25, 0.25]))
    (0.25, 0.25)
    """
    if not len(values):
        return (math.nan, math.nan)
    rng = np.random.default_rng(seed)
    means = [
        np.asarray(values, float)[rng.integers(0, len(values), (_RESAMPLED_TOGETHER, len(values)))].mean(axis=1)
        for _ in range(_RESAMPLES // _RESAMPLED_TOGETHER)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - _COVERAGE) / 2, (1 + _COVERAGE) / 2])
    return float(low), float(high)


def _student_quantile(degrees: int) -> float:
    """The t that |T| exceeds with probability 5%, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tails(middle, degrees) > _LEVEL else (low, middle)
    return high
