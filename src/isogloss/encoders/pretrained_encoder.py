"""Sentence encoders that others have trained, by path or name: texts to vectors whose inner products are scores.

``use`` comes with a package. Other models are folders or files of the user (:mod:`isogloss.encoders.model_files`), read
by a library that is optional: one small module each has the class that loads it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Protocol

import numpy as np

from isogloss.encoders.approvals import VARIABLE, model_to_load, remember
from isogloss.encoders.model_files import MODEL2VEC, ONNX, SENTENCE_TRANSFORMERS, Model, find_model
from isogloss.encoders.onnx import OnnxEncoder
from isogloss.encoders.sentence_transformer import SentenceTransformerEncoder
from isogloss.encoders.static import StaticEncoder
from isogloss.encoders.universal import LANGUAGES, UniversalSentenceEncoder
from isogloss.encoders.vector_cache import VectorCache
from isogloss.storage.array_types import Matrix
from isogloss.storage.errors import InputError
from isogloss.storage.files import read_json, write_bytes
from isogloss.storage.progress import track
from isogloss.storage.wording import way

PRETRAINED_HELP = (
    "use (extra 'pretrained', 15 languages), or a model by its folder, its .onnx file or its name on the Hugging Face "
    "Hub: of sentence-transformers, of model2vec, or exported to ONNX (an extra each)"
)
DOWNLOAD_HELP = "fetch the model from the Hugging Face Hub, if it is not on this machine"
OPTION, DOWNLOAD = "pretrained", "download"
_YES = ("true", "yes", "on", "1")
_FILE = "encoder.json"
_AT_ONCE = 8  # batches between two writes of the cache: what is lost when a run is killed
_RECENT = 2048  # texts whose vectors are in memory: explanations score the same ones with words left out again


class Encoder(Protocol):
    """What a library makes of texts: one row a text. ``version`` changes where its vectors might."""

    batch: int
    version: str

    def encode(self, texts: Sequence[str], is_query: bool) -> Matrix:
        """The vectors of texts, none of which is empty, with the prompt of queries or of documents."""


_LIBRARIES: dict[str, Callable[[Model], Encoder]] = {
    SENTENCE_TRANSFORMERS: SentenceTransformerEncoder, ONNX: OnnxEncoder, MODEL2VEC: StaticEncoder,
}  # fmt: skip
ENCODERS: dict[str, tuple[Callable[[], Encoder], tuple[str, ...]]] = {"use": (UniversalSentenceEncoder, LANGUAGES)}
"""The encoders that come with a package: what loads one, and the languages it knows."""


class PretrainedEncoder:
    """Texts to vectors, whatever the language; a model is loaded when it is first used.

    Inner products are cosines, unless the model says that it is made for products. The row of an empty text is zero.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._identity = ""

    def check(self, language: str) -> None:
        """Complain of a language that the encoder was not trained on; models of the user do not say."""
        known = ENCODERS[self.name][1] if self.name in ENCODERS else (language,)
        if language not in known:
            raise InputError(f"pretrained: {self.name} does not know {language!r}; it knows {', '.join(known)}")

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """One row a query; recent ones are not encoded again."""
        loaded = self.loaded
        return loaded.rows(texts, partial(loaded.recent, is_query=True))

    def encode_documents(self, texts: Sequence[str], keep: bool = True) -> Matrix:
        """One row a document; what was encoded before is in a cache, or in memory alone if it is not to ``keep``."""
        loaded = self.loaded
        return loaded.rows(texts, loaded.encode_documents if keep else partial(loaded.recent, is_query=False))

    @cached_property
    def loaded(self) -> _Loaded:
        """The model, which is loaded when it is first used."""
        if self.name in ENCODERS:
            return _built_in(self.name, ENCODERS[self.name][0])
        loaded = _load(find_model(model_to_load(self.name), otherwise=f"say where it is now: {VARIABLE}=PATH_OR_NAME"))
        if self._identity and loaded.identity != self._identity:
            what = f"{loaded.name} is not the model that has encoded these documents"
            way = f"name that one ({VARIABLE}=PATH_OR_NAME), or encode them anew: 'isogloss re-encode'"
            raise InputError(f"pretrained: {what}; {way}")
        return loaded

    def save(self, directory: Path) -> None:
        """Write which model it is; a package says that by its name."""
        if self.name not in ENCODERS:
            write_bytes(directory / _FILE, (json.dumps({"identity": self.loaded.identity}) + "\n").encode())

    def load(self, directory: Path) -> None:
        """Read what ``save`` wrote."""
        if (directory / _FILE).exists():
            identity = read_json(directory / _FILE)["identity"]
            if not isinstance(identity, str):
                raise TypeError(f"{_FILE} names no model")
            self._identity = identity


class _Loaded:
    """A model in memory, for all systems that use it; it encodes for one thread at a time."""

    def __init__(self, encoder: Encoder, name: str, identity: str, unit: bool = True) -> None:
        self.name, self.identity, self._encoder, self._unit = name, identity, encoder, unit
        self._lock = threading.Lock()
        self._recent: dict[bool, dict[str, Matrix]] = {True: {}, False: {}}

    @cached_property
    def dimension(self) -> int:
        """The length of a vector."""
        return len(self._encode(["a"])[0])

    def rows(self, texts: Sequence[str], encode: Callable[[Sequence[str]], dict[str, Matrix]]) -> Matrix:
        """The vectors of all texts; equal ones are encoded once, and those alike in length together: less padding."""
        rows_of: dict[str, list[int]] = {}
        for row, text in enumerate(texts):
            if text.strip():
                rows_of.setdefault(text, []).append(row)
        order, size = sorted(rows_of, key=lambda text: (len(text), text)), _AT_ONCE * self._encoder.batch
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        made = np.zeros((len(texts), self.dimension), np.float32)
        for batch in track(batches, "encoding", total=len(order), sizes=map(len, batches)):
            for text, vector in encode(batch).items():
                made[rows_of[text]] = vector
        return made

    def recent(self, texts: Sequence[str], is_query: bool) -> dict[str, Matrix]:
        """The vectors of texts, with those of recent ones."""
        known = self._recent[is_query]
        found = {text: known[text] for text in texts if text in known}
        missing = [text for text in texts if text not in found]
        if missing:
            found |= dict(zip(missing, self._encode(missing, is_query), strict=True))
            self._recent[is_query] = (known if len(known) < _RECENT else {}) | found
        return found

    def encode_documents(self, texts: Sequence[str]) -> dict[str, Matrix]:
        """The vectors of documents, with those of the cache."""
        cache = VectorCache(f"{self.identity} {self._encoder.version}")
        found = {text: vector for text, vector in cache.find(texts).items() if len(vector) == self.dimension}
        missing = [text for text in texts if text not in found]
        if missing:
            new = dict(zip(missing, self._encode(missing), strict=True))
            cache.add(new)
            found |= new
        return found

    def _encode(self, texts: Sequence[str], is_query: bool = False) -> list[Matrix]:
        made: list[Matrix] = []
        for start in range(0, len(texts), self._encoder.batch):
            with self._lock:
                vectors = self._encoder.encode(texts[start : start + self._encoder.batch], is_query)
            if not np.isfinite(vectors).all():
                raise InputError(f"{self.name}: the model makes vectors that are no numbers; use another one")
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            made += list(np.divide(vectors, lengths, out=vectors, where=lengths > 0) if self._unit else vectors)
        return made


@cache
def _built_in(name: str, load: Callable[[], Encoder]) -> _Loaded:
    return _Loaded(load(), name, name)


@cache
def _load(model: Model) -> _Loaded:
    """A model of the user, by its library."""
    if model.is_cross_encoder:
        rerank = way("--rerank", "Index.rerank")
        raise InputError(f"{model.folder}: is a cross-encoder, which makes no vectors; re-rank by it: {rerank}")
    try:
        encoder = _LIBRARIES[model.kind](model)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # libraries raise errors of many kinds for a model that is damaged
        what = " ".join(str(error).split())[:300]
        raise InputError(f"{model.folder}: {model.kind} cannot load this model ({what})") from error
    return _Loaded(encoder, model.name, model.identity(), not model.ranks_by_product)


def encoder_languages() -> list[str]:
    """The languages that the encoders of packages were trained on."""
    return sorted({language for _, known in ENCODERS.values() for language in known})


def with_named_models(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a user, whose models are found now, fetched if he says so, and may be loaded from now on.

    Paths become absolute, because an index can be opened from any folder. Settings of an index are not for here.
    """
    found = dict(settings)
    for key in [key for key in found if key.endswith("_options")]:  # those of the parts of a hybrid
        own = [setting.partition("=") for setting in found[key].split(";")]
        named = with_named_models({name.strip(): value.strip() for name, _, value in own})
        if OPTION in named:
            found[key] = ";".join(f"{name}={value}" for name, value in named.items())
    name, download = found.get(OPTION, ""), found.pop(DOWNLOAD, "").lower() in _YES
    if name and name not in ENCODERS:
        find_model(name, download)
        path = Path(name).expanduser()
        found[OPTION] = str(path.absolute()) if path.exists() else name
        remember(found[OPTION])
    return found
