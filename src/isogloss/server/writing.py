"""Changing the index of a service: one request, one commit."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from isogloss.engines.base import EngineUnavailableError
from isogloss.index.lock import IndexBusyError
from isogloss.index.writer import IndexWriter
from isogloss.server.errors import Refusal, damaged, write_refusal
from isogloss.server.log import write_line
from isogloss.server.models import AddAnswer, DeleteAnswer, DocumentMessage
from isogloss.server.presenting import document_of
from isogloss.server.service import FreshIndex
from isogloss.storage.errors import InputError

_PATIENCE = 5.0  # seconds for another worker of this service, or a short command, to finish its writing
_PAUSE = 0.02
_CODE = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
_T = TypeVar("_T")


class Writer:
    """Adds and deletes documents, one request at a time; between processes the index's own lock decides.

    A request locks the index until the segments that it caused to merge are merged. No request waits for that: those
    that come meanwhile use the same writer.
    """

    def __init__(self, index: FreshIndex) -> None:
        self._index = index
        self._turn = threading.Lock()
        self._writer: IndexWriter | None = None

    @property
    def busy(self) -> bool:
        """Whether the index is being written to."""
        return self._writer is not None

    def add(self, messages: Sequence[DocumentMessage]) -> AddAnswer:
        """Add documents or replace those of the same language and id; they are on disk when this returns."""
        for message in messages:
            if message.lang and not _CODE.fullmatch(message.lang):
                raise Refusal(422, f"lang: {message.lang!r} is not a language code, like fr or zh")

        def change(writer: IndexWriter) -> AddAnswer:
            added = writer.add(map(document_of, messages))
            return AddAnswer(added=added, generation=writer.commit())

        return self._write(change)

    def delete(self, language: str, id_: str) -> DeleteAnswer:
        """Delete a document; it is gone for good when this returns."""

        def change(writer: IndexWriter) -> DeleteAnswer:
            deleted = writer.delete([id_], [language]) if language in writer.index.languages else 0
            if not deleted:
                raise Refusal(404, f"there is no document {id_[:100]!r} in {language[:50]!r}")
            return DeleteAnswer(deleted=deleted, generation=writer.commit())

        return self._write(change)

    def _write(self, change: Callable[[IndexWriter], _T]) -> _T:
        with self._turn:
            try:
                writer = self._opened()
                answer = change(writer)
            except OSError as error:
                self._close()
                refusal = write_refusal(error)
                if refusal is None:
                    raise
                write_line("error", message=str(error))
                raise refusal from error
            except BaseException:
                self._close()  # and drop what is not committed
                raise
            if writer.is_merging:
                threading.Thread(target=self._close_after_merging, args=(writer,), daemon=True).start()
            else:
                self._close()
        self._index.after_write()
        return answer

    def _opened(self) -> IndexWriter:
        """The writer of the index, as soon as nobody else has it."""
        until = time.monotonic() + _PATIENCE
        while self._writer is None:
            try:
                self._writer = IndexWriter(self._index.path).__enter__()
            except IndexBusyError as error:
                if time.monotonic() >= until:
                    write_line("locked", message=str(error))
                    what = "the index is being changed by another process; try again when that is done"
                    raise Refusal(409, what, {"Retry-After": "5"}) from error
                time.sleep(_PAUSE)
            except EngineUnavailableError:
                raise
            except InputError as error:
                write_line("damaged", message=str(error))
                raise damaged() from error
        return self._writer

    def _close_after_merging(self, writer: IndexWriter) -> None:
        while self._writer is writer:
            while writer.is_merging:
                time.sleep(_PAUSE)
            with self._turn:
                if self._writer is writer and not writer.is_merging:
                    self._close()

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.__exit__(None, None, None)
