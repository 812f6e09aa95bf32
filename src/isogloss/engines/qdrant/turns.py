"""Many readers at a time, or one writer: so that readers of a process see a batch whole or not at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A lock that readers share; a writer waits for those that read, and others wait for the writer."""

    def __init__(self) -> None:
        self._changed, self._readers, self._is_written = threading.Condition(), 0, False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """With others that read."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_written)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Alone; who comes later waits."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_written)
            self._is_written = True
            self._changed.wait_for(lambda: not self._readers)
        try:
            yield
        finally:
            with self._changed:
                self._is_written = False
                self._changed.notify_all()
