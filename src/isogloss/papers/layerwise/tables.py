"""Tables 1, 2 and 3 of the layer-wise paper on our data, the paper's own numbers beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.data.source import Pair
from isogloss.papers.layerwise import plan
from isogloss.papers.layerwise.claims import checked_claims, claims_table
from isogloss.papers.layerwise.experiment import Experiment, difference, summaries
from isogloss.papers.layerwise.lists import limits
from isogloss.papers.layerwise.plan import CROSS_LANGUAGE, HOUSE, MONOLINGUAL, TRANSLATED, Groups
from isogloss.papers.layerwise.published import MEASURES, OURS, PUBLISHED, published_data
from isogloss.papers.layerwise.trial_store import Result
from isogloss.papers.pages import Page, markdown_table
from isogloss.papers.summaries import Summary

Rows = Mapping[str, Sequence[Result]]
_TITLES = {
    "table1": "# Table 1: the model and its rivals",
    "table2": "# Table 2: other text encoders",
    "table3": "# Table 3: other adversaries",
}
_PARTS = {"monolingual": MONOLINGUAL, "translated first": TRANSLATED, "cross-language": CROSS_LANGUAGE, "": HOUSE}
_MEANING = (
    "Means over the seeds with their 95% intervals (Student's t). ▲ significantly above, ▼ significantly below {row} "
    "by the paired t-test over the queries at .05 (values averaged over seeds, no correction: the paper's test)."
)


def table1(experiment: Experiment) -> Page:
    """All systems; pairs with the same documents stand in one table, as in the paper."""
    sections, values = [], {}
    for language in dict.fromkeys(pair[1] for pair in experiment.setup.pairs):
        pairs = [pair for pair in experiment.setup.pairs if pair[1] == language]
        for group in _with_monolingual(pairs):
            planned: Groups = {}
            for pair in sorted(group, key=lambda pair: pair[0] != pair[1]):
                planned |= plan.table1_trials(experiment.setup, pair, experiment.store)
            name = " and ".join("-".join(pair) for pair in group)
            section, values[name] = _section(experiment, "table1", group, planned)
            sections += [f"## {name}", *section]
    return _page(experiment, "table1", sections, values)


def table2(experiment: Experiment) -> Page:
    """The encoder's ablations."""
    return _ablations(experiment, "table2")


def table3(experiment: Experiment) -> Page:
    """The adversary's ablations."""
    return _ablations(experiment, "table3")


def _ablations(experiment: Experiment, item: str) -> Page:
    sections, values = [], {}
    groups_of = plan.table2_trials if item == "table2" else plan.table3_trials
    for pair in experiment.setup.cross_language():
        planned = groups_of(experiment.setup, pair, experiment.store)
        section, values["-".join(pair)] = _section(experiment, item, [pair], planned)
        sections += [f"## {'-'.join(pair)}", alphas_line(experiment, pair), *section]
    return _page(experiment, item, sections, values)


def alphas_line(experiment: Experiment, pair: Pair) -> str:
    """Which alphas the model has."""
    chosen = plan.chosen_alphas(experiment.setup, pair, experiment.store)
    if chosen is None:
        return "The alphas are not chosen yet: trials of the grid are missing."
    tried = "; ".join(alphas or "1" for alphas in experiment.setup.grid())
    return f"Alphas of the layers below the last, chosen by the validation MAP from {tried}: {chosen or '1'}."


def _with_monolingual(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Each pair of two languages with that of the documents' own, which stands alone where there is no other."""
    alone = [pair for pair in pairs if pair[0] == pair[1]]
    return [[*alone, pair] for pair in pairs if pair not in alone] or [alone]


def _page(experiment: Experiment, item: str, sections: Sequence[str], values: Mapping[str, Any]) -> Page:
    parts = sections or ["No pair of two languages was given."]
    return Page("\n\n".join([_TITLES[item], *parts]), {**experiment.about(), "measures": MEASURES, "results": values})


def _section(
    experiment: Experiment, item: str, pairs: Sequence[Pair], planned: Groups
) -> tuple[list[str], dict[str, Any]]:
    rows = experiment.groups(planned)
    best = next((name for name in (OURS, "BM25") if rows.get(name)), OURS)
    data = experiment.shelf.get(experiment.setup.data, pairs[-1], experiment.setup.drawing).dataset
    bounds = {
        name: {each: float(values.mean()) for each, values in found.items()} for name, found in limits(data).items()
    }
    claims = checked_claims(item, rows)
    shown = {name: summaries(results, MEASURES) for name, results in rows.items()}
    text = [
        experiment.lists_line(pairs[-1]),
        _table(item, pairs[-1][1], rows, shown, best, bounds),
        _MEANING.format(row=best),
    ]
    if claims:
        text += ["What the paper's text says of the differences (section 4.3), and what is found here:"]
        text += [claims_table(claims)]
    values = {
        "rows": {name: _row_values(item, rows[name], shown[name], name) for name in rows},
        "limits": bounds,
        "claims": claims,
    }
    return text, values


def _table(
    item: str, language: str, rows: Rows, shown: Mapping[str, Mapping[str, Summary]], reference: str,
    bounds: Mapping[str, Mapping[str, float]],
) -> str:  # fmt: skip
    papers = published_data(language)
    header = ["model", *MEASURES, *(f"paper, {data}: {name}" for data in papers for name in MEASURES), "pairs/s"]
    body = []
    for name, results in rows.items():
        values = [f"{shown[name][each]}{_mark(rows, name, reference, each)}" for each in MEASURES]
        published = PUBLISHED[item].get(name)
        theirs = [f"{value:.3f}" for data in papers for value in published[data]] if published else []
        body.append([_label(item, name), *values, *(theirs or ["—"] * 2 * len(papers)), _speed(results)])
    for name, found in bounds.items():
        body.append([f"*{name}*", *(f"*{found[each]:.3f}*" for each in MEASURES), *["—"] * (2 * len(papers) + 1)])
    return markdown_table(header, body)


def _label(item: str, name: str) -> str:
    part = next((part for part, rows in _PARTS.items() if part and name in rows), "") if item == "table1" else ""
    return f"{name} ({part})" if part else name


def _mark(rows: Rows, name: str, reference: str, measure: str) -> str:
    """Whether a row is significantly above or below the reference."""
    found = difference(rows[name], rows.get(reference, []), measure) if name != reference else None
    if found is None or not found.is_significant:
        return ""
    return " ▲" if found.mean > 0 else " ▼"


def _speed(results: Sequence[Result]) -> str:
    speeds = [speed for result in results if (speed := result.record.get("pairs_per_second"))]
    return f"{max(speeds):,}" if speeds else "—"


def _row_values(item: str, results: Sequence[Result], shown: Mapping[str, Summary], name: str) -> dict[str, Any]:
    published = PUBLISHED[item].get(name)
    return {
        "trials": [result.trial.name for result in results],
        **{measure: shown[measure].as_json() for measure in MEASURES},
        "devices": sorted({result.record["device"] for result in results}),
        "seconds": [result.record["seconds"] for result in results],
        "pairs_per_second": [result.record.get("pairs_per_second") for result in results],
        "paper": published,
    }
