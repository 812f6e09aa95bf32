"""Encoders and cross-encoders exported to ONNX, run by onnxruntime without torch: extra ``onnx``.

Tokens come from ``tokenizer.json``. An export ends with the vectors of the tokens. Pooling, dense layers and
normalisation follow as ``modules.json`` has them (Reimers and Gurevych 2019), the mean of the tokens without one:

    mean: sum_t m_t x_t / sum_t m_t,   m_t = 0 for padding, and for the prompt where the model leaves that out
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isogloss.encoders.model_files import Model
from isogloss.storage.array_types import Matrix
from isogloss.storage.arrays import read_tensors
from isogloss.storage.errors import InputError, import_extra
from isogloss.storage.files import read_json
from isogloss.text.batches import available_cores

_LONGEST = 512  # tokens, where the model does not say how many it reads
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "Tanh": np.tanh, "Identity": lambda x: x, "ReLU": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip
_TOKENS, _VECTOR = ("last_hidden_state", "token_embeddings"), "sentence_embedding"


class Tokens(NamedTuple):
    """What the model made of the tokens of some texts: outputs by name, and which tokens are no padding."""

    outputs: dict[str, Any]
    mask: Any


class Session:
    """The tokenizer and the network of an export."""

    def __init__(self, model: Model) -> None:
        runtime = import_extra("onnxruntime", "onnx", "an ONNX model")
        self.tokenizer = import_extra("tokenizers", "onnx", "an ONNX model").Tokenizer.from_file(
            str(model.folder / "tokenizer.json")
        )
        settings, config = model.config("tokenizer_config.json"), model.config("config.json")
        own = model.config("sentence_bert_config.json")
        longest = own.get("max_seq_length") or min(
            int(settings.get("model_max_length") or _LONGEST), int(config.get("max_position_embeddings") or _LONGEST)
        )
        self.tokenizer.enable_truncation(int(longest), direction=settings.get("truncation_side", "right"))
        self._has_types = _TYPES in (settings.get("model_input_names") or _FED)
        pad = settings.get("pad_token") or "[PAD]"
        pad = str(pad["content"]) if isinstance(pad, dict) else str(pad)
        number = self.tokenizer.token_to_id(pad)
        side = settings.get("padding_side", "right")
        self.tokenizer.enable_padding(direction=side, pad_id=number or 0, pad_token=pad)
        if own.get("do_lower_case"):
            normalizers = import_extra("tokenizers", "onnx", "an ONNX model").normalizers
            before = [self.tokenizer.normalizer] if self.tokenizer.normalizer else []
            self.tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *before])
        options = runtime.SessionOptions()
        options.intra_op_num_threads = available_cores()
        options.log_severity_level = 3
        self._session = runtime.InferenceSession(str(model.file), options, providers=["CPUExecutionProvider"])
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._outputs = [each.name for each in self._session.get_outputs()]
        if unknown := {*self._inputs} - {*_FED}:
            raise InputError(f"{model.file}: wants the input {min(unknown)!r}; isogloss gives {', '.join(_FED)}")

    def run(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Tokens:
        """What the model makes of texts, or of pairs of texts."""
        read = self.tokenizer.encode_batch(list(texts))
        fed = {name: np.asarray([getattr(each, _FED[name]) for each in read], np.int64) for name in _FED}
        fed[_TYPES] *= self._has_types
        found = self._session.run(None, {name: fed[name] for name in self._inputs})
        return Tokens(dict(zip(self._outputs, found, strict=True)), fed["attention_mask"])


_TYPES = "token_type_ids"
_FED = {"input_ids": "ids", "attention_mask": "attention_mask", _TYPES: "type_ids"}
"""The inputs of an export, and what they are called in the tokenizer."""


class OnnxEncoder:
    """An export with what follows it."""

    batch = 32

    def __init__(self, model: Model) -> None:
        self._session = Session(model)
        self._prompts = model.prompts()
        self._steps = _steps(model)
        self.version = version("onnxruntime")

    def encode(self, texts: Sequence[str], is_query: bool) -> Matrix:
        prompt = self._prompts[0 if is_query else 1]
        outputs, mask = self._session.run([prompt + text for text in texts])
        if _VECTOR in outputs:
            return np.asarray(outputs[_VECTOR], np.float32)
        tokens = next((outputs[name] for name in _TOKENS if name in outputs), next(iter(outputs.values())))
        vectors = self._steps[0](np.asarray(tokens, np.float32), mask, self._length_of(prompt))
        for step in self._steps[1:]:
            vectors = step(vectors)
        return np.asarray(vectors, np.float32)

    def _length_of(self, prompt: str) -> int:
        """The number of tokens of a prompt with the special one before it, and without the one behind it."""
        if not prompt:
            return 0
        read = self._session.tokenizer.encode(prompt)
        return len(read.ids) - int(read.special_tokens_mask[-1])


class OnnxCrossEncoder:
    """The score of a query and a text, read together."""

    def __init__(self, model: Model) -> None:
        self._session = Session(model)
        config = model.config("config.json")
        self.labels = len(config.get("id2label") or [0])
        named = (config.get("sentence_transformers") or {}).get("activation_fn")
        named = named or config.get("sbert_ce_default_activation_function") or "Sigmoid"
        self._activation = _activation(str(named), model.folder / "config.json")

    def score(self, pairs: Sequence[tuple[str, str]]) -> Matrix:
        outputs, _ = self._session.run(pairs)
        logits = np.asarray(outputs.get("logits", next(iter(outputs.values()))), np.float32)
        return np.asarray(self._activation(logits[:, 0]), np.float32)


def _steps(model: Model) -> list[Callable[..., Any]]:
    """Pooling, and what comes after it."""
    steps: list[Callable[..., Any]] = []
    for name, folder in model.modules[1:]:
        if name == "Pooling" and not steps:
            steps.append(_pooling(read_json(folder / "config.json"), folder))
        elif name == "Dense" and steps:
            steps.append(_dense(folder))
        elif name == "Normalize" and steps:
            steps.append(lambda vectors: vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))
        elif name != "Dropout":
            raise InputError(f"{model.folder}: has the module {name} in a place that isogloss does not know with ONNX")
    return steps or [_pooling({}, model.folder)]


def _pooling(config: Any, folder: Path) -> Callable[..., Any]:
    modes = config.get("pooling_mode") or [name for key, name in _OLD_MODES.items() if config.get(key)] or "mean"
    modes = [modes] if isinstance(modes, str) else modes
    if unknown := [mode for mode in modes if mode not in _POOLED]:
        raise InputError(f"{folder}: pools by {unknown[0]!r}; isogloss has {', '.join(_POOLED)}")

    def pool(tokens: Any, mask: Any, prompt: int) -> Any:
        kept = mask
        if prompt and config.get("include_prompt", True) is False:
            position = np.arange(mask.shape[1]) - np.argmax(mask, axis=1)[:, None]  # padding may come first
            kept = mask * (position >= prompt)
        return np.concatenate([_POOLED[mode](tokens, kept, mask) for mode in modes], axis=1)

    return pool


def _mean(tokens: Any, weights: Any, power: float = 1.0) -> Any:
    total = np.einsum("btd,bt->bd", tokens, weights.astype(np.float32))
    return total / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9) ** power


def _at(tokens: Any, positions: Any) -> Any:
    return tokens[np.arange(len(tokens)), positions]


_POOLED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "cls": lambda tokens, kept, mask: _at(tokens, np.argmax(kept, axis=1)),
    "mean": lambda tokens, kept, mask: _mean(tokens, kept),
    "mean_sqrt_len_tokens": lambda tokens, kept, mask: _mean(tokens, kept, 0.5),
    "max": lambda tokens, kept, mask: np.where(kept[:, :, None] > 0, tokens, -np.inf).max(axis=1),
    "weightedmean": lambda tokens, kept, mask: _mean(tokens, kept * np.cumsum(mask, axis=1)),
    "lasttoken": lambda tokens, kept, mask: _at(tokens, mask.shape[1] - 1 - np.argmax(kept[:, ::-1], axis=1)),
}
_OLD_MODES = {
    "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max", "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # fmt: skip


def _dense(folder: Path) -> Callable[..., Any]:
    """X A' + b, through an activation."""
    config, (weights, _) = read_json(folder / "config.json"), read_tensors(folder / "model.safetensors")
    if config.get("use_residual") or config.get("module_input_name", _VECTOR) != _VECTOR:
        raise InputError(f"{folder}: is a dense layer that isogloss does not know with ONNX")
    activation = _activation(str(config.get("activation_function", "Tanh")), folder / "config.json")
    bias = weights.get("linear.bias", 0.0)
    return lambda vectors: activation(vectors @ weights["linear.weight"].T + bias)


def _activation(name: str, path: Path) -> Callable[[Any], Any]:
    found = _ACTIVATIONS.get(name.rsplit(".", maxsplit=1)[-1])
    if found is None:
        raise InputError(f"{path}: the activation {name!r} is not one of {', '.join(_ACTIVATIONS)}")
    return found
