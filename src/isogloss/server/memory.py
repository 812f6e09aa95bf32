"""How many bytes of large bodies and answers a worker holds at once."""

from __future__ import annotations

from isogloss.server.errors import Refusal
from isogloss.server.guard import Trace

SMALL = 1 << 16
"""Bytes of a body or an answer that are not counted: the limit of connections bounds their sum."""


class MemoryBudget:
    """Counts the bytes that requests hold until they are answered; used on the event loop only."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    def take(self, trace: Trace, count: int) -> None:
        """Hold so many bytes more for a request; refused where there are too many."""
        if self._held + count > self._most and self._held:
            what = f"more than {self._most} bytes are being received or sent; try again in a moment"
            raise Refusal(503, what, {"Retry-After": "1", "Connection": "close"})
        self._held += count
        trace.held += count

    def release(self, trace: Trace) -> None:
        """The request is answered."""
        self._held -= trace.held
        trace.held = 0
