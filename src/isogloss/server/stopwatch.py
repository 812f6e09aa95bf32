"""How long something took."""

from __future__ import annotations

import time


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self._started

    @property
    def milliseconds(self) -> float:
        """Milliseconds since it was made, to a thousandth."""
        return round(self.seconds * 1000, 3)
