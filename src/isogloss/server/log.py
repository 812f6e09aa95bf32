"""One line of JSON on standard error for each request and each event.

Lines are written by a thread of their own: where nobody reads them the service goes on, and lines that do not fit the
queue are dropped and counted. (The standard library's ``QueueListener`` waits without a limit when it is stopped, so a
log that nobody reads would block the process.)
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
import traceback
from datetime import UTC, datetime
from queue import Full, Queue
from typing import Any

from pydantic_core import to_json

_MOST_LINES = 10_000


class LineWriter:
    """Writes lines in order, each with one call, so that those of several processes do not mix."""

    def __init__(self) -> None:
        self._lines: Queue[bytes] = Queue(_MOST_LINES)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._lost = 0

    def put(self, line: bytes) -> None:
        """Queue a line; never waits."""
        if self._thread is None:
            self._start()
        try:
            self._lines.put_nowait(line)
        except Full:
            self._lost += 1

    def flush(self, seconds: float = 1.0) -> None:
        """Return when all lines are written, or soon."""
        until = time.monotonic() + seconds
        with self._lines.all_tasks_done:
            while self._lines.unfinished_tasks and (left := until - time.monotonic()) > 0:
                self._lines.all_tasks_done.wait(left)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, daemon=True, name="isogloss-log")
                self._thread.start()
                atexit.register(self.flush)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            lost, self._lost = self._lost, 0
            _write_out(line if not lost else encoded("log", message=f"{lost} lines were lost") + line)
            self._lines.task_done()


_WRITER = LineWriter()
flush = _WRITER.flush


def write_line(event: str, **values: Any) -> None:
    """Queue a line with the time and the values that are not None."""
    _WRITER.put(encoded(event, **values))


def encoded(event: str, **values: Any) -> bytes:
    """A line."""
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **values}
    return to_json({name: _clean(value) for name, value in line.items() if value is not None}) + b"\n"


def _clean(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def _write_out(line: bytes) -> None:
    try:
        handle = sys.stderr.fileno()
        while line:
            line = line[os.write(handle, line) :]
    except (OSError, ValueError, AttributeError):
        return  # standard error is closed


class LineHandler(logging.Handler):
    """Log records of libraries as the same lines."""

    def emit(self, record: logging.LogRecord) -> None:
        error = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else None
        write_line("log", level=record.levelname.lower(), message=record.getMessage(), traceback=error)


def log_libraries(level: int = logging.WARNING) -> None:
    """Write the warnings and errors of uvicorn, asyncio and this package as lines."""
    for name in ("uvicorn", "asyncio", "isogloss"):
        logger = logging.getLogger(name)
        logger.handlers = [LineHandler()]
        logger.propagate = False
        logger.setLevel(level)
