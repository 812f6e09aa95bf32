"""The words of a pair in one file: for a machine that has neither the data nor the tokeniser's dictionaries.

A pack is written ``PAIR.npz`` into a directory; as a source it is called ``packed:DIRECTORY``.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.papers.smooth.pair_words import PairWords
from isogloss.storage.arrays import save_packed
from isogloss.storage.errors import InputError
from isogloss.storage.lines import Location
from isogloss.text.batches import TokenizedTexts

PREFIX = "packed:"
_KINDS = ("documents", "queries", "source_documents")


def write_pack(words: PairWords, directory: Path) -> Path:
    """Write the pack of a pair."""
    dataset = words.dataset
    row_of, number_of = dataset.documents.row_of, {query: number for number, query in enumerate(dataset.queries)}
    judgments = [(number_of[query], row_of[document], grade) for query, document, grade in dataset.judgments]
    about = {
        "source": dataset.source.name, "pair": dataset.pair, "fingerprint": words.fingerprint,
        "top_grade": dataset.judgments.top_grade, "splits": dataset.splits,
        "documents": dataset.documents.ids, "queries": list(dataset.queries),
    }  # fmt: skip
    arrays: dict[str, NDArray[Any]] = {
        "about": _as_bytes(about),
        "judgments": np.asarray(judgments, dtype=np.int32).reshape(-1, 3),
    }
    for kind in _KINDS:
        texts: TokenizedTexts | None = getattr(words, kind)
        if texts is not None:
            arrays[f"{kind}.terms"] = _as_bytes(texts.terms)
            arrays[f"{kind}.ids"], arrays[f"{kind}.offsets"] = texts.ids, texts.offsets
    path = _path(directory, dataset.pair)
    save_packed(path, arrays)
    return path


class _Pack(Source):
    """Stands for the source that was packed."""

    format = "packed"

    def documents(self, language: str, problems: Problems) -> Iterator[tuple[Location, Document]]:
        raise InputError(f"{self.name}: a pack has words, not texts")


class PackedWords(PairWords):
    """The pair as a pack has it."""

    def __init__(self, directory: Path, pair: Pair) -> None:
        path = _path(directory, pair)
        try:
            with np.load(path, allow_pickle=False) as found:
                self._arrays = dict(found)
            self._about: dict[str, Any] = _from_bytes(self._arrays["about"])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: is not the pack of a pair ({error}); write it with --pack") from error

    @cached_property
    def dataset(self) -> Dataset:
        about = self._about
        documents, queries = about["documents"], about["queries"]
        judgments = (
            Judgment(queries[query], documents[document], grade)
            for query, document, grade in self._arrays["judgments"].tolist()
        )
        return Dataset(
            _Pack(about["source"]), (about["pair"][0], about["pair"][1]),
            Collection(Document(id_, "") for id_ in documents), {id_: Query(id_, "") for id_ in queries},
            Judgments(judgments, about["top_grade"]), about["splits"],
        )  # fmt: skip

    @property
    def fingerprint(self) -> str:
        return str(self._about["fingerprint"])

    @cached_property
    def documents(self) -> TokenizedTexts:
        return self._texts("documents")

    @cached_property
    def queries(self) -> TokenizedTexts:
        return self._texts("queries")

    @cached_property
    def source_documents(self) -> TokenizedTexts | None:
        return self._texts("source_documents") if "source_documents.ids" in self._arrays else None

    def _texts(self, kind: str) -> TokenizedTexts:
        terms, ids, offsets = (self._arrays[f"{kind}.{part}"] for part in ("terms", "ids", "offsets"))
        return TokenizedTexts(_from_bytes(terms), ids, offsets)


def _path(directory: Path, pair: Pair) -> Path:
    return directory / f"{'-'.join(pair)}.npz"


def _as_bytes(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode("ascii"), dtype=np.uint8)


def _from_bytes(array: NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())
