"""Which languages of a store are to be searched through HNSW, and what the server may take to build it.

``auto`` begins where an exact search takes about as long as people notice: PostgreSQL looks at some two million vectors
of 64 components a second (``benchmarks/scale.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from isogloss.base.errors import InputError
from isogloss.stores.pgvector_layout import Layout

MANY = 50_000
"""Documents of a language from which on ``auto`` builds an index."""
CHOICES = ("auto", "yes", "no")
_GRAPH_BYTES = 450  # of a vector in the graph, beside its components
_LEAST, _MOST = 64, 4_096  # MB; PostgreSQL's own default, and what most servers have to spare


def languages_to_index(counts: Mapping[str, int], layout: Layout, how: str) -> list[str]:
    """The languages that ``auto``, ``yes`` or ``no`` is an index for.

    >>> languages_to_index({"fr": 60_000, "sw": 104}, Layout("pages", 64), "auto")
    ['fr']
    """
    if how not in CHOICES:
        raise InputError(f"approximate: {how!r} is none of {', '.join(CHOICES)}")
    if how == "yes":
        return [language for language, count in counts.items() if count]
    if how == "no" or layout.dimension > layout.kind.most_indexed:
        return []
    return [language for language, count in counts.items() if count >= MANY]


def build_memory(rows: int, layout: Layout) -> str:
    """What the server may take, so that the graph fits where it can: a larger one is built far slower.

    >>> build_memory(1_000_000, Layout("pages", 64))
    '673MB'
    """
    wanted = rows * (4 * layout.dimension + _GRAPH_BYTES) // 2**20
    return f"{min(max(wanted, _LEAST), _MOST)}MB"
