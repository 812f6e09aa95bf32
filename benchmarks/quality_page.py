"""The page of ``quality.py``: tables, tests, costs and a figure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from quality_lists import MOST_HELD
from quality_matchers import MOST_WORDS, USUAL_WORDS
from quality_trials import FIRST_WORDS, MEASURES, Trial

from isogloss.evaluation.significance import compare, holm
from isogloss.papers.reproduction.figures import line_style, new_figure, save_figure
from isogloss.papers.reproduction.pages import bootstrap_interval, markdown_table
from isogloss.papers.reproduction.trials import Result, TrialDirectory
from isogloss.storage.files import atomic_file

OURS = "bridge"
ROUNDS = 10_000
SPEEDS = ("documents_per_second", "documents_per_cpu_second")
NOTE = (
    "Intervals are 95 %, by the bootstrap over the queries; the mean is over the sets that all systems of the table "
    "have. p is that of Fisher's paired randomisation test, after Holm over the rows."
)


class Kept:
    """The trials that were run, by system and set."""

    def __init__(self, directory: Path, trials: Sequence[Trial]) -> None:
        store = TrialDirectory[Trial](directory)
        self.systems = list(dict.fromkeys(trial.system for trial in trials))
        self.sets = list(dict.fromkeys(trial.set_name for trial in trials))
        self.trials: dict[tuple[str, str], Result[Trial]] = {}
        self.blanks: dict[str, str] = {}
        for trial in trials:
            error = directory / f"{trial.name}.error.txt"
            if store.holds(trial, ""):
                found = store.read(trial)
                assert found is not None
                self.trials[trial.system, trial.set_name] = found
            elif error.exists():
                self.blanks[f"{trial.system}, {trial.set_name}"] = error.read_text().strip().splitlines()[-1]

    def values(self, system: str, set_name: str, protocol: str) -> np.ndarray | None:
        """One value a query."""
        kept = self.trials.get((system, set_name))
        return kept.arrays.get(protocol) if kept else None

    def means(self, set_name: str, protocol: str) -> dict[str, float]:
        """System to mean, on a set."""
        found = {system: self.values(system, set_name, protocol) for system in self.systems}
        return {system: float(values.mean()) for system, values in found.items() if values is not None}

    def common_means(self, protocol: str) -> tuple[dict[str, float], int]:
        """System to its mean over the sets that all systems have, and how many sets these are."""
        by_set = {each: self.means(each, protocol) for each in self.sets}
        running = {system for means in by_set.values() for system in means}
        shared = [means for means in by_set.values() if running and means.keys() >= running]
        means = {s: float(np.mean([means[s] for means in shared])) for s in self.systems if s in running and shared}
        return means, len(shared)

    def costs(self, system: str, key: str) -> list[float]:
        """What it took on each set."""
        return [kept.record[key] for (name, _), kept in self.trials.items() if name == system and key in kept.record]

    def matchers(self) -> list[Result[Trial]]:
        """Those that were trained to rank lists."""
        return [kept for kept in self.trials.values() if "history" in kept.record]


def write_page(directory: Path, trials: Sequence[Trial], command: str) -> Path:
    """Write ``quality.md``, ``quality.json`` and the figure."""
    kept = Kept(directory, trials)
    dates = sorted({each.record["date"] for each in kept.trials.values()})
    devices = sorted({each.record["device"] for each in kept.trials.values()})
    sections = [
        "# Quality",
        f"    {command}",
        f"Dev queries, text field only. {', '.join(devices)}; {' to '.join(dates)}.",
    ]
    tests: dict[str, Any] = {}
    for protocol, measure in MEASURES.items():
        tests[protocol] = significance(kept, protocol)
        sections += [
            f"## {protocol}: {measure}", quality_table(kept, protocol), "Against the best rival:",
            tests_table(tests[protocol]),
        ]  # fmt: skip
    sections += [NOTE, *matchers_note(kept.matchers()), "## What it takes", costs_table(kept)]
    if draw(kept, directory / "quality"):
        sections.append("![quality against speed and size](quality.png)")
    if kept.blanks:
        sections += ["## Blank cells", "\n".join(f"- {cell}: {reason}" for cell, reason in kept.blanks.items())]
    records = [{**each.record, "interval": _intervals(each)} for each in kept.trials.values()]
    for name, text in (
        ("md", "\n\n".join(sections)),
        ("json", json.dumps({"tests": tests, "trials": records}, indent=1)),
    ):
        with atomic_file(directory / f"quality.{name}") as file:
            file.write(text + "\n")
    return directory / "quality.md"


def quality_table(kept: Kept, protocol: str) -> str:
    """Systems by sets; the best of each set in bold."""
    best = {each: max(kept.means(each, protocol).values(), default=0.0) for each in kept.sets}
    means, shared = kept.common_means(protocol)
    rows = [
        (system, *(_cell(kept.values(system, each, protocol), best[each]) for each in kept.sets),
         _short(means[system]) if system in means else "")
        for system in kept.systems
        if any(kept.values(system, each, protocol) is not None for each in kept.sets)
    ]  # fmt: skip
    return markdown_table(("system", *kept.sets, f"mean of {shared}"), rows)


def significance(kept: Kept, protocol: str) -> list[dict[str, Any]]:
    """On each set the house's system, in each form, against the best of the others; without it the two best."""
    rows: list[dict[str, Any]] = []
    for each in kept.sets:
        means = kept.means(each, protocol)
        ours = [system for system in means if system.startswith(OURS)] or sorted(means, key=means.__getitem__)[-1:]
        rivals = {system: mean for system, mean in means.items() if system not in ours}
        if not rivals:
            continue
        rival = max(rivals, key=rivals.__getitem__)
        for system in ours:
            left, right = kept.values(system, each, protocol), kept.values(rival, each, protocol)
            assert left is not None and right is not None
            apart = compare(system, rival, MEASURES[protocol], left, right, ROUNDS, seed=0)
            rows.append({
                "set": each, "system": system, "mean": means[system], "rival": rival, "rival_mean": means[rival],
                "difference": apart.difference, "interval": bootstrap_interval(left - right),
                "wins": apart.wins, "ties": apart.ties, "losses": apart.losses, "p": apart.randomisation,
            })  # fmt: skip
    for row, corrected in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = corrected
    return rows


def tests_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row a set and form of the house's system."""
    header = ("set, system", "mean", "best rival", "its mean", "difference", "win / tie / loss", "p")
    cells = [
        (f"{row['set']}, {row['system']}", _short(row["mean"]), row["rival"], _short(row["rival_mean"]),
         f"{_short(row['difference'], '+')} ({_between(row['interval'], '+')})",
         f"{row['wins']} / {row['ties']} / {row['losses']}", f"{row['p_holm']:.4f}")
        for row in rows
    ]  # fmt: skip
    return markdown_table(header, cells)


def costs_table(kept: Kept) -> str:
    """Over the sets: the usual and the worst."""
    header = ("system", "documents/s", "a CPU second", "model, MB", "largest", "training, s", "longest", "settings")
    rows = []
    for system in kept.systems:
        speeds = [_geometric(found) for key in SPEEDS if (found := kept.costs(system, key))]
        sizes, seconds = (kept.costs(system, key) for key in ("model_bytes", "training_seconds"))
        if speeds:
            rows.append((
                system, *(f"{speed:,.0f}" for speed in speeds), f"{np.mean(sizes) / 1e6:.1f}",
                f"{max(sizes) / 1e6:.1f}", f"{np.mean(seconds):.1f}", f"{max(seconds):.1f}", _settings(kept, system),
            ))  # fmt: skip
    said = (
        "Documents/s: text in, searchable out, a geometric mean, by the clock and by the processor's time, to which "
        "it is all one what else the machine had to do. The model: all that no document decides. Training by the clock."
    )
    return f"{markdown_table(header, rows)}\n\n{said}"


def matchers_note(matchers: Sequence[Result[Trial]]) -> list[str]:
    """How those were trained that rank lists alone; nothing where there are none."""
    if not matchers:
        return []
    names = list(dict.fromkeys(each.record["system"] for each in matchers))
    devices = sorted({each.record["device"] for each in matchers})
    seconds = max(each.record["training_seconds"] for each in matchers)
    fewer = "".join(f", {name} {most / 1e6:.0f} million" for name, most in MOST_WORDS.items() if name in names)
    return [
        f"Matchers ({', '.join(names)}) are here to rank lists: they are in the second table alone. All dev queries, "
        f"one seed, defaults; the epoch was chosen on train queries that were held out (a tenth, at most {MOST_HELD}), "
        f"of no more epochs than {USUAL_WORDS / 1e6:.0f} million words of text make{fewer}. Trained on "
        f"{', '.join(devices)}, several at a time, the longest in {seconds:.0f} s; the costs below are without them."
    ]


def draw(kept: Kept, path: Path) -> bool:
    """Mean quality over the whole collections against speed and against size; False where no set has all systems."""
    means, shared = kept.common_means("full")
    if not means:
        return False
    figure = new_figure(11, 4.5)
    panels = figure.subplots(1, 2, sharey=True)
    for number, (system, mean) in enumerate(means.items()):
        style = {**line_style(number, markers=True), "linestyle": ""}
        places = _geometric(kept.costs(system, SPEEDS[1])), max(kept.costs(system, "model_bytes")) / 1e6
        for axes, x in zip(panels, places, strict=True):
            axes.plot([x], [mean], markersize=8, **style)
            side = {"xytext": (7, 5)} if number % 2 else {"xytext": (-7, -10), "horizontalalignment": "right"}
            axes.annotate(system, (x, mean), textcoords="offset points", fontsize="small", **side)
    panels[0].set(
        xscale="log",
        xlabel="documents indexed a CPU second",
        ylabel=f"{MEASURES['full']}, mean of {shared} set{'s'[: shared > 1]}",
    )
    panels[1].set_xscale("symlog", linthresh=0.1)
    panels[1].set_xlabel("largest model, MB")
    for axes in panels:
        axes.margins(x=0.2)
        axes.grid(alpha=0.3)
    save_figure(figure, path)
    return True


def _settings(kept: Kept, system: str) -> str:
    """How it was run; paths of dictionaries are no settings."""
    trial = next(each.trial for (name, _), each in kept.trials.items() if name == system)
    said = [
        f"{key}={value}" if value in ("induced", "use") or value.isdigit() else key for key, value in trial.settings
    ]
    cut = [f"first {FIRST_WORDS[system]} words"] if system in FIRST_WORDS else []
    return ", ".join([*said, *cut]) or "defaults"


def _intervals(kept: Result[Trial]) -> dict[str, tuple[float, float]]:
    return {protocol: bootstrap_interval(values) for protocol, values in kept.arrays.items()}


def _geometric(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _cell(values: np.ndarray | None, best: float) -> str:
    if values is None:
        return ""
    mean = float(values.mean())
    shown = f"**{_short(mean)}**" if mean >= best else _short(mean)
    return f"{shown} ({_between(bootstrap_interval(values))})"


def _between(interval: Sequence[float], sign: str = "") -> str:
    return " to ".join(_short(end, sign) for end in interval)


def _short(value: float, sign: str = "") -> str:
    """Without the zero before the point.

    >>> _short(0.5934), _short(-0.01, "+"), _short(1.0)
    ('.593', '-.010', '1.000')
    """
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:{sign}.3f}"
