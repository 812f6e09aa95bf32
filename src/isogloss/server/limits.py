"""What the service takes at most."""

from __future__ import annotations

import os
from dataclasses import dataclass

QUERY_LENGTH = 4_000  # characters; percent-encoded they still fit the header
MOST_HITS = 1_000
DEPTH = 10_000  # offset and hits together
EXPLAINED = 100  # hits that are explained at once
BATCH = 256  # queries
ID_LENGTH = 1_000
DOCUMENTS = 10_000  # in one request
HEADER_BYTES = 65_536  # request line and headers


@dataclass(frozen=True)
class Limits:
    """The limits that an operator sets.

    ``in_flight`` counts requests that wait for a thread or have one; a search that was answered with a timeout counts
    until it really ends. ``threads`` do the searching; one more does the writing.
    """

    seconds: float = 10.0
    write_seconds: float = 300.0
    in_flight: int = 64
    writes_in_flight: int = 16
    search_bytes: int = 4 << 20
    document_bytes: int = 64 << 20
    threads: int = min(8, (os.cpu_count() or 1) + 1)
