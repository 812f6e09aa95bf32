"""Reading files of kinds that may crash, hang or fill the memory, in processes of their own with limits.

A process reads one file after another. It has limits of time for each file and of memory, and may neither write files
nor start programs. One that is stuck or ends is replaced, and its file is unreadable.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from isogloss.data.readers.files.blocks import UnreadableError

SECONDS = 60.0
"""Of processor time for each file."""
MEMORY = 2 << 30
"""Bytes beyond those that a process has at its beginning."""
_PATIENCE = 4  # times SECONDS by the clock, on a busy machine
_HEAD = struct.Struct(">HQd")


class IsolatedReader:
    """A process that reads files; it is started for the first one."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, kind: str, data: bytes) -> tuple[str, str]:
        """The title and the text of a file; :class:`UnreadableError` says why there are none."""
        process = self._started()
        alarm = threading.Timer(_PATIENCE * self._seconds, process.kill)
        alarm.start()
        try:
            answer = _ask(process, kind, data, self._seconds)
        finally:
            alarm.cancel()
        if answer is None:
            code = process.wait()
            self.close()
            if code == -signal.SIGKILL:
                raise UnreadableError("takes too long", _too_long(self._seconds))
            raise UnreadableError("damaged", f"ends the process that reads it (status {code})")
        if "reason" in answer:
            raise UnreadableError(answer["reason"], answer["message"])
        return answer["title"], answer["text"]

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]  # both are pipes

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-P", "-m", __name__]  # -P: no module of the folder that the user is in
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
        return self._process


def _ask(process: subprocess.Popen[bytes], kind: str, data: bytes, seconds: float) -> dict[str, str] | None:
    """The answer of the process; none where it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    name = kind.encode()
    with suppress(BrokenPipeError):
        process.stdin.write(_HEAD.pack(len(name), len(data), seconds) + name)
        process.stdin.write(data)
        process.stdin.flush()
    line = process.stdout.readline()
    answer: dict[str, str] | None = json.loads(line) if line.endswith(b"\n") else None
    return answer


def _too_long(seconds: float) -> str:
    return f"takes more than {seconds:g} s of processor time; leave it out, or save it anew"


class _TimeIsUpError(BaseException):
    """Not an ``Exception``, which a library may catch."""


def main() -> None:
    """Read files from standard input, and write what they hold, a line of JSON each."""
    from isogloss.data.readers.files.kinds import read_here  # the parent has no need of it

    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    _limit()
    while len(head := asked.read(_HEAD.size)) == _HEAD.size:
        name_size, size, seconds = _HEAD.unpack(head)
        kind, data = asked.read(name_size).decode(), asked.read(size)
        answers.write(json.dumps(_answer(read_here, kind, data, seconds)).encode() + b"\n")
        answers.flush()
        del data


def _answer(read: Any, kind: str, data: bytes, seconds: float) -> dict[str, str]:
    try:
        with _timed(seconds):
            title, text = read(kind, data)
    except UnreadableError as error:
        return {"reason": error.reason, "message": str(error)}
    except _TimeIsUpError:
        return {"reason": "takes too long", "message": _too_long(seconds)}
    except MemoryError:
        return {"reason": "too large", "message": f"takes more than {MEMORY >> 30} GiB of memory"}
    return {"title": title, "text": text}


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """Raise when the processor has worked for so long."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise _TimeIsUpError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit() -> None:
    """Take from this process what it does not need."""
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    limits = [(resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)]
    if sys.platform == "linux":
        with open("/proc/self/statm") as file:
            limits.append((resource.RLIMIT_AS, int(file.read().split()[0]) * resource.getpagesize() + MEMORY))
        limits.append((resource.RLIMIT_NPROC, 0))
    for limit, most in limits:
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (most, most))


if __name__ == "__main__":
    main()
