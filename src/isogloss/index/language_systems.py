"""The systems that search the documents of one language: one for each language of the queries.

shared/LANGUAGE/QUERY_LANGUAGE/               the model of each
segments/NAME/system/QUERY_LANGUAGE/          its postings or vectors of the documents of a segment

Their arrays are in the container of shared/LANGUAGE and of the segment.

Documents are stored once; what a system makes of them, once for each language of the queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.documents import Collection
from isogloss.data.source import Pair
from isogloss.retrieval.ranking import Allowed
from isogloss.storage.containers import packed
from isogloss.systems.base import System
from isogloss.systems.registry import (
    ONE_LANGUAGE,
    as_settings,
    make_system,
    needs_two_languages,
    option_names,
    parse_options,
    system_type,
)

Encode = Callable[[System, Collection, tuple[str, ...]], None]
"""Indexes documents with a system, by these fields: ``System.index``, or the same on other machines."""


class LanguageSystems(dict[str, System]):
    """From each language of the queries to the system for it; they index the same documents."""

    @property
    def joins(self) -> bool:
        """Whether all can search several parts as one collection."""
        return all(system.joins for system in self.values())

    def __copy__(self) -> LanguageSystems:
        """Copies that can index other documents."""
        return LanguageSystems({language: copy(system) for language, system in self.items()})

    def index(self, documents: Collection, fields: tuple[str, ...], encode: Encode | None = None) -> None:
        """Index these documents with each system."""
        for system in self.values():
            if encode is None:
                system.index(documents, fields)
            else:
                encode(system, documents, fields)

    def count_only(self, live: Allowed) -> None:
        """See :meth:`isogloss.systems.base.System.count_only`."""
        for system in self.values():
            system.count_only(live)

    def save_shared(self, directory: Path) -> None:
        """Write the model of each system."""
        with packed(directory):
            for language, system in self.items():
                (directory / language).mkdir()
                system.save_shared(directory / language)

    def load_shared(self, directory: Path) -> Self:
        """Read what ``save_shared`` wrote."""
        for language, system in self.items():
            system.load_shared(directory / language)
        return self

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        """Write what each system made of the documents."""
        for language, system in self.items():
            (directory / language).mkdir()
            system.save_part(directory / language, keep)

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        """Map what ``save_part`` wrote, one part after the other."""
        for language, system in self.items():
            system.load_parts([directory / language for directory in directories], id_order)
        return self


def system_for(name: str, options: Mapping[str, Any], pair: Pair) -> tuple[str, dict[str, str]]:
    """The name and the settings of the system for a pair of languages in an index that was made with a system.

    Queries in the language of the documents need no translation: instead of a system that translates, ``bm25``
    searches for them, with those of the options that it has too. Stop words are left out: systems that translate
    weigh them down, and a document that has only those in common with a query would come before translated ones.
    """
    settings = as_settings(options)
    if pair[0] != pair[1] or not needs_two_languages(name):
        return name, settings
    given, known = asdict(parse_options(name, system_type(name).options_type, settings)), option_names(ONE_LANGUAGE)
    return ONE_LANGUAGE, as_settings({key: given[key] for key in given if key in known} | {"drop_stop_words": True})


def bare_systems(
    name: str, options: Mapping[str, Any], query_languages: Sequence[str], language: str
) -> LanguageSystems:
    """The systems of an index for one of its languages, without models and documents."""
    pairs = [(query_language, language) for query_language in query_languages]
    return LanguageSystems({pair[0]: _bare_system(name, options, pair) for pair in pairs})


def _bare_system(name: str, options: Mapping[str, Any], pair: Pair) -> System:
    chosen, settings = system_for(name, options, pair)
    return make_system(chosen, pair, settings)
