"""Tables 1 to 3, the figures and the probe of the layer-wise paper on other data, with the paper's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isogloss.data.dataset import Dataset
from isogloss.data.source import Pair
from isogloss.evaluation.measures import PerQuery
from isogloss.evaluation.significance import paired_t_test, welch_t_test
from isogloss.papers.layerwise.experiments import plan
from isogloss.papers.layerwise.experiments.data import MEASURED, VALIDATION, Trial, limits
from isogloss.papers.layerwise.experiments.plan import (
    CROSS_LANGUAGE,
    MODEL,
    MONOLINGUAL,
    TRANSLATED,
    Experiment,
    Groups,
    Result,
)
from isogloss.papers.layerwise.experiments.published import (
    CLAIMS,
    MEASURES,
    MODEL_LABEL,
    PUBLISHED,
    Claim,
    Row,
    published_data,
)
from isogloss.papers.reproduction.figures import line_style, new_figure, save_figure
from isogloss.papers.reproduction.pages import Item, Page, Summary, markdown_table, summarise

Rows = Mapping[str, Sequence[Result]]
Curves = dict[str, dict[str, list[float]]]
"""Panel, layer, a distance an epoch."""
LEVEL = 0.05
NO_COMPARISON = (
    "The model has no alpha at or below 0, so it is one of ADV-ALL's kind: that comparison of the paper cannot be made "
    "here."
)
_TITLES = {
    "table1": "# Table 1: the model and its rivals",
    "table2": "# Table 2: other text encoders",
    "table3": "# Table 3: other adversaries",
}
_PARTS = {"monolingual": MONOLINGUAL, "translated first": TRANSLATED, "cross-language": CROSS_LANGUAGE}
_MEANING = (
    "Means over the seeds with their 95% intervals (Student's t). ▲ significantly above, ▼ significantly below {row} "
    "by the paired t-test over the queries at .05 (values averaged over seeds, no correction: the paper's test), "
    "or over the seeds (Welch's) where the values of single queries are not at hand."
)


def table1(experiment: Experiment) -> Page:
    """All systems; pairs with the same documents stand in one table, as in the paper."""
    sections, values = [], {}
    for language in dict.fromkeys(pair[1] for pair in experiment.setup.pairs):
        pairs = [pair for pair in experiment.setup.pairs if pair[1] == language]
        for group in _with_monolingual(pairs):
            planned: Groups = {}
            for pair in sorted(group, key=lambda pair: pair[0] != pair[1]):
                planned |= plan.table1_trials(experiment, pair)
            name = " and ".join("-".join(pair) for pair in group)
            section, values[name] = _section(experiment, "table1", group, planned)
            sections += [f"## {name}", *section]
    return _page(experiment, "table1", sections, values)


def _ablations(experiment: Experiment, item: str, groups_of: Callable[[Experiment, Pair], Groups]) -> Page:
    sections, values = [], {}
    for pair in experiment.setup.cross_language():
        section, values["-".join(pair)] = _section(experiment, item, [pair], groups_of(experiment, pair))
        sections += [f"## {'-'.join(pair)}", _chosen_line(experiment, pair), *section]
        if item == "table3" and not plan.has_comparable_alphas(experiment, pair):
            sections.append(NO_COMPARISON)
    return _page(experiment, item, sections, values)


table2 = partial(_ablations, item="table2", groups_of=plan.table2_trials)
table3 = partial(_ablations, item="table3", groups_of=plan.table3_trials)


def figure_distance(experiment: Experiment) -> Page:
    """The critics' estimate of the Wasserstein distance on each layer, epoch by epoch."""
    sections, values = ["# The distance between the languages on each layer, during training"], {}
    for pair in experiment.setup.cross_language():
        name = "-".join(pair)
        groups = experiment.groups(plan.adversary_trials(experiment, pair))
        values[name] = curves = {label: distances(results) for label, results in groups.items() if results}
        if not curves:
            sections.append(f"## {name}\n\nNo trial of this was run.")
            continue
        draw_distances(experiment.output / f"figure_distance.{name}", curves)
        header = ("model", "layer", "first epoch", "last epoch")
        rows = [
            (label, layer, f"{found[0]:.3f}", f"{found[-1]:.3f}")
            for label, layers in curves.items()
            for layer, found in layers.items()
        ]
        sections += [
            f"## {name}", f"![distances](figure_distance.{name}.png)", _chosen_line(experiment, pair),
            "W_j is the estimate of the critic of layer j, averaged over the epoch and over the seeds that reached it; "
            "the critics of ADV-NON do not influence the encoder.", markdown_table(header, rows),
        ]  # fmt: skip
    return Page("\n\n".join(sections), {**experiment.setup.about(), "distances": values})


def figure_alphas(experiment: Experiment) -> Page:
    """MAP against the betas and alphas that were tried."""
    sections, values, shown = ["# MAP against the alphas of the layers"], {}, ("validation", MEASURED)
    for pair in experiment.setup.cross_language():
        name = "-".join(pair)
        found = experiment.groups(plan.grid_trials(experiment, pair))
        points = {
            label: {name: summarise([each.mean("MAP", name) for each in results]) for name in shown}
            for label, results in found.items()
        }
        values[name] = {alphas: {k: v.as_json() for k, v in both.items()} for alphas, both in points.items()}
        draw_alphas(experiment.output / f"figure_alphas.{name}", points)
        rows = [(alphas, *map(str, both.values()), str(len(found[alphas]))) for alphas, both in points.items()]
        header = ("alphas", "MAP, to choose by", "MAP, measured", "seeds")
        sections += [
            f"## {name}", f"![alphas](figure_alphas.{name}.png)", _chosen_line(experiment, pair),
            _lists_line(experiment, pair), markdown_table(header, rows),
        ]  # fmt: skip
    return Page("\n\n".join(sections), {**experiment.setup.about(), "alphas": values})


def probe(experiment: Experiment) -> Page:
    """How well a classifier tells the languages apart by each layer's vectors."""
    sections, values = ["# Telling the language from each layer's vector"], {}
    for pair in experiment.setup.cross_language():
        groups = experiment.groups(plan.adversary_trials(experiment, pair))
        layers = max((len(result.record["probe"]) for results in groups.values() for result in results), default=0)
        found = {
            label: [
                summarise([each[layer] for result in results if layer < len(each := result.record["probe"])])
                for layer in range(layers)
            ]
            for label, results in groups.items()
        }
        values["-".join(pair)] = {label: [each.as_json() for each in by] for label, by in found.items()}
        header = ("model", *(f"layer {layer + 1}" for layer in range(layers)), "MAP")
        rows = [
            (label, *map(str, by), str(summarise([result.mean("MAP", MEASURED) for result in groups[label]])))
            for label, by in found.items()
        ]
        sections += [f"## {'-'.join(pair)}", _chosen_line(experiment, pair), markdown_table(header, rows)]
    sections.append(
        "The accuracy of a classifier that is trained afterwards on the vectors of a part of the measured queries and "
        "of the documents relevant to them, and tested on the others; .5 is random. Some of these documents may have "
        "been positives of train queries, too, or negatives."
    )
    return Page("\n\n".join(sections), {**experiment.setup.about(), "accuracy": values})


def settings(experiment: Experiment) -> Page:
    """MAP of the model with one value of its settings changed at a time."""
    sections, values = ["# Settings of the paper's model, changed one at a time"], {}
    for pair in experiment.setup.cross_language():
        groups = experiment.groups(plan.settings_trials(experiment, pair))
        found = {
            label: [summarise([each.mean("MAP", part) for each in results]) for part in ("validation", MEASURED)]
            for label, results in groups.items()
        }
        values["-".join(pair)] = {label: [each.as_json() for each in both] for label, both in found.items()}
        rows = [(label, *map(str, both)) for label, both in found.items()]
        sections += [
            f"## {'-'.join(pair)}", _lists_line(experiment, pair),
            markdown_table(("setting", "MAP, to choose by", "MAP, measured"), rows),
        ]  # fmt: skip
    sections.append("One seed. The values are of the paper's section 4.2.")
    return Page("\n\n".join(sections), {**experiment.setup.about(), "settings": values})


def distances(results: Sequence[Result]) -> dict[str, list[float]]:
    """W_j of each epoch, averaged over the seeds that reached it."""
    histories = [result.record["history"] for result in results]
    layers = sorted({key for history in histories for entry in history for key in entry if key.startswith("W_")})
    longest = max((len(history) for history in histories), default=0)
    found = {}
    for layer in layers:
        by_epoch = [
            [history[epoch][layer] for history in histories if epoch < len(history) and layer in history[epoch]]
            for epoch in range(longest)
        ]
        found[layer] = [float(np.mean(each)) for each in by_epoch if each]
    return found


def draw_distances(path: Path, curves: Curves) -> list[Path]:
    """A panel a model, a curve a layer."""
    figure = new_figure(3.2 * len(curves) + 0.4, 3.2)
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, (label, layers) in zip(panels, curves.items(), strict=True):
        for number, (layer, found) in enumerate(layers.items()):
            epochs = range(1, len(found) + 1)
            axes.plot(epochs, found, label=f"layer {layer.removeprefix('W_')}", linewidth=1.8, **line_style(number))
        axes.set(title=label, xlabel="epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("Wasserstein distance")
    if any(curves.values()):
        panels[0].legend(handlelength=3)
    return save_figure(figure, path)


def draw_alphas(path: Path, points: Mapping[str, Mapping[str, Summary]]) -> list[Path]:
    """MAP with its interval for each of the alphas, on the validation lists and on those measured."""
    figure = new_figure(max(5.0, 0.5 * len(points) + 2), 3.6)
    axes = figure.subplots()
    for number, (lists, label) in enumerate((("validation", "lists to choose by"), (MEASURED, "measured lists"))):
        known = [(position, both[lists]) for position, both in enumerate(points.values()) if both[lists].values]
        halves: list[Any] = [0.0 if math.isnan(each.half) else each.half for _, each in known]
        style = line_style(number, markers=True)
        positions, means = [position for position, _ in known], [each.mean for _, each in known]
        axes.errorbar(positions, means, yerr=halves, label=label, capsize=3 + 3 * number, **style)
    axes.set_xlim(-0.5, max(1, len(points)) - 0.5)
    axes.set_xticks(range(len(points)), list(points), rotation=90 if len(points) > 8 else 0)
    betas = "beta: " if any(":" in label for label in points) else ""
    axes.set(xlabel=f"{betas}alphas of the layers below the last", ylabel="MAP")
    axes.grid(alpha=0.3)
    axes.legend(handlelength=3)
    return save_figure(figure, path)


_SAME = 1e-9  # means that differ by less are the same but for rounding


class Difference(NamedTuple):
    """Between two rows on a measure: of the means, and the probability of it by Student's paired t-test.

    The test is over the queries, as in the paper; ``over_seeds`` is one over the seeds. Of records without the
    values of single queries there is only the latter.
    """

    mean: float
    over_queries: float | None
    over_seeds: float | None = None

    @property
    def probability(self) -> float | None:
        """Over the queries, or else over the seeds; None: not tested."""
        return self.over_seeds if self.over_queries is None else self.over_queries

    @property
    def is_significant(self) -> bool:
        """At the paper's level."""
        return self.probability is not None and self.probability < LEVEL


def difference(left: Sequence[Result], right: Sequence[Result], measure: str) -> Difference | None:
    """Paired over the queries, averaged over the seeds; None where the lists differ or the trials do not."""
    if not left or not right or len({result.record["lists"] for result in (*left, *right)}) > 1:
        return None
    if {result.trial.name for result in left} & {result.trial.name for result in right}:
        return None  # one is a copy of the other: there is nothing to compare
    over_seeds = _over_seeds(left, right, measure)
    if all(result.has_arrays for result in (*left, *right)):
        apart = _average(left, measure) - _average(right, measure)
        return Difference(float(apart.mean()), paired_t_test(apart), over_seeds)
    means = [float(np.mean([each.mean(measure, MEASURED) for each in results])) for results in (left, right)]
    return Difference(means[0] - means[1], None, over_seeds)


def _over_seeds(left: Sequence[Result], right: Sequence[Result], measure: str) -> float | None:
    """The same test over the seeds, queries averaged; None with fewer than two, or where no spread is to judge by.

    Ablations of one system with the same seeds are paired. Those of two systems have nothing in common: Welch's test.
    """
    means = [{each.trial.seed: each.mean(measure, MEASURED) for each in results} for results in (left, right)]
    if min(map(len, means)) < 2:
        return None
    one, other = (np.array(list(each.values())) for each in means)
    if len({each.trial.system for each in (*left, *right)}) > 1:
        has_spread = max(np.ptp(one), np.ptp(other)) > _SAME
        return welch_t_test(one, other) if has_spread or one[0] == other[0] else None
    if means[0].keys() != means[1].keys():
        return None
    apart = np.array([mean - means[1][seed] for seed, mean in means[0].items()])
    return paired_t_test(apart) if np.ptp(apart) > _SAME or not apart.any() else None


def checked_claims(
    item: str, rows: Mapping[str, Sequence[Result]], language: str = "", left_out: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """All claims of the text, measure by measure; where no verdict is possible, ``why`` says so.

    Only those of data in the documents' language, where there are such; ``left_out``: rows that cannot be
    compared with each other.
    """
    found = []
    for claim in CLAIMS[item]:
        if not set(claim.data) & set(published_data(language)):
            continue
        both = claim.left, claim.right
        why = "cannot be compared here" if set(both) <= set(left_out) else ""
        if missing := [name for name in both if not rows.get(name)]:
            why = f"not run: {', '.join(missing)}"
        for measure in claim.measures:
            about = {"left": claim.left, "right": claim.right, "said": claim.relation, "measure": measure}
            apart = None if why else difference(rows[claim.left], rows[claim.right], measure)
            known: dict[str, Any] = {"difference": None, "p": None, "holds": None}
            known["why"] = why or "the same trials, or other lists"
            if apart is not None:
                known = {"difference": apart.mean, "p": apart.over_queries, "p_seeds": apart.over_seeds}
                if apart.probability is None:
                    known |= {"holds": None, "why": "not tested: no spread over seeds, and no values of single queries"}
                else:
                    known |= {"holds": holds(claim, apart.mean, apart.is_significant), "why": ""}
            found.append({**about, **known})
    return found


def holds(claim: Claim, mean: float, is_significant: bool) -> bool | None:
    """Whether a difference is as the text claims; None where a difference is claimed and none is significant.

    >>> holds(Claim("a", "b", "better"), 0.1, True), holds(Claim("a", "b", "not better"), 0.1, True)
    (True, False)
    """
    higher, lower = is_significant and mean > 0, is_significant and mean < 0
    if not is_significant and claim.relation in ("better", "worse", "above", "below"):
        return None
    return {
        "better": higher, "above": higher, "worse": lower, "below": lower, "on par": not is_significant,
        "not better": not higher, "not worse": not lower,
    }[claim.relation]  # fmt: skip


def _chosen_line(experiment: Experiment, pair: Pair) -> str:
    """Which beta and alphas the model has."""
    found, grid = plan.chosen(experiment, pair), experiment.setup.grid()
    if found is None:
        return "The alphas are not chosen yet: trials of the grid are missing."
    if len(grid) == 1:
        return f"Alphas of the layers below the last: {found}, as given."
    what = "Beta: alphas" if len({each["beta"] for each in grid.values()}) > 1 else "Alphas"
    return f"{what} of the layers below the last, chosen by the validation MAP: {found} (of {'; '.join(grid)})."


def _with_monolingual(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Each pair of two languages with that of the documents' own, which stands alone where there is no other."""
    alone = [pair for pair in pairs if pair[0] == pair[1]]
    return [[*alone, pair] for pair in pairs if pair not in alone] or [alone]


def _page(experiment: Experiment, item: str, sections: Sequence[str], values: Mapping[str, Any]) -> Page:
    parts = [*sections, _times(values)] if sections else ["There is no pair of two languages."]
    return Page(
        "\n\n".join([_TITLES[item], *parts]), {**experiment.setup.about(), "measures": MEASURES, "results": values}
    )


def _times(values: Mapping[str, Any]) -> str:
    """How long the trials of a page took, machine by machine."""
    rows = [row for found in values.values() for row in found["rows"].values()]
    seconds: dict[str, dict[str, float]] = {}
    for row in rows:
        for trial, taken, device in zip(row["trials"], row["seconds"], row["device"], strict=True):
            seconds.setdefault(device, {})[trial] = taken
    taken = [f"{len(each):,} on {device} {sum(each.values()):,.0f} s" for device, each in seconds.items()]
    return f"Seconds of the trials, each by itself: {'; '.join(taken)}." if taken else "No trial was run."


def _section(
    experiment: Experiment, item: str, pairs: Sequence[Pair], planned: Groups
) -> tuple[list[str], dict[str, Any]]:
    rows = experiment.groups(planned)
    best = next((name for name in (MODEL_LABEL, "BM25") if rows.get(name)), MODEL_LABEL)
    bounds = {
        name: {each: float(values.mean()) for each, values in found.items()}
        for name, found in limits(_dataset(experiment, pairs[-1])).items()
    }
    crosses = pairs[-1][0] != pairs[-1][1]
    alike = item == "table3" and crosses and not plan.has_comparable_alphas(experiment, pairs[-1])
    claims = checked_claims(item, rows, pairs[-1][1], (MODEL_LABEL, "ADV-ALL") if alike else ())
    shown = {
        name: {each: summarise([result.mean(each, MEASURED) for result in results]) for each in MEASURES}
        for name, results in rows.items()
    }
    text = [
        _lists_line(experiment, pairs[-1]),
        _table(item, pairs[-1][1], rows, shown, best, bounds),
        _MEANING.format(row=best),
    ]
    text += ["Claims of the paper's text about differences (section 4.3), and the differences here:"]
    text += [_claims_table(claims)]
    values = {
        "rows": {name: _row_values(rows[name], shown[name], PUBLISHED[item].get(name)) for name in rows},
        "limits": bounds,
        "claims": claims,
    }
    return text, values


def _table(
    item: str, language: str, rows: Rows, shown: Mapping[str, Mapping[str, Summary]], reference: str,
    bounds: Mapping[str, Mapping[str, float]],
) -> str:  # fmt: skip
    papers = published_data(language)
    theirs_named = [f"paper, {data}: {name}" for data in papers for name in MEASURES]
    header = ["model", *MEASURES, *theirs_named, "pairs/s", "seeds", "machine, date"]
    body = []
    for name, results in rows.items():
        values = [f"{shown[name][each]}{_mark(rows, name, reference, each)}" for each in MEASURES]
        published = PUBLISHED[item].get(name)
        theirs = [f"{value:.3f}" for data in papers for value in published[data]] if published else []
        part = next((f" ({part})" for part, known in _PARTS.items() if item == "table1" and name in known), "")
        measured = [*values, *(theirs or ["—"] * 2 * len(papers))]
        seeds = str(len(results)) if results else "not run"
        body.append([f"{name}{part}", *measured, _speeds(results), seeds, _where_and_when(results)])
    for name, found in bounds.items():
        body.append([f"*{name}*", *(f"*{found[each]:.3f}*" for each in MEASURES), *["—"] * (2 * len(papers) + 3)])
    return markdown_table(header, body)


def _speeds(results: Sequence[Result]) -> str:
    """Pairs a second in training, the median of each machine, in the order of ``_where_and_when``."""
    by_device: dict[str, list[float]] = {}
    for result in results:
        by_device.setdefault(result.record["device"], []).append(result.record.get("pairs_per_second") or 0)
    medians = [round(float(np.median(speeds))) for speeds in by_device.values()]
    return "; ".join(f"{speed:,}" for speed in medians) if any(medians) else "—"


def _where_and_when(results: Sequence[Result]) -> str:
    """The machines of a row's trials and their dates."""
    known = dict.fromkeys(f"{each.record['device']}, {each.record.get('date', 'no date')}" for each in results)
    return "; ".join(known) or "—"


def _mark(rows: Rows, name: str, reference: str, measure: str) -> str:
    """Whether a row is significantly above or below the reference."""
    found = difference(rows[name], rows.get(reference, []), measure) if name != reference else None
    if found is None or not found.is_significant:
        return ""
    return " ▲" if found.mean > 0 else " ▼"


def _row_values(results: Sequence[Result], shown: Mapping[str, Summary], published: Row | None) -> dict[str, Any]:
    return {
        "trials": [result.trial.name for result in results],
        **{measure: shown[measure].as_json() for measure in MEASURES},
        "device": [result.record["device"] for result in results],
        "seconds": [result.record["seconds"] for result in results],
        "pairs_per_second": [result.record.get("pairs_per_second") for result in results],
        "paper": published,
    }


_VERDICTS = {True: "yes", False: "no", None: "not shown"}
_PREPOSITIONS = {"on par": "with ", "above": "", "below": ""}


def _claims_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """A line a claim and measure."""
    rows = []
    for claim in claims:
        said = f"{claim['left']} is {claim['said']} {_PREPOSITIONS.get(claim['said'], 'than ')}{claim['right']}"
        known = [
            "—" if claim.get(name) is None else f"{claim[name]:{form}}"
            for name, form in (("difference", "+.3f"), ("p", ".3f"), ("p_seeds", ".3f"))
        ]
        shown = (*known, claim["why"] or _verdict(claim))
        rows.append((said, claim["measure"], *shown))
    return markdown_table(("the paper says", "measure", "difference here", "p", "p, seeds", "holds here"), rows)


def _verdict(claim: Mapping[str, Any]) -> str:
    """In words; that no difference is significant does not make two rows equal."""
    p = claim["p_seeds"] if claim["p"] is None else claim["p"]
    if claim["said"] in ("on par", "not better", "not worse") and p >= LEVEL:
        return "no difference shown"
    return _VERDICTS[claim["holds"]]


def _average(results: Sequence[Result], measure: str) -> PerQuery:
    return np.asarray(np.mean([result.values(measure) for result in results], axis=0), dtype=np.float64)


def _dataset(experiment: Experiment, pair: Pair) -> Dataset:
    return experiment.data(experiment.setup.data, pair, experiment.setup.drawing).dataset


def _lists_line(experiment: Experiment, pair: Pair) -> str:
    """What was measured, and what epochs and alphas were chosen by."""
    dataset = _dataset(experiment, pair)
    measured, validation = (set(dataset.splits[name]) for name in (MEASURED, VALIDATION))
    lists = dataset.candidates(MEASURED)
    entries = sum(len(lists[query]) for query in measured)
    line = (
        f"Measured on lists of {len(measured):,} queries of {experiment.setup.drawing.split} "
        f"({entries / len(measured):.1f} documents a list); "
    )
    chosen = "epochs and alphas" if len(experiment.setup.grid()) > 1 else "epochs"
    if measured == validation:
        return line + f"{chosen} were chosen on the same lists, so trained systems score a little too high."
    return line + f"{chosen} were chosen on lists of {len(validation):,} other queries."


def _item(
    page: Callable[[Experiment], Page], groups: Callable[[Experiment, Pair], Groups], is_drawn: bool = False,
    cross_lingual: bool = True, chooses: bool = True,
) -> Item:  # fmt: skip
    def trials(experiment: Experiment) -> list[Trial]:
        found: list[list[Trial]] = []
        for pair in experiment.setup.pairs:
            crosses = pair[0] != pair[1]
            if crosses and chooses and MODEL not in experiment.setup.left_out:  # the alphas are chosen from these
                found += plan.grid_trials(experiment, pair).values()
            if crosses or not cross_lingual:
                found += groups(experiment, pair).values()
        return [trial for group in found for trial in group]

    return Item(trials, page, is_drawn, cross_lingual=cross_lingual)


ITEMS = {
    "table1": _item(table1, plan.table1_trials, cross_lingual=False),
    "table2": _item(table2, plan.table2_trials),
    "table3": _item(table3, plan.table3_trials),
    "figure_distance": _item(figure_distance, plan.adversary_trials, is_drawn=True),
    "figure_alphas": _item(figure_alphas, plan.grid_trials, is_drawn=True),
    "probe": _item(probe, plan.adversary_trials),
    "settings": _item(settings, plan.settings_trials, chooses=False),
}
