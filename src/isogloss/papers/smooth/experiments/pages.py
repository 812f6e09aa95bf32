"""The items of ``isogloss reproduce smooth``; here are its tables, with the paper's numbers, and the claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from isogloss.data.dataset import Dataset
from isogloss.data.source import Pair
from isogloss.papers.reproduction.pages import Item, Page, Summary, markdown_table, summarise
from isogloss.papers.smooth.experiments import plan
from isogloss.papers.smooth.experiments.comparing import (
    PROTOCOLS,
    Rows,
    compare_under_both,
    comparisons_json,
    differences_tables,
)
from isogloss.papers.smooth.experiments.data import Trial
from isogloss.papers.smooth.experiments.figures import figure1, figure2, figure3, figure4, figure4_trials, figure5
from isogloss.papers.smooth.experiments.plan import Experiment, Groups, Result, Setup, training_line
from isogloss.papers.smooth.experiments.published import LANGUAGES, MEASURES, TABLE1, TABLE2, TABLE3, Statistics, Values
from isogloss.papers.smooth.experiments.theory import theory

_INTERVALS = "Means over the seeds with their 95% intervals (Student's t); the paper has values without intervals."
_SIGNIFICANT = (
    "\\* significant at 5% by the paired t-test and by Fisher's randomisation over the queries (values averaged over "
    "seeds), both after Holm's correction for all comparisons of the pair under the protocol."
)
_CLAIMS = {
    "gradient clipping": "The paper: clipping alone is not sufficient; with the smooth cosine performance improves.",
    "towers of the cnn": "The paper: separate towers for queries and documents are better than a shared one.",
    "order of the pairs": "The paper: shuffling the training set improves performance.",
    "first word vectors": "The paper starts from pretrained vectors of each language and does not mention random ones.",
}


def table1(experiment: Experiment) -> Page:
    """Queries, partially relevant documents a query, documents."""
    rows, values = [], {}
    for pair in experiment.setup.pairs:
        found = _statistics(experiment.data(experiment.setup.data, pair, experiment.setup.queries).dataset)
        paper = TABLE1.get(pair[1])
        rows.append(("-".join(pair), *_counts(found), *(_counts(paper) if paper else ("—",) * 3)))
        values["-".join(pair)] = {"ours": found._asdict(), "paper": paper._asdict() if paper else None}
    header = ("pair", "queries", "SR a query", "documents", "paper: queries", "paper: SR a query", "paper: documents")
    text = (
        f"# Table 1: the data\n\n{markdown_table(header, rows)}\n\nQueries are those with a judgment for the pair; SR "
        f"are the partially relevant documents. The paper's are of Wikipedia, ours of {experiment.setup.data}."
    )
    return Page(text, {**experiment.setup.about(), "statistics": values})


def table2(experiment: Experiment) -> Page:
    """The losses, over some seeds."""

    def trained(found: Rows) -> str:
        return training_line([result for results in found.values() for result in results])

    title = f"# Table 2: losses\n\n{_INTERVALS}"
    return _compared_rows(experiment, title, "loss", plan.table2_trials, TABLE2, trained)


def table3(experiment: Experiment) -> Page:
    """The encoders, over some seeds."""

    def trained(found: Rows) -> str:
        return "\n\n".join(f"*{name}*: {training_line(results)}" for name, results in found.items())

    title = (
        f"# Table 3: encoders, all with SOSL\n\n{_INTERVALS} The paper's cnn and lstm have a tower for queries and one "
        "for documents; the average has word vectors only."
    )
    return _compared_rows(experiment, title, "encoder", plan.table3_trials, TABLE3, trained)


def claims(experiment: Experiment) -> Page:
    """Each claim of the text as a table: the paper's way against the others."""
    parts, values = [f"# Claims of the text, {'-'.join(experiment.setup.pairs[0])}"], {}
    for claim, groups in plan.claims_trials(experiment.setup).items():
        found = experiment.groups(groups)
        comparisons, summaries = compare_under_both(found), _summaries(found)
        rows = [
            (name, *map(str, sampled.values()), str(summaries["full"][name]["MRR_mr"]))
            for name, sampled in summaries["sampled"].items()
        ]
        parts += [
            f"## {claim.capitalize()}",
            _CLAIMS[claim],
            training_line(next((results for results in found.values() if results), [])),
            markdown_table(("", *MEASURES, "full MRR_mr"), rows),
            *differences_tables(comparisons),
        ]
        rows_json = {name: {"trials": _names(each), **_summary_json(summaries, name)} for name, each in found.items()}
        values[claim] = {"rows": rows_json, "comparisons": comparisons_json(comparisons)}
    parts.append(
        'Ranked: the judged documents and 40 random others; "full MRR_mr": the whole collection. \\* significant at 5% '
        "by the paired t-test and by Fisher's randomisation, after Holm's correction for the comparisons of the claim "
        "under the protocol. "
        '"—": the training stopped before its end (see the error file of the trial), or was not run.'
    )
    return Page("\n\n".join(parts), {**experiment.setup.about(), "claims": values})


def _compared_rows(
    experiment: Experiment, title: str, what: str, trials_of: Callable[[Setup, Pair], Groups],
    published: Mapping[str, Mapping[str, Values]], trained: Callable[[Rows], str],
) -> Page:  # fmt: skip
    """Tables 2 and 3: rows under both protocols, the first compared with the others."""
    sections, values = [title], {}
    for pair in experiment.setup.pairs:
        planned = experiment.groups(trials_of(experiment.setup, pair))
        found = {name: results for name, results in planned.items() if results}
        comparisons, summaries = compare_under_both(found), _summaries(found)
        by_name = published.get(pair[1], {})
        paper = {name: by_name[key] for name in found if (key := plan.AS_PUBLISHED.get(name, name)) in by_name}
        language = f" ({LANGUAGES[pair[1]]})" if pair[1] in LANGUAGES else ""
        sections.append(f"## {'-'.join(pair)}{language}")
        if not found:
            sections.append(training_line([]))
            continue
        if missing := ", ".join(name for name in planned if name not in found):
            sections.append(f"Not run, or failed: {missing}.")
        sections += [trained(found), *_protocol_tables(what, summaries, paper)]
        sections += [_best(summaries["sampled"])] if what == "loss" else []
        sections += differences_tables(comparisons)
        rows = {
            name: {
                "trials": _names(results),
                "epochs": sorted({len(result.record["history"]) for result in results}),
                **_summary_json(summaries, name),
                "paper": dict(zip(MEASURES, paper[name], strict=True)) if name in paper else None,
            }
            for name, results in found.items()
        }
        values["-".join(pair)] = {"rows": rows, "comparisons": comparisons_json(comparisons)}
    about = experiment.setup.about()
    return Page("\n\n".join([*sections, _SIGNIFICANT]), {**about, "measures": MEASURES, "results": values})


def _statistics(dataset: Dataset) -> Statistics:
    judgments = dataset.judgments
    partial = sum(count for grade, count in judgments.grade_counts().items() if 0 < grade < judgments.top_grade)
    queries = len(judgments.queries)
    return Statistics(queries, partial / max(1, queries), len(dataset.documents))


def _counts(found: Statistics) -> tuple[str, str, str]:
    return f"{found.queries:,}", f"{found.partially_relevant:.1f}", f"{found.documents:,}"


Summaries = Mapping[str, Mapping[str, Mapping[str, Summary]]]
"""Protocol, row, measure."""


def _summaries(found: Rows) -> Summaries:
    return {
        protocol: {
            name: {measure: summarise([each.mean(measure, protocol) for each in results]) for measure in MEASURES}
            for name, results in found.items()
        }
        for protocol in PROTOCOLS
    }


def _protocol_tables(what: str, summaries: Summaries, published: Mapping[str, Values]) -> list[str]:
    """A table a protocol; below each row of the first stands what the paper reports."""
    made = []
    for protocol, meaning in PROTOCOLS.items():
        rows = []
        for name, found in summaries[protocol].items():
            rows.append((name, *(str(found[measure]) for measure in MEASURES)))
            if protocol == "sampled" and name in published:
                rows.append((f"*{name}, paper*", *(f"*{value:.3f}*" for value in published[name])))
        made += [f"Ranked: {meaning}.", markdown_table((what, *MEASURES), rows)]
    return made


def _best(summaries: Mapping[str, Mapping[str, Summary]]) -> str:
    """On how many measures each loss has the highest mean, missing ones aside."""
    winners: dict[str, list[str]] = {}
    for measure in MEASURES:
        known = {name: found[measure].mean for name, found in summaries.items() if found[measure].values}
        if known:
            winners.setdefault(max(known, key=known.__getitem__), []).append(measure)
    return "Highest mean: " + "; ".join(f"{name} on {', '.join(best)}" for name, best in winners.items()) + "."


def _summary_json(summaries: Summaries, name: str) -> dict[str, Any]:
    return {
        protocol: {measure: by[name][measure].as_json() for measure in MEASURES} for protocol, by in summaries.items()
    }


def _names(results: Sequence[Result]) -> list[str]:
    return [result.trial.name for result in results]


def _needs(groups: Callable[[Setup], Iterable[Iterable[Trial]]]) -> Callable[[Experiment], Iterable[Trial]]:
    """The trials of an item from its groups of them."""
    return lambda experiment: chain.from_iterable(groups(experiment.setup))


def _table2(setup: Setup) -> Iterable[Iterable[Trial]]:
    """Seed by seed: if time runs out, all losses have had the same seeds."""
    return (trials for pair in setup.pairs for trials in zip(*plan.table2_trials(setup, pair).values(), strict=True))


def _table3(setup: Setup) -> Iterable[Iterable[Trial]]:
    """The paper's rows of all pairs first, seed by seed, then the others."""
    groups = [plan.table3_trials(setup, pair) for pair in setup.pairs]
    for rows in (set(plan.AS_PUBLISHED), set(plan.ENCODERS) - set(plan.AS_PUBLISHED)):
        for seed in range(setup.seeds):
            yield [trials[seed] for each in groups for name, trials in each.items() if name in rows]


def _claims(setup: Setup) -> Iterable[Iterable[Trial]]:
    return (trials for groups in plan.claims_trials(setup).values() for trials in groups.values())


ITEMS = {
    "table1": Item(lambda _: (), table1),
    "table2": Item(_needs(_table2), table2),
    "table3": Item(_needs(_table3), table3),
    "figure1": Item(lambda _: (), figure1, is_drawn=True, needs_data=False),
    "figure2": Item(lambda _: (), figure2, is_drawn=True, needs_data=False),
    "figure3": Item(_needs(lambda setup: plan.figure3_trials(setup).values()), figure3, is_drawn=True),
    "figure4": Item(figure4_trials, figure4, is_drawn=True),
    "figure5": Item(lambda experiment: plan.figure5_trials(experiment.setup).values(), figure5, is_drawn=True),
    "claims": Item(_needs(_claims), claims),
    "theory": Item(_needs(lambda setup: plan.theory_trials(setup).values()), theory, is_drawn=True),
}
