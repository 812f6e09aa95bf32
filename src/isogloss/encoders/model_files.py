"""Models of others on this machine: where they are, of which kind, and whether they can be loaded without running code.

A model is a folder, an ``.onnx`` file, or a name in the local cache of the Hugging Face Hub (``ORGANISATION/NAME``,
with ``/FILE.onnx`` for an ONNX export in it). Weights are safetensors or ONNX. What would run code is refused: weights
in pickles, ``auto_map`` and modules that are not of the library itself. Nothing is downloaded, unless
:func:`find_model` is called with ``download``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isogloss.storage.errors import InputError
from isogloss.storage.files import read_json, write_bytes
from isogloss.storage.user_directories import cache_directory
from isogloss.storage.wording import way

SENTENCE_TRANSFORMERS, ONNX, MODEL2VEC = "sentence-transformers", "onnx", "model2vec"
_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)*")
_MODULES = ("Transformer", "Pooling", "Dense", "Normalize", "Dropout", "LayerNorm", "StaticEmbedding")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
_ONNX_FILES = ("model.onnx", "onnx/model.onnx")
_SMALL = ("*.json", "*.txt", "*.model")
"""Configurations, vocabularies and tokenizers."""
_OF_DOCUMENTS = ("document", "passage", "corpus")
_ALL = "pip install 'isogloss[sentence-transformers]', 'isogloss[onnx]' or 'isogloss[model2vec]'"


@dataclass(frozen=True)
class Model:
    """A model on disk. ``name`` is what the user wrote, ``file`` the ONNX file of one of that kind."""

    name: str
    folder: Path
    kind: str
    file: Path | None = None

    def config(self, name: str) -> Any:
        """What a file of JSON contains; {} where there is none."""
        return _read(self.folder / name)

    @property
    def is_cross_encoder(self) -> bool:
        """Whether it scores pairs of texts, and makes no vectors."""
        architectures = self.config("config.json").get("architectures") or [""]
        return str(architectures[0]).endswith("ForSequenceClassification")

    @property
    def modules(self) -> list[tuple[str, Path]]:
        """The class and the folder of each step from a text to a vector, as ``modules.json`` has them."""
        path = self.folder / "modules.json"
        found = []
        for module in _read(path, []):
            try:
                library, name = str(module["type"]).split(".")[0], str(module["type"]).split(".")[-1]
                folder = self.folder / str(module["path"])
            except (TypeError, KeyError) as error:
                raise InputError(f"{path}: is not a list of modules ({error!r})") from error
            if library != "sentence_transformers" or name not in _MODULES:
                raise InputError(f"{path}: the module {module['type']!r} is not one of {', '.join(_MODULES)}")
            if not folder.resolve().is_relative_to(self.folder.resolve()):
                raise InputError(f"{path}: {module['path']!r} is not in the folder of the model")
            found.append((name, folder))
        return found

    def prompts(self) -> tuple[str, str]:
        """What the model wants before a query and before a document, by its ``config_sentence_transformers.json``."""
        prompts = self.config("config_sentence_transformers.json").get("prompts") or {}
        found = [next(filter(None, map(prompts.get, names)), "") for names in (("query",), _OF_DOCUMENTS)]
        return str(found[0]), str(found[1])

    @property
    def ranks_by_product(self) -> bool:
        """Whether it is made for inner products; otherwise for cosines."""
        name = self.config("config_sentence_transformers.json").get("similarity_fn_name") or "cosine"
        if name not in ("cosine", "dot", "dot_product"):
            raise InputError(f"{self.folder}: is made for the similarity {name!r}; isogloss has cosine and dot")
        return bool(name != "cosine")

    def files(self) -> list[Path]:
        """The files that it is made of."""
        weights = ("*.safetensors",) if self.file is None else (f"{self.file.relative_to(self.folder)}*",)
        found = {path for pattern in (*_SMALL, *weights) for path in _glob(self.folder, pattern)}
        return sorted(path for path in found if path.is_file())

    def identity(self) -> str:
        """A hash of the files that it is made of, remembered while they stay the same: another one, other vectors."""
        files, caches = self.files(), cache_directory()
        seen = [(str(path.relative_to(self.folder)), *_state(path)) for path in files]
        key = blake2b(repr((self.kind, str(self.folder), seen)).encode(), digest_size=16).hexdigest()
        known = None if caches is None else caches / "models" / key
        with suppress(OSError):
            if known is not None:
                return known.read_text(encoding="ascii")
        digest = blake2b(self.kind.encode(), digest_size=16)
        for path in files:
            digest.update(f"{path.relative_to(self.folder)}\0{path.stat().st_size}\0".encode())
            with open(path, "rb") as file:
                while block := file.read(2**20):
                    digest.update(block)
        with suppress(OSError):
            if known is not None:
                known.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(known, digest.hexdigest().encode())
        return digest.hexdigest()


def find_model(name: str, download: bool = False, otherwise: str = "") -> Model:
    """The model of a path or of a name; with ``download``, a name that is not on this machine is fetched.

    ``otherwise``: what the user can do if it is not there.
    """
    path = Path(name).expanduser()
    if path.exists():
        return _checked(name, path.absolute())
    if not _NAME.fullmatch(name):
        raise InputError(f"model: {name!r} is neither a folder nor an .onnx file; {otherwise or _way()}")
    repository, file = "/".join(name.split("/")[:2]), "/".join(name.split("/")[2:])
    folder = _from_hub(repository, file) if download else _in_cache(repository, name, otherwise or _way())
    return _checked(name, folder / file)


def _in_cache(repository: str, name: str, otherwise: str) -> Path:
    """The folder of a repository in the local cache of the Hub."""
    where = f"model: {name!r} is neither a folder nor in the local cache of the Hugging Face Hub"
    if find_spec("huggingface_hub") is None:
        raise InputError(f"{where}; models need an extra: {_ALL}")
    from huggingface_hub import try_to_load_from_cache

    for file in ("config.json", "modules.json"):  # a snapshot may lack files that nobody asked for
        with suppress(ValueError):  # of a name that the Hub does not allow
            found = try_to_load_from_cache(repository, file)
            if isinstance(found, str):
                return Path(found).parent
    raise InputError(f"{where}; {otherwise}")


def _way() -> str:
    return f"name one, or fetch a model of the Hugging Face Hub now: {way('--set download=true', 'download=True')}"


def _from_hub(repository: str, file: str) -> Path:
    """The same, fetched from the Hub: configurations and weights, no code and no pickles."""
    if find_spec("huggingface_hub") is None:
        raise InputError(f"download: needs an extra: {_ALL}")
    from huggingface_hub import HfApi

    try:
        hub = HfApi()
        names = hub.list_repo_files(repository)
        return Path(hub.snapshot_download(repository, allow_patterns=_to_fetch(names, file)))
    except Exception as error:  # of the network, of the Hub, of its library
        raise InputError(f"download: {repository!r} cannot be fetched ({_one_line(error)})") from error


def _to_fetch(names: Sequence[str], file: str) -> list[str]:
    """The files to fetch: those of the modules, and of the weights of the network one form alone."""
    weights = [name for name in names if name.endswith(".safetensors")]
    modules = [name for name in weights if re.match(r"[1-9][0-9]*_", name)]
    network = [name for name in weights if "/" not in name or name.startswith("0_")]
    export = file or ("" if network else next((each for each in _ONNX_FILES if each in names), ""))
    return [*_SMALL, *modules, *([export, f"{export}_data", f"{export}.data"] if export else network)]


def _checked(name: str, path: Path) -> Model:
    """The model in a folder or of an ONNX file, if nothing of it would run code."""
    if path.is_file():
        if path.suffix != ".onnx":
            raise InputError(f"{path}: is not a model; name a folder, or an .onnx file")
        beside = path.parent if (path.parent / "tokenizer.json").is_file() else path.parent.parent
        return Model(name, beside, ONNX, path)
    if not path.is_dir():
        raise InputError(f"{path}: no such file in the model")
    config = _read(path / "config.json")
    if config.get("model_type") == MODEL2VEC:
        return Model(name, path, MODEL2VEC)
    model = Model(name, path, SENTENCE_TRANSFORMERS)
    network = next((folder for _, folder in model.modules), path)
    if any(network.glob("*.safetensors")):
        _refuse_code(model)
        return model
    exports = [path / each for each in _ONNX_FILES if (path / each).is_file()] or list(_glob(path, "*.onnx"))
    if len(exports) > 1 and not exports[0].name == "model.onnx":
        raise InputError(f"{path}: has several ONNX files; name one of them, like {exports[0]}")
    if exports:
        return Model(name, path, ONNX, exports[0])
    pickles = [each.name for pattern in _PICKLES for each in _glob(path, pattern)]
    if pickles:
        what = f"has its weights only as a pickle ({pickles[0]}), which can run code"
        raise InputError(f"{path}: {what}; save it as safetensors or ONNX")
    raise InputError(f"{path}: is not a model: it has neither safetensors nor an .onnx file")


def _refuse_code(model: Model) -> None:
    """Raise if a library would run code of a model, or unpickle its weights, or load another model for it."""
    for folder in {model.folder, *(folder for _, folder in model.modules)}:
        if any(folder.glob("pytorch_model*.bin")) and not any(folder.glob("*.safetensors")):
            what = "has weights only as a pickle (pytorch_model.bin), which can run code"
            raise InputError(f"{folder}: {what}; save the model as safetensors")
    if (model.folder / "adapter_config.json").exists():
        raise InputError(f"{model.folder}: is an adapter of another model; merge the two, and name the result")
    for path in _glob(model.folder, "*config*.json"):
        if _asks_for_code(_read(path)):
            what = "asks for code of its own (auto_map or trust_remote_code), which isogloss does not run"
            raise InputError(f"{path}: {what}; use an ONNX export of the model")


def _asks_for_code(content: Any) -> bool:
    if isinstance(content, dict):
        asks = any(content.get(key) for key in ("auto_map", "trust_remote_code"))
        return asks or any(map(_asks_for_code, content.values()))
    return isinstance(content, list) and any(map(_asks_for_code, content))


def _glob(folder: Path, pattern: str) -> Iterator[Path]:
    """Files of a folder and of the folders in it."""
    yield from folder.glob(pattern)
    yield from folder.glob(f"*/{pattern}")


def _read(path: Path, default: Any = None) -> Any:
    """What a file of JSON contains; a ``default`` of the same type, or {}, where there is none."""
    default = {} if default is None else default
    try:
        content = read_json(path)
    except FileNotFoundError:
        return default
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
    if not isinstance(content, type(default)):
        raise InputError(f"{path}: is not what a model has there")
    return content


def _state(path: Path) -> tuple[int, ...]:
    state = path.stat()
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
