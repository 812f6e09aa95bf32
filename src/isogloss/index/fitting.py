"""Systems that are ready to index: made for a pair of languages, and fitted where they learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.data.dataset import all_for_training, load_training
from isogloss.data.documents import Collection
from isogloss.data.problems import Problems
from isogloss.data.source import Pair, Source
from isogloss.index.language_systems import LanguageSystems, system_for
from isogloss.storage.errors import InputError
from isogloss.storage.wording import way
from isogloss.systems.base import System
from isogloss.systems.passages import by_passages
from isogloss.systems.registry import is_system, make_system, needs_two_languages, parse_options, system_type
from isogloss.systems.trainable import load_model

Check = Callable[[System], object]
"""Called with a system before it is fitted, which may take long."""


def ready_systems(
    name: str, source: Source | None, query_languages: Sequence[str], language: str,
    settings: Mapping[str, str] | None = None, problems: Problems | None = None, check: Check | None = None,
    documents: Collection | None = None,
) -> LanguageSystems:  # fmt: skip
    """The systems for documents of one language, one for each language of the queries.

    ``documents`` are those of the source, where they were read before.
    """
    pairs = [(query_language, language) for query_language in query_languages]
    return LanguageSystems(
        {pair[0]: ready_system(name, source, pair, settings, problems, check, documents) for pair in pairs}
    )


def ready_system(
    name: str, source: Source | None, pair: Pair, settings: Mapping[str, str] | None = None,
    problems: Problems | None = None, check: Check | None = None, documents: Collection | None = None,
) -> System:  # fmt: skip
    """A system by name, fitted to the source where it learns; or a trained one, by its directory.

    All judged queries of the source are trained on: an index is searched, not evaluated.
    """
    if not is_system(name) and Path(name).is_dir():
        return _trained(Path(name), pair, settings)
    used, own = system_for(name, settings or {}, pair)
    system = make_system(used, pair, own, source)
    if check is not None:
        check(system)
    if system.learns:
        if source is None:
            raise InputError(f"{name}: has to learn first; give it data with {way('--documents SOURCE', 'source=')}")
        training = load_training(source, pair, problems, documents)
        system.fit(all_for_training(training, keep_dev=system.measures_on_dev))
    return system


def described(name: str, settings: Mapping[str, str], made: Mapping[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The name and the options of an index's system, as its manifest has them; ``made``: the options of its systems."""
    if not is_system(name):
        (name,) = made  # of a model: it is for one pair of languages
    return name, made.get(name) or parse_options(name, system_type(name).options_type, settings).without_files()


def _trained(run: Path, pair: Pair, settings: Mapping[str, str] | None) -> System:
    model = load_model(run)
    if settings:
        raise InputError(f"options: {run} is trained, its options cannot be changed")
    if (model.query_language, model.document_language) != pair:
        what = f"was trained for {model.query_language}-{model.document_language}, not for {'-'.join(pair)}"
        raise InputError(f"{run}: {what}")
    if pair[0] == pair[1] and needs_two_languages(model.name):
        raise InputError(f"{run}: {model.name} translates, and both languages are {pair[0]!r}; use the system bm25")
    return by_passages(model)
