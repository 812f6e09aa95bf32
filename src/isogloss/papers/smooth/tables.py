"""Tables 1, 2 and 3 of the smooth paper on our data, the paper's own numbers beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from isogloss.data.dataset import Dataset
from isogloss.data.source import Pair
from isogloss.papers.pages import Page, markdown_table
from isogloss.papers.smooth.pages import Experiment, differences_table, training_line
from isogloss.papers.smooth.plan import table2_trials, table3_trials
from isogloss.papers.smooth.published import LANGUAGES, MEASURES, TABLE1, TABLE2, TABLE3, Statistics, Values
from isogloss.papers.smooth.summaries import against_first, summarise_results
from isogloss.papers.smooth.trial_store import Result
from isogloss.papers.summaries import Summary

_PROTOCOLS = {
    "sampled": "the judged documents and 40 random others (the paper's protocol)",
    "full": "the whole collection, to a depth of 1000",
}
_SIGNIFICANT = (
    "\\* significant at 5% by the paired t-test and by Fisher's randomisation over the queries (values averaged over "
    "seeds), both after Holm's correction for all comparisons of the pair."
)


def table1(experiment: Experiment) -> Page:
    """Queries, partially relevant documents a query, documents."""
    rows, values = [], {}
    for pair in experiment.setup.pairs:
        found = _statistics(experiment.shelf.get(experiment.setup.data, pair).dataset)
        paper = TABLE1.get(pair[1])
        rows.append(("-".join(pair), *_counts(found), *(_counts(paper) if paper else ("—",) * 3)))
        values["-".join(pair)] = {"ours": found._asdict(), "paper": paper._asdict() if paper else None}
    header = ("pair", "queries", "SR a query", "documents", "paper: queries", "paper: SR a query", "paper: documents")
    text = (
        f"# Table 1: the data\n\n{markdown_table(header, rows)}\n\nQueries are those with a judgment for the pair; SR "
        f"are the partially relevant documents. The paper's are of Wikipedia, ours of {experiment.setup.data}."
    )
    return Page(text, {**experiment.about(), "statistics": values})


def table2(experiment: Experiment) -> Page:
    """The losses, over some seeds."""
    sections, values = [], {}
    for pair in experiment.setup.pairs:
        found = experiment.groups(table2_trials(experiment.setup, pair))
        comparisons = against_first(found)
        summaries = _summaries(found)
        published = {name: paper for name in found if (paper := _published_loss(pair, name))}
        sections += [
            _heading(pair),
            training_line([result for results in found.values() for result in results]),
            *_protocol_tables("loss", summaries, published),
            _best(summaries["sampled"]),
            "SOSL against its rivals, on what the paper ranks:",
            differences_table(comparisons),
        ]
        values["-".join(pair)] = {
            **_as_json(found, summaries, published), "comparisons": [asdict(each) for each in comparisons],
        }  # fmt: skip
    return _page(experiment, "# Table 2: losses", [_INTERVALS, *sections, _SIGNIFICANT], values)


def table3(experiment: Experiment) -> Page:
    """The encoders, one seed."""
    sections, values = [], {}
    for pair in experiment.setup.pairs:
        found = experiment.groups(table3_trials(experiment.setup, pair))
        comparisons = against_first(found)
        summaries = _summaries(found)
        published = {name: paper for name in found if (paper := TABLE3.get(pair[1], {}).get(name))}
        trained = [f"*{name}*: {training_line(results)}" for name, results in found.items()]
        sections += [
            _heading(pair),
            "\n\n".join(trained),
            *_protocol_tables("encoder", summaries, published),
            "The average against the others, on what the paper ranks:",
            differences_table(comparisons),
        ]
        values["-".join(pair)] = {
            **_as_json(found, summaries, published), "comparisons": [asdict(each) for each in comparisons],
        }  # fmt: skip
    return _page(experiment, "# Table 3: encoders, all with SOSL", [*sections, _SIGNIFICANT], values)


_INTERVALS = (
    "Means over the seeds with their 95% intervals (Student's t); the paper reports single runs on its test queries."
)


def _page(experiment: Experiment, title: str, parts: Sequence[str], pairs: Mapping[str, Any]) -> Page:
    return Page("\n\n".join([title, *parts]), {**experiment.about(), "measures": MEASURES, "results": pairs})


def _statistics(dataset: Dataset) -> Statistics:
    judgments = dataset.judgments
    partial = sum(count for grade, count in judgments.grade_counts().items() if 0 < grade < judgments.top_grade)
    queries = len(judgments.queries)
    return Statistics(queries, partial / max(1, queries), len(dataset.documents))


def _counts(found: Statistics) -> tuple[str, str, str]:
    return f"{found.queries:,}", f"{found.partially_relevant:.1f}", f"{found.documents:,}"


def _heading(pair: Pair) -> str:
    language = LANGUAGES.get(pair[1])
    return f"## {'-'.join(pair)}" + (f" ({language})" if language else "")


def _summaries(found: Mapping[str, Sequence[Result]]) -> dict[str, dict[str, dict[str, Summary]]]:
    return {
        protocol: {name: summarise_results(results, protocol) for name, results in found.items()}
        for protocol in _PROTOCOLS
    }


def _protocol_tables(
    what: str, summaries: Mapping[str, Mapping[str, Mapping[str, Summary]]], published: Mapping[str, Values]
) -> list[str]:
    """A table a protocol; below each row of the first stands what the paper reports."""
    made = []
    for protocol, meaning in _PROTOCOLS.items():
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


def _published_loss(pair: Pair, name: str) -> Values | None:
    return TABLE2.get(pair[1], {}).get(name.partition(",")[0])


def _as_json(
    found: Mapping[str, Sequence[Result]], summaries: Mapping[str, Mapping[str, Mapping[str, Summary]]],
    published: Mapping[str, Values],
) -> dict[str, Any]:  # fmt: skip
    return {
        "rows": {
            name: {
                "trials": [result.trial.name for result in results],
                "epochs": sorted({len(result.record["history"]) for result in results}),
                **{
                    protocol: {measure: by[name][measure].as_json() for measure in MEASURES}
                    for protocol, by in summaries.items()
                },
                "paper": dict(zip(MEASURES, published[name], strict=True)) if name in published else None,
            }
            for name, results in found.items()
        }
    }
