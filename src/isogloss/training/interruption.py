"""Ctrl-C where something must not be cut in the middle: once, it waits for a good moment; twice, it is at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Self


class Interruption:
    """Inside the block the first Ctrl-C only sets ``asked``; the second raises KeyboardInterrupt as usual."""

    def __init__(self) -> None:
        self.asked = False
        self._here = threading.current_thread() is threading.main_thread()  # only there can signals be caught

    def __enter__(self) -> Self:
        if self._here:
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._here:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
