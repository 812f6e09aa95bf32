"""Neural translation models on this machine: directories of CTranslate2, and packages of Argos Translate.

ctranslate2:DIR   model.bin, with source.spm and target.spm (OPUS-MT) or sentencepiece.model beside it or above it;
without any, words are separated by spaces. {source} and {target} in DIR are the two languages
argos:DIR         metadata.json, model/ (of CTranslate2), sentencepiece.model
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from isogloss.storage.errors import InputError
from isogloss.storage.files import read_json
from isogloss.translation.machine import MachineTranslator, plain_line

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_LONGEST = 256  # subwords of a translated sentence
_BATCH = 1024  # subwords at a time
_END = "</s>"
Encode = Callable[[str], list[str]]
Decode = Callable[[list[str]], str]


class CTranslate2Translator(MachineTranslator):
    """A model of CTranslate2; texts are cut into sentences, which such models are trained on."""

    def __init__(self, directory: Path, name: str = "") -> None:
        if not (directory / "model.bin").is_file():
            what = "is no model of CTranslate2 (it has no model.bin)"
            raise InputError(f"{directory}: {what}; name the folder of a converted model")
        self._encode, self._decode = _subwords(directory)
        self._model = _load(directory)
        self.name = name or f"CTranslate2 {directory.resolve().name}"

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        sentences = [[part for part in _SENTENCE.split(text) if part.strip()] for text in texts]
        flat = [self._encode(plain_line(part)) for own in sentences for part in own]
        results = self._model.translate_batch(
            flat, beam_size=2, max_batch_size=_BATCH, batch_type="tokens", max_decoding_length=_LONGEST,
            max_input_length=_LONGEST,
        )  # fmt: skip
        found = iter([plain_line(self._decode(result.hypotheses[0])) for result in results])
        return [" ".join(next(found) for _ in own) for own in sentences]


def argos_translator(directory: Path, source_language: str, target_language: str) -> CTranslate2Translator:
    """A package of Argos Translate, unpacked, if it is of these languages."""
    try:
        about = read_json(directory / "metadata.json")
        pair = about["from_code"], about["to_code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = "is no package of Argos Translate (metadata.json with from_code and to_code)"
        raise InputError(f"{directory}: {what}; name the folder of an unpacked or installed one") from error
    if pair != (source_language, target_language):
        what = f"translates {pair[0]} to {pair[1]}, not {source_language} to {target_language}"
        raise InputError(f"{directory}: {what}; name another package")
    if not (directory / "sentencepiece.model").is_file():
        raise InputError(f"{directory}: has no sentencepiece.model; packages with bpe.model are not supported")
    return CTranslate2Translator(directory / "model", f"Argos {'-'.join(pair)}")


def _load(directory: Path) -> Any:
    try:
        import ctranslate2
    except ImportError as error:
        raise InputError("translator: install CTranslate2 with pip install 'isogloss[translate]'") from error
    try:
        return ctranslate2.Translator(str(directory), device="cpu", inter_threads=1)
    except (RuntimeError, ValueError) as error:
        raise InputError(f"{directory}: cannot be loaded as a model of CTranslate2 ({error})") from error


def _subwords(directory: Path) -> tuple[Encode, Decode]:
    """What cuts a sentence into the subwords of a model, and joins those of its translation."""
    names = [("source.spm", "target.spm"), ("sentencepiece.model", "sentencepiece.model")]
    places = [[folder / name for name in pair] for folder in (directory, directory.parent) for pair in names]
    found = next((paths for paths in places if all(path.is_file() for path in paths)), None)
    if found is None:
        return str.split, " ".join
    source, target = map(_sentencepiece, found)
    end = [_END] if found[0] != found[1] and not _adds_end(directory) else []
    return lambda text: [*source.encode(text, out_type=str), *end], target.decode


def _adds_end(directory: Path) -> bool:
    """Whether CTranslate2 itself marks the end of a sentence."""
    try:
        return bool(json.loads((directory / "config.json").read_bytes()).get("add_source_eos"))
    except (OSError, ValueError, AttributeError):
        return False


def _sentencepiece(path: Path) -> Any:
    try:
        import sentencepiece
    except ImportError as error:
        raise InputError("translator: install SentencePiece with pip install 'isogloss[translate]'") from error
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as a model of SentencePiece ({error})") from error
