"""A translator behind HTTP: any service that speaks LibreTranslate's protocol.

    POST ADDRESS/translate   {"q": [...], "source": "fr", "target": "en", "format": "text"}
    answer                   {"translatedText": [...]}

The address comes from the user alone. Nothing else is asked: no redirection is followed, an answer has a limited size
and a limited time, and what it says is plain text. A key of the service is read from ISOGLOSS_TRANSLATOR_KEY.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from isogloss.storage.errors import InputError
from isogloss.translation.machine import MachineTranslator, plain_line

KEY_VARIABLE = "ISOGLOSS_TRANSLATOR_KEY"
_SECONDS = 10.0  # for all texts of a call
_BYTES = 4 << 20  # of an answer
_TEXTS, _LETTERS = 50, 20_000  # of a request
_LONGER = 10  # times as long as its text a translation may be, and some letters more
_BLOCK = 1 << 16


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none: the user has named another address."""


class HttpTranslator(MachineTranslator):
    """Asks a service; ``seconds`` is how long all texts of a call may take together."""

    def __init__(self, address: str, source_language: str, target_language: str, seconds: float = _SECONDS) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"translator: {address!r} is no address such as http://localhost:5000")
        if parts.username or parts.password:
            raise InputError(f"translator: the address has a password; put the key into {KEY_VARIABLE}")
        self._address = f"{address.rstrip('/').removesuffix('/translate')}/translate"
        self._languages, self._seconds = (source_language, target_language), seconds
        self._opener = urllib.request.build_opener(_NoRedirection)
        self.name = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        until = time.monotonic() + self._seconds
        worded = [text for text in dict.fromkeys(texts) if any(map(str.isalpha, text))]
        found: dict[str, str] = {}
        for batch in _batches(worded):
            found.update(zip(batch, self._ask(batch, until), strict=True))
        return [found.get(text, text) for text in texts]

    def _ask(self, texts: Sequence[str], until: float) -> list[str]:
        content: dict[str, Any] = {"q": list(texts), "source": self._languages[0], "target": self._languages[1]}
        content |= {"format": "text"} | ({"api_key": key} if (key := os.environ.get(KEY_VARIABLE)) else {})
        body = json.dumps(content).encode()
        request = urllib.request.Request(self._address, body, {"Content-Type": "application/json"})
        try:
            with self._opener.open(request, timeout=max(0.01, until - time.monotonic())) as answer:
                received = json.loads(_read(answer, until))
        except urllib.error.HTTPError as error:
            raise self._failed(f"it answered {error.code}{_said(error)}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._failed(str(getattr(error, "reason", error)) or type(error).__name__) from error
        found = received.get("translatedText") if isinstance(received, dict) else None
        if not isinstance(found, list) or len(found) != len(texts) or not all(isinstance(each, str) for each in found):
            raise self._failed(f"it gave no list of {len(texts)} translations")
        return [plain_line(each)[: 200 + _LONGER * len(text)] for text, each in zip(texts, found, strict=True)]

    def _failed(self, why: str) -> InputError:
        return InputError(f"{self.name}: could not translate ({plain_line(why)[:200]}); is its address right?")


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == _TEXTS or sum(map(len, batch)) + len(text) > _LETTERS):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _read(answer: Any, until: float) -> bytes:
    """The body, if it is small enough and comes in time."""
    content = bytearray()
    while block := answer.read1(_BLOCK):
        content += block
        if len(content) > _BYTES:
            raise ValueError(f"its answer has more than {_BYTES:,} bytes")
        if time.monotonic() > until:
            raise ValueError("its answer takes too long")
    return bytes(content)


def _said(error: urllib.error.HTTPError) -> str:
    """What a service says of an error."""
    try:
        received = json.loads(error.read(10_000))
    except (OSError, ValueError, http.client.HTTPException):
        return ""
    return f": {received['error']}" if isinstance(received, dict) and isinstance(received.get("error"), str) else ""
