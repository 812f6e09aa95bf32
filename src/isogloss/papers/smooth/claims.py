"""What the smooth paper claims in passing: clipping, towers, shuffling, first vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from isogloss.papers.pages import Page, markdown_table
from isogloss.papers.smooth.pages import Experiment, differences_table, training_line
from isogloss.papers.smooth.plan import claims_trials
from isogloss.papers.smooth.published import MEASURES
from isogloss.papers.smooth.summaries import against_first, summarise_results
from isogloss.papers.smooth.trial_store import Result
from isogloss.papers.summaries import summarise

_SAID = {
    "gradient clipping": "The paper: clipping alone is not sufficient; with the smooth cosine performance improves.",
    "towers of the cnn": "The paper: separate towers for queries and documents are better than a shared one.",
    "order of the pairs": "The paper: shuffling the training set improves performance.",
    "first word vectors": "The paper starts from pretrained vectors of each language and says nothing of random ones.",
}


def claims(experiment: Experiment) -> Page:
    """Each claim as a table, the paper's way against the others."""
    parts, values = [], {}
    for claim, groups in claims_trials(experiment.setup).items():
        found = experiment.groups(groups)
        comparisons = against_first(found)
        parts += [
            f"## {claim.capitalize()}",
            _SAID[claim],
            training_line(next((results for results in found.values() if results), [])),
            _table(found),
            differences_table(comparisons),
        ]
        values[claim] = {"rows": _as_json(found), "comparisons": [asdict(each) for each in comparisons]}
    title = f"# Claims of the text, {'-'.join(experiment.setup.pairs[0])}"
    ends = (
        'Ranked: the judged documents and 40 random others; "full MRR_mr": the whole collection. \\* significant at 5% '
        "by the paired t-test and by Fisher's randomisation, after Holm's correction for the comparisons of the claim. "
        '"—": the training stopped before its end (see the error file of the trial), or was not run.'
    )
    return Page("\n\n".join([title, *parts, ends]), {**experiment.about(), "claims": values})


def _table(found: Mapping[str, Sequence[Result]]) -> str:
    rows = [
        (
            name,
            *(str(each) for each in summarise_results(results).values()),
            str(summarise([result.mean("MRR_mr", "full") for result in results])),
        )
        for name, results in found.items()
    ]
    return markdown_table(("", *MEASURES, "full MRR_mr"), rows)


def _as_json(found: Mapping[str, Sequence[Result]]) -> dict[str, Any]:
    return {
        name: {
            "trials": [result.trial.name for result in results],
            **{
                protocol: {measure: each.as_json() for measure, each in summarise_results(results, protocol).items()}
                for protocol in ("sampled", "full")
            },
        }
        for name, results in found.items()
    }
