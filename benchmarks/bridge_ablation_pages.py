r"""The pages of ``bridge``: what each of its parts gives, and whether its scores are calibrated.

Calibration compares predicted probabilities, in bins of equal width, with the share of documents that are relevant:

    ECE = sum_b n_b / n |mean of the probabilities of bin b - share of its documents that are relevant|

the expected calibration error (Naeini, Cooper and Hauskrecht 2015).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bridge_ablation_trials import ABLATIONS, DEPTH, MEASURE, WHOLE, PairData, Setup, Trial, Trials
from numpy.typing import NDArray

from isogloss.data.source import Pair
from isogloss.evaluation.significance import compare, holm
from isogloss.papers.reproduction import pages, trials
from isogloss.papers.reproduction.figures import line_style, new_figure, save_figure
from isogloss.papers.reproduction.pages import Item, Page, bootstrap_interval, markdown_table
from isogloss.systems.bridge.weights import Calibration

BINS = 10
_ROUNDS = 10_000
_HEADER = ("system", MEASURE, "difference", "win / tie / loss", "p", "seconds")
_ABLATION_NOTE = (
    "Differences to the whole system, query by query: a negative one is the gain from the part. In brackets: "
    "95 % intervals (bootstrap over the queries); p is that of Fisher's paired randomisation test, after Holm. Seconds "
    "are those of training, indexing and searching."
)
_CALIBRATION_NOTE = (
    f"Probabilities P(g ≥ j | score) of the first {DEPTH} documents found for each query, in {BINS} bins of equal "
    "width, and the share of these documents with that grade. ECE is the expected calibration error: the mean of the "
    "differences, each bin weighted by its documents. A query is *flagged* (*probably nothing here*) where the log "
    "odds of its first hit are below a threshold. The trade: right first hits that are flagged (better few), against "
    "flagged queries whose documents of any relevance are taken out of what is found (better many)."
)
SHARES = (0.01, 0.02, 0.05, 0.1)
"""Of the right first hits, that may be flagged."""

Experiment = pages.Experiment[Setup, Trial, PairData]
Result = trials.Result[Trial]
Results = dict[str, Result | None]
"""By what a trial is called in a table; None where it was not run to its end."""


def ablation(experiment: Experiment) -> Page:
    """A table a pair."""
    sections, values = [f"# Ablation of bridge: {experiment.setup.data}"], {}
    for pair in experiment.setup.pairs:
        name, found = "-".join(pair), results_of(experiment, ablations(experiment, pair))
        values[name] = rows = compared(found)
        sections += [f"## {name}", _about_line(experiment, found), markdown_table(_HEADER, map(_cells, rows))]
    return Page("\n\n".join([*sections, _ABLATION_NOTE]), {**experiment.setup.about(), "pairs": values})


def compared(found: Results) -> list[dict[str, Any]]:
    """A row a trial, with what it differs by from the first, as plain values."""
    rows = [_row(label, result) for label, result in found.items()]
    whole = found[WHOLE]
    tested = []
    for row, result in zip(rows, found.values(), strict=True):
        if whole is None or result is None or result is whole:
            continue
        left, right = result.values(MEASURE), whole.values(MEASURE)
        apart = compare(row["system"], WHOLE, MEASURE, left, right, _ROUNDS, seed=0)
        row |= {"difference": apart.difference, "difference_interval": bootstrap_interval(left - right)}
        row |= {"wins": apart.wins, "ties": apart.ties, "losses": apart.losses, "p": apart.randomisation}
        tested.append(row)
    for row, corrected in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row["p_holm"] = corrected
    return rows


def calibration(experiment: Experiment) -> Page:
    """Tables and a figure a pair."""
    sections, values = [f"# Calibration of the scores of bridge: {experiment.setup.data}"], {}
    for pair in experiment.setup.pairs:
        name, found = "-".join(pair), results_of(experiment, experiment.setup.whole(pair))
        known = {label: result for label, result in found.items() if result}
        values[name] = measured = {label: calibration_of(result) for label, result in known.items()}
        sections += [f"## {name}", _about_line(experiment, found)]
        if known:
            trades = {
                f"{label}, {field}s": hits for label, r in known.items() for field, hits in _first_hits(r).items()
            }
            _draw(experiment.output / f"calibration.{name}", measured, trades)
            sections += [f"![reliability and trade](calibration.{name}.png)", _errors(measured)]
            sections += [_nothing_there(measured), _bins(measured)]
    return Page("\n\n".join([*sections, _CALIBRATION_NOTE]), {**experiment.setup.about(), "pairs": values})


def calibration_of(result: Result) -> dict[str, Any]:
    """The numbers of the page for a trial, as plain values."""
    found, model = result.arrays, _model(result)
    chances, grades = model.chances(found["scores"].astype(float)), found["grades"]
    is_first = np.zeros(len(grades), bool)
    is_first[(np.cumsum(found["counts"]) - found["counts"])[found["counts"] > 0]] = True
    levels = {}
    for label, column in _levels(result.record["top_grade"], model).items():
        bins = reliability(chances[:, column], grades > column)
        firsts = reliability(chances[is_first, column], grades[is_first] > column)
        levels[label] = {
            "bins": [each._asdict() for each in bins], "error": calibration_error(bins),
            "error_of_first_hits": calibration_error(firsts),
        }  # fmt: skip
    flagged = {field: flagged_of(hits, model.doubt) for field, hits in _first_hits(result).items()}
    return {
        "documents": len(grades), "thresholds": model.thresholds, **model._asdict(), "reliability": levels,
        "flagged": flagged,
    }  # fmt: skip


def ablations(experiment: Experiment, pair: Pair) -> Trials:
    """The trials of the table of a pair."""
    return experiment.setup.ablations(pair, experiment.data(pair))


def results_of(experiment: Experiment, named: Trials) -> Results:
    """The results by their names, None of those that were not run to their end."""
    return {label: experiment.trials.read(trial) for label, trial in named.items()}


class Bin(NamedTuple):
    """Probabilities from ``low`` to ``high``: documents, mean probability, share of relevant documents."""

    low: float
    high: float
    documents: int
    predicted: float
    observed: float


def reliability(chances: NDArray[np.floating], outcomes: NDArray[np.bool_], bins: int = BINS) -> list[Bin]:
    """The bins that are not empty."""
    bin_of = np.minimum((np.asarray(chances) * bins).astype(int), bins - 1)
    counts = np.bincount(bin_of, minlength=bins)
    predicted, observed = (np.bincount(bin_of, each, bins) / np.maximum(1, counts) for each in (chances, outcomes))
    return [
        Bin(b / bins, (b + 1) / bins, int(counts[b]), float(predicted[b]), float(observed[b]))
        for b in range(bins)
        if counts[b]
    ]


def calibration_error(bins: list[Bin]) -> float:
    """ECE.

    >>> calibration_error(reliability(np.asarray([0.1, 0.9]), np.asarray([False, True])))
    0.1
    """
    apart = sum(each.documents * abs(each.predicted - each.observed) for each in bins)
    return round(apart / max(1, sum(each.documents for each in bins)), 6)


def _row(label: str, result: Result | None) -> dict[str, Any]:
    row: dict[str, Any] = {"system": label, "what": ABLATIONS.get(label, "")}
    if label.startswith("pretrained="):
        row["what"] = "with a pretrained sentence encoder"
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


class FirstHits(NamedTuple):
    """The log odds of right first hits, and of what is first without the documents of any relevance."""

    right: NDArray[np.float64]
    gone: NDArray[np.float64]

    def trade(self, thresholds: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The share of both that is below each threshold; nan where there are none."""
        shares = (np.searchsorted(np.sort(each), thresholds) / (len(each) or np.nan) for each in self)
        return next(shares), next(shares)

    def threshold(self, share: float) -> float:
        """The highest threshold that flags at most so many of the right first hits."""
        return float(np.sort(self.right)[int(share * len(self.right))]) if len(self.right) else -np.inf


def _first_hits(result: Result) -> dict[str, FirstHits]:
    """Those of query texts and, where queries have them, of titles."""
    found = result.arrays
    return {
        field: FirstHits(found[f"{field}_there"][found[f"{field}_right"]].astype(float), found[f"{field}_gone"])
        for field in ("text", "title")
        if f"{field}_right" in found
    }


def flagged_of(hits: FirstHits, doubt: float) -> dict[str, Any]:
    """The shares flagged at the threshold of the model, and at those that flag few of the right first hits."""
    right, gone = (float(each[0]) for each in hits.trade(np.asarray([doubt])))
    at = {share: float(hits.trade(np.asarray([hits.threshold(share)]))[1][0]) for share in SHARES}
    return {"right_first_hits": len(hits.right), "right": right, "gone": gone, "gone_at": at}


def _draw(path: Path, measured: Mapping[str, Any], trades: Mapping[str, FirstHits]) -> None:
    """Predicted against observed; right first hits flagged against queries flagged whose answer was taken out."""
    figure = new_figure(9.5, 4.2)
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
    number = 0
    for label, found in measured.items():
        for level, each in found["reliability"].items():
            points = [(bin_["predicted"], bin_["observed"]) for bin_ in each["bins"]]
            left.plot(*zip(*points, strict=True), label=f"{level}, {label}", **line_style(number, markers=True))
            number += 1
    left.set(xlabel="predicted probability", ylabel="observed share", title="reliability", xlim=(0, 1), ylim=(0, 1))
    for number, (label, hits) in enumerate(trades.items()):
        thresholds = np.append(np.unique(np.concatenate(hits)), np.inf)
        right.plot(*hits.trade(thresholds), label=label, **line_style(number))
    right.set(xlabel="right first hits flagged", ylabel="flagged of those whose answer was taken out")
    right.set(xlim=(0, 0.5), ylim=(0, 1), title="probably nothing here")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")
    save_figure(figure, path)


def _model(result: Result) -> Calibration:
    found = result.record["calibration"]
    return Calibration(found["slope"], tuple(found["context"]), tuple(found["biases"]), found["doubt"])


def _levels(top_grade: int, model: Calibration) -> dict[str, int]:
    """The levels of relevance that have probabilities, with their columns."""
    last = min(top_grade, len(model.biases)) - 1
    return {"relevant": last} if last < 1 else {"at least partially relevant": 0, "relevant": last}


def _errors(measured: Mapping[str, Any]) -> str:
    rows = [
        (f"{label}, {level}", f"{found['documents']:,}", f"{each['error']:.4f}", f"{each['error_of_first_hits']:.4f}")
        for label, found in measured.items()
        for level, each in found["reliability"].items()
    ]
    return markdown_table(("probabilities", "documents", "ECE", "ECE of first hits"), rows)


def _nothing_there(measured: Mapping[str, Any]) -> str:
    rows = [
        (f"{label}, {field}s", f"{found['doubt']:.2f}", f"{each['right']:.3f}", f"{each['gone']:.3f}",
         *(f"{gone:.3f}" for gone in each["gone_at"].values()))
        for label, found in measured.items()
        for field, each in found["flagged"].items()
    ]  # fmt: skip
    at = [f"answer gone, at {share:.0%} right hits" for share in SHARES]
    return markdown_table(("flagged", "threshold", "right first hits", "answer gone", *at), rows)


def _bins(measured: Mapping[str, Any]) -> str:
    rows = [
        (f"{label}, {level}", f"{bin_['low']:.1f}–{bin_['high']:.1f}", f"{bin_['documents']:,}",
         f"{bin_['predicted']:.3f}", f"{bin_['observed']:.3f}")
        for label, found in measured.items()
        for level, each in found["reliability"].items()
        for bin_ in each["bins"]
    ]  # fmt: skip
    return markdown_table(("bins", "probability", "documents", "predicted", "observed"), rows)


def _about_line(experiment: Experiment, found: Results) -> str:
    """What was measured, and how, in a sentence or two."""
    records = [result.record for result in found.values() if result is not None]
    if not records:
        return "No trial of this was run to its end."
    lexicon = "with a dictionary" if records[0]["options"]["lexicon"] else "without a dictionary"
    shown = "".join(f"; {key} = {value}" for key, value in experiment.setup.settings.items())
    return (
        f"{records[0]['queries']:,} queries ({experiment.setup.split}), the whole collection of "
        f"{records[0]['documents']:,} documents, {lexicon}{shown}. {records[0]['device']}."
    )


ITEMS = {
    "ablation": Item(lambda e: (t for pair in e.setup.pairs for t in ablations(e, pair).values()), ablation),
    "calibration": Item(
        lambda e: (t for pair in e.setup.pairs for t in e.setup.whole(pair).values()), calibration, is_drawn=True
    ),
}
