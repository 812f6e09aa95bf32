"""A service in processes of its own, and raw bytes sent to it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import h11

TOKEN = "a-token-of-tests-0123456789"


class Answer(NamedTuple):
    """Status (0 if the connection ended without one), headers in small letters, and body."""

    status: int
    head: str
    body: bytes


class Running:
    """``isogloss serve`` with writing on; ``files``: how many files it may have open."""

    def __init__(self, index: Path, *arguments: str, files: int = 0) -> None:
        command = [sys.executable, "-m", "isogloss", "serve", str(index), "--port", "0", "--quiet", *arguments]
        if files:
            command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
        variables = {**os.environ, "ISOGLOSS_TOKEN": TOKEN, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=variables)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().decode().rstrip("/\n").rpartition(":")[2])

    def connect(self, client: str = "127.0.0.1", seconds: float = 30) -> socket.socket:
        """A connection from one of the addresses of this machine."""
        return socket.create_connection(("127.0.0.1", self.port), seconds, (client, 0))

    def send(self, data: bytes, client: str = "127.0.0.1") -> Answer:
        """The first answer to some bytes; where they are no whole request, the client says that no more will come."""
        received = b""
        with self.connect(client) as connection:
            try:
                connection.sendall(data)
                if not _is_whole(data):
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before it was sent
            try:
                while not _first(received, data) and (part := connection.recv(1 << 16)):
                    received += part
            except ConnectionError:
                pass
        return _first(received, data) or Answer(0, "", received)

    def get(self, path: str, client: str = "127.0.0.1") -> Answer:
        """A request that wants nothing bad."""
        return self.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(), client)

    def stop(self) -> int:
        """End it; the exit status."""
        self.process.terminate()
        code = self.process.wait(120)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def _is_whole(data: bytes) -> bool:
    """Whether a server has to answer: a request is there to its end, or it is none."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 16)
    connection.receive_data(data)
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError:
            return True
        if event is h11.NEED_DATA or isinstance(event, h11.EndOfMessage):
            return event is not h11.NEED_DATA


def _first(received: bytes, request: bytes) -> Answer | None:
    """The first answer, if it is there."""
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return None
    status = int(head.split(b" ", 2)[1])
    if status == 100:
        return _first(body, request)
    text = head.decode("latin-1").lower()
    length = int(text.partition("content-length: ")[2].partition("\r")[0] or 0)
    if request.startswith(b"HEAD "):
        length = 0
    return Answer(status, text, body[:length]) if len(body) >= length else None
