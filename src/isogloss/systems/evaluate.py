"""Evaluation of systems, run directories and run files: what ``isogloss evaluate`` does."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import parse_fields
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.data.source import Source, parse_pair
from isogloss.encoders.pretrained_encoder import with_named_models
from isogloss.evaluation.protocols import Task, make_task
from isogloss.evaluation.report import Result, as_json, compare_results, evaluate_run
from isogloss.evaluation.run import Run
from isogloss.evaluation.significance import Comparison
from isogloss.storage.errors import InputError, import_extra
from isogloss.systems.base import System
from isogloss.systems.passages import by_passages
from isogloss.systems.registry import as_settings, is_system, make_system, system_names
from isogloss.systems.trainable import load_model
from isogloss.text.html_tables import html_table

if TYPE_CHECKING:
    import pandas

Systems = str | Path | Sequence[str | Path] | Mapping[str, Mapping[str, Any]]
"""Names of systems, run directories, TREC run files; or names of systems with their options."""
_FIRST = "MRR_mr"  # the measure that is shown in one line


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The results of an evaluation, by system."""

    task: Task
    split: str
    fields: tuple[str, ...]
    results: Mapping[str, Result]
    limit: int = 0

    @property
    def measures(self) -> dict[str, dict[str, float]]:
        """Name of a system to name of a measure to its mean over the queries."""
        return {name: result.means() for name, result in self.results.items()}

    def compare(self) -> list[Comparison]:
        """Every pair of systems, query by query: differences and their significance."""
        return compare_results(self.results, self.task.seed)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with one row for each system and one column for each measure."""
        frame = import_extra("pandas", "pandas", "to_pandas").DataFrame.from_dict(self.measures, orient="index")
        return frame.rename_axis("system")

    def __repr__(self) -> str:
        first = ", ".join(f"{name} {means[_FIRST]:.3f}" for name, means in self.measures.items())
        return f"<Evaluation {self._of}: {_FIRST} of {first}>"

    def _repr_html_(self) -> str:
        names = list(next(iter(self.measures.values()), {}))
        best = {name: max(means[name] for means in self.measures.values()) for name in names}
        rows = (
            [escape(system), *(_cell(value, value == best[name]) for name, value in means.items())]
            for system, means in self.measures.items()
        )
        return html_table(["system", *names], rows, self._of)

    @property
    def _of(self) -> str:
        """What the systems were measured on."""
        data, pair = self.task.dataset.source.name, "-".join(self.task.dataset.pair)
        return f"{data} {pair}, {len(self.task.queries):,} queries of {self.split}, {self.task.protocol}"

    def as_json(self, comparisons: Sequence[Comparison] = ()) -> dict[str, Any]:
        """Everything another program needs to use or repeat the evaluation."""
        found = as_json(self.task, self.split, self.results, list(comparisons))
        return {**found, "fields": list(self.fields), "query_limit": self.limit}


def _cell(value: float, best: bool) -> str:
    return f"<b>{value:.3f}</b>" if best else f"{value:.3f}"


def evaluate(
    systems: Systems, data: str | Source, pair: str, *, split: str = "dev", protocol: str = "full",
    negatives: int = 40, depth: int = 1000, fields: str = "text", query_field: str = "text", seed: int = 0,
    skip_bad: bool = False, queries: int = 0,
) -> Evaluation:  # fmt: skip
    """Fit each system on the train split (runs are trained already), rank for the queries of a split, evaluate.

    ``fields``: what is read of the documents; ``query_field``: what is asked, the ``text`` of each query or its
    ``title``. Systems are fitted on the texts of the train queries in both cases. ``queries``: so many judged queries
    of the data, drawn by the seed within each split (0: all).

    >>> found = evaluate(["bm25", "psq"], "demo", "en-sw")
    >>> found.measures["psq"]["MRR_mr"] > found.measures["bm25"]["MRR_mr"] + 0.5
    True
    """
    options = _options(systems)
    read = parse_fields(fields)
    source = open_source(data) if isinstance(data, str) else data
    dataset = load_dataset(source, parse_pair(pair), seed, Problems(not skip_bad), queries=queries)
    task = make_task(dataset, split, protocol, negatives, seed, depth, query_field)
    made = {name: _made(name, settings, task) for name, settings in options.items()}  # errors come before the work
    results = {
        name: evaluate_run(Run.read(Path(name)), task)
        if one is None
        else evaluate_system(one, task, read, fit=is_system(name))
        for name, one in made.items()
    }
    return Evaluation(task, split, read, results, queries)


def _options(systems: Systems) -> dict[str, Mapping[str, Any]]:
    if isinstance(systems, Mapping):
        return dict(systems)
    names = [systems] if isinstance(systems, str | Path) else list(systems)
    options: dict[str, Mapping[str, Any]] = {str(name): {} for name in names}
    if len(options) != len(names):
        raise InputError("evaluate: name each system once")
    return options


def _made(name: str, options: Mapping[str, Any], task: Task) -> System | None:
    """A system by its name or its run directory; None for a run file."""
    if is_system(name):
        return make_system(name, task.dataset.pair, with_named_models(as_settings(options)), task.dataset.source)
    if options:
        raise InputError(f"{name}: only systems have options, not runs")
    if not Path(name).exists():
        raise InputError(f"{name}: neither a system ({', '.join(system_names())}) nor a run")
    if not Path(name).is_dir():
        return None
    system = load_model(Path(name))
    trained, pair = (system.query_language, system.document_language), task.dataset.pair
    if trained != pair:
        raise InputError(f"{name}: was trained for {'-'.join(trained)}, not for {'-'.join(pair)}")
    return by_passages(system)


def evaluate_system(system: System, task: Task, fields: tuple[str, ...], fit: bool = True) -> Result:
    """Fit on the train split (if ``fit``), index the documents, rank, evaluate."""
    started = time.perf_counter()
    if fit:
        system.fit(task.dataset)
    system.index(task.dataset.documents, fields)
    run = task.run(system)
    return evaluate_run(run, task, time.perf_counter() - started, asdict(system.options))
