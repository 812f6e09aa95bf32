"""The table of what each ingredient gives: the whole system against the system without it."""

from __future__ import annotations

from typing import Any

from isogloss.evaluation.significance import compare, holm
from isogloss.papers.bridge.experiment import Experiment
from isogloss.papers.bridge.intervals import bootstrap_interval
from isogloss.papers.bridge.plan import ABLATIONS, WHOLE
from isogloss.papers.bridge.trial import Result, Results
from isogloss.papers.bridge.trial_run import MEASURE
from isogloss.papers.pages import Page, markdown_table

_ROUNDS = 10_000
_HEADER = ("system", MEASURE, "difference", "win / tie / loss", "p", "seconds")
_NOTE = (
    "Differences are to the whole system, query by query: what is below 0 is what the ingredient gives. In brackets "
    "95 % intervals (bootstrap over the queries); p is that of Fisher's paired randomisation test, after Holm. Seconds "
    "are those of learning, indexing and searching."
)


def ablation(experiment: Experiment) -> Page:
    """A table a pair."""
    sections, values = [f"# What each ingredient of bridge gives: {experiment.setup.data}"], {}
    for pair in experiment.setup.pairs:
        name, found = "-".join(pair), experiment.results(experiment.ablations(pair))
        values[name] = rows = compared(found)
        sections += [f"## {name}", experiment.about_line(found), markdown_table(_HEADER, map(_cells, rows))]
    return Page("\n\n".join([*sections, _NOTE]), {**experiment.about(), "pairs": values})


def compared(found: Results) -> list[dict[str, Any]]:
    """A row a trial, with what it differs by from the first, as plain values."""
    rows = [_row(label, result) for label, result in found.items()]
    whole = found[WHOLE]
    tested = []
    for row, result in zip(rows, found.values(), strict=True):
        if whole is None or result is None or result is whole:
            continue
        left, right = result.arrays[MEASURE], whole.arrays[MEASURE]
        apart = compare(row["system"], WHOLE, MEASURE, left, right, _ROUNDS, seed=0)
        row |= {"difference": apart.difference, "difference_interval": bootstrap_interval(left - right)}
        row |= {"wins": apart.wins, "ties": apart.ties, "losses": apart.losses, "p": apart.randomisation}
        tested.append(row)
    for row, corrected in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row["p_holm"] = corrected
    return rows


def _row(label: str, result: Result | None) -> dict[str, Any]:
    row: dict[str, Any] = {"system": label, "what": ABLATIONS.get(label, "")}
    if label.startswith("pretrained="):
        row["what"] = "a pretrained sentence encoder as one more ingredient"
    if result is not None:
        row |= {key: result.record[key] for key in ("measures", "seconds", "model_bytes")}
        row["interval"] = bootstrap_interval(result.arrays[MEASURE])
    return row


def _cells(row: dict[str, Any]) -> list[str]:
    label = f"`{row['system']}`: {row['what']}" if row["what"] else row["system"]
    if "measures" not in row:
        return [label, "—", "", "", "", ""]
    mean, seconds = f"{row['measures'][MEASURE]:.4f}", f"{sum(row['seconds'].values()):.1f}"
    cells = [label, f"{mean} [{_between(row['interval'])}]"]
    if "difference" not in row:
        return [*cells, "", "", "", seconds]
    apart = f"{row['difference']:+.4f} [{_between(row['difference_interval'], '+')}]"
    return [*cells, apart, f"{row['wins']} / {row['ties']} / {row['losses']}", f"{row['p_holm']:.4f}", seconds]


def _between(interval: tuple[float, float], sign: str = "") -> str:
    return ", ".join(f"{end:{sign}.4f}" for end in interval)
