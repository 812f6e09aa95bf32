"""A trial of the layer-wise paper, named by what differs from the defaults of its system, and the data of trials.

The data are a pair with its candidate lists, and the arrays that networks train on.

*Lists.* What is ranked are the lists that the data bring, or BM25's best. The paper samples 500 questions, has BM25
search with them in the language of the collection and keeps the top 20; the questions are then translated. Here a query
that stands in both languages (under one id) is searched with in the documents' language; where no such queries exist,
translated word by word (``psq``). The validation lists, by which epochs and alphas are chosen, are of other queries of
the same split. Where all of its queries are measured, the choice is made on the very lists that are measured, and the
pages say so.

*Packs.* Packed, the arrays are ``PAIR.json`` (hashes), ``PAIR_READING.npz`` and ``PAIR_READING.lists.npz`` in a folder:
enough for a machine with torch and numpy alone. As a source the folder is called ``packed:FOLDER``.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.data.source import Pair, Source
from isogloss.evaluation.measures import PerQuery
from isogloss.evaluation.protocols import draw_candidates, judged_queries
from isogloss.papers.examples import RankedLists, measure_scores
from isogloss.papers.layerwise.experiments.published import MEASURES
from isogloss.papers.layerwise.matchers.matcher import Matcher
from isogloss.papers.layerwise.matchers.ranking_data import RankingData, listed_examples, read_lists
from isogloss.papers.layerwise.system import LayerwiseOptions
from isogloss.papers.reproduction.running import PACKED
from isogloss.papers.reproduction.trials import PaperTrial, dataset_fingerprint, file_name
from isogloss.storage.arrays import save_packed
from isogloss.storage.errors import InputError
from isogloss.storage.files import atomic_file
from isogloss.storage.lines import Location
from isogloss.systems.base import System
from isogloss.systems.lexicons import INDUCED
from isogloss.systems.registry import make_system, parse_options, system_type
from isogloss.text.ids import TextIds

_TRANSLATING = ("translator", "lexicon", "missing", "trained_on", "translated_pairs")
_NO_SETTINGS = ("seed", "device")
MEASURED, VALIDATION = "measured", "dev"
"""The splits of the lists; systems stop early and are chosen by ``dev``."""
_SHUFFLES = 200
_LIST_ARRAYS = ("query_of", "document_of", "grades", "ties")


@dataclass(frozen=True)
class Drawing:
    """How candidate lists are drawn: the split, how many queries to measure and to validate on, documents a list."""

    split: str = "dev"
    queries: int = 500
    validation: int = 500
    depth: int = 20


@dataclass(frozen=True)
class Trial(PaperTrial):
    """``settings``: options of the system as the user writes them, without its seed."""

    data: str
    pair: Pair
    system: str
    settings: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    drawing: Drawing = field(default_factory=Drawing)
    revision = 2  # of layerwise the mean stands beside the last layer

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", _without_defaults(self.system, self.settings))
        if isinstance(self.drawing, Mapping):  # as a plan has it
            object.__setattr__(self, "drawing", Drawing(**self.drawing))

    @property
    def name(self) -> str:
        """The name of its files.

        >>> Trial("demo", ("en", "zh"), "layerwise", {"variant": "adv-non"}, 2).name
        'en-zh_layerwise_beta-0_seed-2'
        """
        defaults = asdict(Drawing())
        parts = [f"{key}-{value}" for key, value in self.settings.items()]
        parts += [f"{key}-{value}" for key, value in asdict(self.drawing).items() if value != defaults[key]]
        return file_name(["-".join(self.pair), self.system, *parts, f"seed-{self.seed}"])

    @property
    def trains_on_arrays(self) -> bool:
        """Whether it can be run on a machine that has torch and numpy alone."""
        return issubclass(system_type(self.system), Matcher)

    def make(self, source: Source | None = None, device: str = "auto") -> System:
        """The system. Without a lexicon of the user's or of the data it is induced from the train split."""
        known = {each.name for each in fields(system_type(self.system).options_type)}
        settings = dict(self.settings)
        if "lexicon" in known and not (source and source.lexicon(self.pair)):
            settings.setdefault("lexicon", INDUCED)
        wanted = {"seed": str(self.seed), "device": device}
        settings |= {name: value for name, value in wanted.items() if name in known}
        return make_system(self.system, self.pair, settings, source)

    def reading(self) -> str:
        """A hash of how it reads the data: trials that read alike share the arrays."""
        system = self.make(device="cpu")
        assert isinstance(system, Matcher)
        found = asdict(system.reading)
        found |= {name: value for name in _TRANSLATING if (value := getattr(system.options, name, ""))}
        return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


def has_seeds(system: str) -> bool:
    """Whether the training of a system depends on a seed."""
    return any(each.name == "seed" for each in fields(system_type(system).options_type))


def _without_defaults(system: str, settings: Mapping[str, str]) -> dict[str, str]:
    """What differs from the defaults, in the order of the options; a variant of ``layerwise`` is written out."""
    defaults = system_type(system).options_type()
    options = parse_options(system, type(defaults), settings)
    if isinstance(options, LayerwiseOptions):
        options.check(system)
        options = _written_out(options)
    unset = asdict(defaults)
    return {
        key: f"{value:g}" if isinstance(value, float) else str(value)
        for key, value in asdict(options).items()
        if value != unset[key] and key not in _NO_SETTINGS
    }


def _written_out(options: LayerwiseOptions) -> LayerwiseOptions:
    """The canonical form: no variant; no alphas where all are 1 or beta is 0; no map of no layer."""
    made = options.with_variant()
    if made.layers == 1:
        made = replace(made, features="max")  # critics see the map of the layers below the last
    alphas = made.all_alphas()
    plain = not made.beta or all(alpha == 1 for alpha in alphas)
    return replace(made, alphas="" if plain else ",".join(f"{alpha:g}" for alpha in alphas))


def source_with_lists(source: Source, lists: Mapping[str, Judgments]) -> Source:
    """A copy of the source with other candidate lists."""

    def candidates(pair: Pair, split: str, problems: Problems) -> Iterator[tuple[Location, Judgment]] | None:
        if split not in lists:
            return source.candidates(pair, split, problems)
        return ((Location(Path(f"{split} lists")), judgment) for judgment in lists[split])

    made = copy(source)
    made.candidates = candidates  # type: ignore[method-assign]
    return made


def with_lists(dataset: Dataset, drawing: Drawing) -> Dataset:
    """The dataset with the splits ``train``, ``measured`` and ``dev`` (the other queries, for validation)."""
    listed = dataset.source.candidates(dataset.pair, drawing.split, Problems(stop_at_errors=False)) is not None
    own = dataset.candidates(drawing.split) if listed else None
    judged = sorted(query.id for query in judged_queries(dataset, drawing.split, dataset.judgments))
    drawn = [judged[i] for i in np.random.default_rng(0).permutation(len(judged))]
    if own is not None:
        measured = [query.id for query in dataset.split(drawing.split) if query.id in own]
        others = [query for query in drawn if query not in own][: drawing.validation]
    else:
        number = min(drawing.queries, max(len(judged) - drawing.validation, len(judged) // 2, 1))
        measured, others = drawn[:number], drawn[number:][: drawing.validation]
    lists = {MEASURED: own if own is not None else _drawn(dataset, measured, drawing.depth)}
    lists[VALIDATION] = _drawn(dataset, others, drawing.depth) if others else lists[MEASURED]
    splits = {
        "train": dataset.splits.get("train", []),
        **{name: [query for query in dataset.queries if query in found] for name, found in lists.items()},
    }
    return replace(dataset, source=source_with_lists(dataset.source, lists), splits=splits)


def lists_hash(dataset: Dataset) -> str:
    """The same for two pairs whose queries (by their ids) have the same lists to be measured."""
    lists = sorted(dataset.candidates(MEASURED))
    return hashlib.sha256(json.dumps(lists).encode()).hexdigest()[:32]


def limits(dataset: Dataset) -> dict[str, dict[str, PerQuery]]:
    """The best that the lists allow, and what their documents in random order get, query by query."""
    examples, top = listed_examples(dataset, MEASURED)
    ties, rng = np.zeros(len(examples.grades), np.int32), np.random.default_rng(0)

    def measured(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> dict[str, PerQuery]:
        return measure_scores(examples.query_of, examples.grades, scores, ties, top, MEASURES)

    shuffled = [measured(rng.random(len(ties))) for _ in range(_SHUFFLES)]
    return {
        "best possible order": measured(examples.grades.astype(np.float64)),
        "random order": {name: np.asarray(np.mean([each[name] for each in shuffled], axis=0)) for name in MEASURES},
    }


class Arrays(NamedTuple):
    """The training data with the validation lists, and the lists that are measured."""

    data: RankingData
    measured: RankedLists


class TrialData:
    """A pair as its source has it, with its lists."""

    def __init__(self, source: str, pair: Pair, drawing: Drawing, skip_bad: bool = False) -> None:
        self._source, self._pair, self._drawing, self._skip_bad = source, pair, drawing, skip_bad
        self._arrays: dict[str, Arrays] = {}

    @cached_property
    def dataset(self) -> Dataset:
        """The pair, read and checked, with its lists."""
        found = load_dataset(open_source(self._source), self._pair, problems=Problems(not self._skip_bad))
        return self.with_lists(found)

    def with_lists(self, dataset: Dataset) -> Dataset:
        """With the splits ``train``, ``measured`` and ``dev``, and the lists of both."""
        return with_lists(dataset, self._drawing)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content, the lists among it."""
        lists = (sorted(self.dataset.candidates(name)) for name in (MEASURED, VALIDATION))
        return dataset_fingerprint(self.dataset, *lists)

    @cached_property
    def lists(self) -> str:
        """A hash of the measured lists."""
        return lists_hash(self.dataset)

    def arrays(self, trial: Trial) -> Arrays:
        """What a trial trains on, kept for those that read alike."""
        key = trial.reading()
        if key not in self._arrays:
            self._arrays[key] = self.read_arrays(trial, key)
        return self._arrays[key]

    def read_arrays(self, trial: Trial, key: str) -> Arrays:
        """Read them; ``key`` is the hash of the trial's way of reading."""
        system = trial.make(self.dataset.source, "cpu")
        assert isinstance(system, Matcher)
        data = system.read(self.dataset)
        everything = replace(system.reading, dev_queries=0)
        measured = read_lists(self.dataset, MEASURED, data.words["query"], everything, system.query_texts)
        assert measured is not None
        return Arrays(data, measured)


class PackedData(TrialData):
    """The pair as a pack has it."""

    def __init__(self, folder: Path, pair: Pair) -> None:
        super().__init__(f"{PACKED}{folder}", pair, Drawing())
        self._folder = folder
        path = folder / f"{'-'.join(pair)}.json"
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            self.fingerprint, self.lists = str(about["fingerprint"]), str(about["lists"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is not the pack of a pair ({error}); write it with --pack") from error

    @cached_property
    def dataset(self) -> Dataset:
        raise InputError(f"{self._folder}: a pack has arrays, no texts; run this trial where the data are")

    def read_arrays(self, trial: Trial, key: str) -> Arrays:
        path = _path(self._folder, self._pair, key)
        return Arrays(RankingData.load(path), _load_lists(path.with_suffix(".lists.npz")))


def write_pack(data: TrialData, pair: Pair, trials: Iterable[Trial], folder: Path, eight_bits: bool = False) -> None:
    """Write what the trials of a pair need, once for those that read alike.

    Nearly all of it are word vectors; in eight bits they take a quarter, and trainings start a little elsewhere.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / f"{'-'.join(pair)}.json", overwrite=True) as file:
        file.write(json.dumps({"fingerprint": data.fingerprint, "lists": data.lists}) + "\n")
    for key, trial in {trial.reading(): trial for trial in trials}.items():
        path, arrays = _path(folder, pair, key), data.arrays(trial)
        arrays.data.save(path, eight_bits)
        lists = arrays.measured
        listed = {name: getattr(lists, name) for name in _LIST_ARRAYS}
        listed |= {"ids": lists.queries.ids, "offsets": lists.queries.offsets, "top": np.asarray(lists.top)}
        save_packed(path.with_suffix(".lists.npz"), listed)


def _drawn(dataset: Dataset, queries: Sequence[str], depth: int) -> Judgments:
    pair, same_language = dataset.pair, _in_language(dataset, queries)
    if same_language:
        system = make_system("bm25", (pair[1], pair[1]))
    else:
        lexicon = {} if dataset.source.lexicon(pair) else {"lexicon": INDUCED}
        system = make_system("psq", pair, lexicon, dataset.source)
    system.fit(dataset)
    system.index(dataset.documents, ("text",))
    part = replace(dataset, queries=dict(same_language or dataset.queries), splits={MEASURED: sorted(queries)})
    return draw_candidates(system, part, MEASURED, len(queries), depth)


def _in_language(dataset: Dataset, queries: Sequence[str]) -> dict[str, Query] | None:
    """All queries in the documents' language, where the wanted ones are among them."""
    if dataset.pair[0] == dataset.pair[1]:
        return dataset.queries
    try:
        found = {query.id: query for _, query in dataset.source.queries(dataset.pair[1], dataset.problems)}
    except InputError:
        return None
    return found if all(query in found for query in queries) else None


def _path(folder: Path, pair: Pair, key: str) -> Path:
    return folder / f"{'-'.join(pair)}_{key}.npz"


def _load_lists(path: Path) -> RankedLists:
    try:
        with np.load(path, allow_pickle=False) as found:
            listed = {name: found[name] for name in _LIST_ARRAYS}
            return RankedLists(TextIds(found["ids"], found["offsets"]), **listed, top=int(found["top"]))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: is not what --pack wrote ({error}); write it again") from error
