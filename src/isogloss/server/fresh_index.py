"""An open index that follows what others commit to it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from isogloss.index.reader import OpenIndex, open_index
from isogloss.server.request_log import write_line
from isogloss.storage.errors import InputError

_SECONDS = 1.0  # between two looks at the disk


class FreshIndex:
    """The newest commit of an index that could be opened.

    A change is looked for at most once a second, by one thread; the others meanwhile search in what they have. A
    change that cannot be opened is logged once and leaves what there was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open = open_index(path)
        self._next = time.monotonic() + _SECONDS
        self._problem = ""

    @property
    def seen(self) -> OpenIndex:
        """The index as it was last seen; looks nowhere, so the event loop may ask."""
        return self._open

    def now(self) -> OpenIndex:
        """The index to search in."""
        if time.monotonic() >= self._next and self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._open

    def after_write(self) -> None:
        """Look now: something was just committed."""
        with self._lock:
            self._look()

    def _look(self) -> None:
        try:
            self._open = self._open.refreshed()
            self._problem = ""
        except (InputError, OSError) as error:
            if str(error) != self._problem:
                write_line("stale", index=str(self.path), message=str(error))
            self._problem = str(error)
        finally:
            self._next = time.monotonic() + _SECONDS
