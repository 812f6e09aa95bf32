"""What forged files have in common: a value in the place of another, and a listener that notes what reaches it."""

import copy
import os
import socket
import threading
from contextlib import contextmanager

COUNT = int(os.environ.get("ISOGLOSS_HOSTILE", "0")) // 10
"""Forgeries beside the few that every run tries: `make soak` says how many."""
VALUES = (
    None, True, 0, -1, 1, 2**63, 10**9, 4096, 1e308, float("inf"), "", "x", "../../../etc", "/etc/passwd",
    "file:/etc/passwd", "apertium:eng-fra; touch run", "\0", "a" * 10_000, [], {}, [[]], {"a": 1}, ["en"], [1], "fr",
    "nan", "cuda", "bm25", "hybrid", "bm25-mt", "pretrained",
)  # fmt: skip


def places(content, path=()):
    """Where something in JSON is."""
    yield path
    if isinstance(content, dict | list):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from places(content[key], (*path, key))


def put(content, path, value):
    """The content with a value in a place."""
    if not path:
        return value
    content = copy.copy(content)
    content[path[0]] = put(content[path[0]], path[1:], value)
    return content


def forged(content, rng):
    """The content with one value, or one name, of another kind."""
    path, value = rng.choice(list(places(content))), rng.choice(VALUES)
    if path and isinstance(path[-1], str) and rng.random() < 0.15:
        content = copy.deepcopy(content)
        parent = content
        for key in path[:-1]:
            parent = parent[key]
        parent[rng.choice(["../x", "", "/etc", "en-\0", "x" * 300])] = parent.pop(path[-1])
        return content
    return put(content, path, value)


@contextmanager
def listening(answer=b""):
    """A port on loopback, and what arrives there: a list of bytes, one item a connection."""
    arrived = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    arrived.append(b"")
                    connection.settimeout(0.5)
                    try:
                        while data := connection.recv(65_536):
                            arrived[-1] += data
                            connection.sendall(answer)
                    except OSError:
                        pass

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield listener.getsockname()[1], arrived
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
