"""What the paper's text says of the differences between rows, held against ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.papers.layerwise.experiment import difference
from isogloss.papers.layerwise.published import CLAIMS, Claim
from isogloss.papers.layerwise.trial_store import Result
from isogloss.papers.pages import markdown_table


def checked_claims(item: str, rows: Mapping[str, Sequence[Result]]) -> list[dict[str, Any]]:
    """What the text says of two rows that are both there, measure by measure."""
    found = []
    for claim in CLAIMS[item]:
        for measure in claim.measures:
            apart = difference(rows.get(claim.left, []), rows.get(claim.right, []), measure)
            if apart:
                said = {"left": claim.left, "right": claim.right, "said": claim.said, "measure": measure}
                holding = holds(claim, apart.mean, apart.is_significant)
                found.append({**said, "difference": apart.mean, "p": apart.probability, "holds": holding})
    return found


def holds(claim: Claim, mean: float, is_significant: bool) -> bool:
    """Whether a difference is as the text says.

    >>> holds(Claim("a", "b", "better"), 0.1, True), holds(Claim("a", "b", "not better"), 0.1, True)
    (True, False)
    """
    return {
        "better": is_significant and mean > 0,
        "worse": is_significant and mean < 0,
        "on par": not is_significant,
        "not better": not (is_significant and mean > 0),
    }[claim.said]


def claims_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """A line a claim and measure."""
    rows = [
        (
            f"{claim['left']} is {claim['said']} {'with' if claim['said'] == 'on par' else 'than'} {claim['right']}",
            claim["measure"], f"{claim['difference']:+.3f}", f"{claim['p']:.3f}", "yes" if claim["holds"] else "no",
        )
        for claim in claims
    ]  # fmt: skip
    return markdown_table(("the paper says", "measure", "difference here", "p", "holds here"), rows)
