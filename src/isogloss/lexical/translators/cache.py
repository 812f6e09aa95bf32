"""Translations kept in a file, so that no text is translated twice."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path


class TranslationCache:
    """A file of JSON lines ``[text, translation]`` that only grows.

    Each batch is added with one write, so that runs side by side lose nothing; a line that a killed run left half
    written is passed over. A cache is a convenience: where it cannot be read or written, nothing is said.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._translations: dict[str, str] = {}
        with contextlib.suppress(OSError):
            for line in path.read_bytes().splitlines():
                self._read(line)

    def get(self, text: str) -> str | None:
        """The translation of a text, if it is known."""
        return self._translations.get(text)

    def add(self, translations: Mapping[str, str]) -> None:
        """Keep some more."""
        self._translations.update(translations)
        lines = "".join(json.dumps(pair) + "\n" for pair in translations.items())
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab", buffering=0) as file:
                file.write(("\n" + lines if self._cut_off() else lines).encode())

    def _read(self, line: bytes) -> None:
        with contextlib.suppress(ValueError):
            pair = json.loads(line)
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
                self._translations[pair[0]] = pair[1]

    def _cut_off(self) -> bool:
        """Whether the file ends within a line."""
        with open(self.path, "rb") as file:
            if not file.seek(0, os.SEEK_END):
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"


def cache_directory() -> Path:
    """Where this user's translations are kept."""
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not caches.is_absolute():  # then it does not count, says the XDG specification
        caches = Path.home() / ".cache"
    return caches / "isogloss" / "translations"
