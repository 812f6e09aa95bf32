"""Ctrl-C where something must not be cut in the middle: once, it waits for a good moment; twice, it is at once."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Self


class Interruption:
    """Inside the block the first Ctrl-C only sets ``asked``; the second raises KeyboardInterrupt as usual.

    One that comes within ``deaf`` seconds of the first is taken for the same.
    """

    def __init__(self, deaf: float = 0.0) -> None:
        self.asked = False
        self._deaf, self._asked_at = deaf, 0.0
        self._here = threading.current_thread() is threading.main_thread()  # only there can signals be caught

    def __enter__(self) -> Self:
        if self._here:
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._here:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if not self.asked:
            self.asked, self._asked_at = True, time.monotonic()
        elif time.monotonic() - self._asked_at >= self._deaf:
            raise KeyboardInterrupt
