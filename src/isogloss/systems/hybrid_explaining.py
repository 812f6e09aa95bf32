"""The explanations of two systems as one."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.evaluation.system import Contribution


def scaled(lines: Sequence[Contribution], score: float, share: float, name: str) -> list[Contribution]:
    """Lines that add up to ``score`` scaled to add up to ``share``; what they leave out is put down to ``name``.

    >>> scaled([Contribution("sea", ("mer",), 3.0)], 4.0, 2.0, "(rest)")
    [Contribution(query_word='sea', document_words=('mer',), score=1.5),
     Contribution(query_word='(rest)', document_words=(), score=0.5)]
    """
    factor = share / score if score else 0.0
    if factor <= 0:  # a rank speaks for a document even where its score does not
        return [Contribution(name, (), share)] if share else []
    said = [line._replace(score=line.score * factor) for line in lines]
    rest = share - sum(line.score for line in said)
    return [*said, *([Contribution(name, (), rest)] if abs(rest) > 1e-6 * abs(share) else [])]
