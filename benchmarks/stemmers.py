"""Which stems read a language best: English queries against translated messages and verses, one table a run.

    apt-get download gimp-data gnucash-common wesnoth-1.16-data ...    and unpack each into MESSAGES/<package>/
    python benchmarks/stemmers.py --messages MESSAGES --verses BIBLES ko tr fi hu

Texts are translated program messages (``MESSAGES/<package>/**/<language>/LC_MESSAGES/*.mo``) and Bible verses
(``BIBLES/en.gz``, ``BIBLES/<language>.gz``, line by line translations). The programs are in two groups: a translation
model is trained on the messages of one, and the messages of the other are searched; then the other way round. Verses
are split by a hash of the English verse. A query is the first eight words of an English text, its one relevant document
the translation; documents are ranked by forward(q, p) of bridge's first stage, the measure is MRR. p is that of a
paired t-test of the last column against the column of what was used before: Snowball, else words.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from isogloss.evaluation.significance import paired_t_test
from isogloss.systems.bridge.matching import PassageIndex
from isogloss.text.batches import tokenize_texts
from isogloss.text.stemming import snowball, stem
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.model import train_translation_model

TRAIN, DOCUMENTS, QUERIES = 8_000, 3_000, 600
QUERY_WORDS = 8
GROUP = ("gnucash", "wesnoth", "kstars", "evolution", "digikam")  # the other programs are the second group
NAMES = ("words", "Snowball", "isogloss")
MARKUP = re.compile(r"<[^<>]*>|%[-+ #0-9.$]*[a-zA-Z]|\$\w+|\{[^{}]*\}")

Pairs = list[tuple[str, str]]
Stems = Callable[[Sequence[str]], list[str]]


class Texts(NamedTuple):
    """Pairs (English, translation) to train on, and those whose translations are searched."""

    kind: str
    train: Pairs
    test: Pairs


class Terms:
    """A tokeniser with any stems."""

    drop_stop_words = False

    def __init__(self, stems: Stems) -> None:
        self.terms = stems


def hashed(pair: tuple[str, str]) -> str:
    return hashlib.md5(pair[0].encode()).hexdigest()


def read_messages(folder: Path, language: str) -> tuple[Pairs, Pairs]:
    """The messages of the two groups of programs, each English message once."""
    groups: tuple[dict[str, str], dict[str, str]] = {}, {}
    for path in sorted(folder.glob(f"*/**/{language}/LC_MESSAGES/*.mo")):
        with path.open("rb") as file:
            catalogue = vars(gettext.GNUTranslations(file))["_catalog"]
        group = groups[not path.relative_to(folder).parts[0].startswith(GROUP)]
        for key, translation in catalogue.items():
            message = key if isinstance(key, str) else key[0] if key[1] == 0 else ""  # of plurals the singular
            english, foreign = cleaned(message.rpartition("\4")[2]), cleaned(translation)
            if english and english != foreign:
                group.setdefault(english, foreign)
    shared = groups[0].keys() & groups[1].keys()
    return tuple(sorted((p for p in group.items() if p[0] not in shared), key=hashed) for group in groups)  # type: ignore


def cleaned(message: str) -> str:
    """Without markup, places for values and marks of shortcuts."""
    return re.sub(r"[&_](?=\w)", "", MARKUP.sub(" ", message))


def words_of(pair: tuple[str, str]) -> int:
    return len(pair[0].split())


def message_texts(folder: Path, language: str) -> Iterator[Texts]:
    groups = read_messages(folder, language)
    for kind, test, train in (("messages 1", *groups), ("messages 2", *groups[::-1])):
        useful = sorted((pair for pair in train if words_of(pair) >= 3), key=lambda pair: words_of(pair) < 6)
        long = {foreign: (english, foreign) for english, foreign in test if words_of((english, foreign)) >= QUERY_WORDS}
        yield Texts(kind, useful[:TRAIN], list(long.values())[:DOCUMENTS])


def verse_texts(folder: Path, language: str) -> Iterator[Texts]:
    if (folder / f"{language}.gz").exists():
        files = (gzip.decompress((folder / f"{each}.gz").read_bytes()) for each in ("en", language))
        sides = (file.decode("utf-8").split("\n") for file in files)
        pairs = [(english.strip(), foreign.strip()) for english, foreign in zip(*sides, strict=True)]
        known = sorted((pair for pair in pairs if all(pair) and "<range>" not in pair), key=hashed)
        count = min(2_000, len(known) // 3)
        yield Texts("verses", known[count:][:TRAIN], known[:count])


def reciprocal_ranks(texts: Texts, stems: Stems) -> np.ndarray:
    english, foreign = Tokenizer("en", stems=True), cast(Tokenizer, Terms(stems))
    model = train_translation_model(texts.train, None, (english, foreign), ()).model
    index = PassageIndex.build(model, tokenize_texts([text for _, text in texts.test], foreign))
    found = []
    for row, (query, _) in enumerate(texts.test[:QUERIES]):
        words = tokenize(query)[:QUERY_WORDS]
        terms = english.terms(words)
        statistics = model.query_statistics(
            Counter(terms), index.has, dict(zip(terms, foreign.terms(words), strict=True))
        )
        scores = index.forward(statistics)
        better, equal = np.count_nonzero(scores > scores[row]), np.count_nonzero(scores == scores[row])
        found.append(1 / (better + (equal + 1) / 2))
    return np.asarray(found)


def columns(language: str) -> dict[str, Stems]:
    """The stems that are compared; those of isogloss come last."""
    ways: dict[str, Stems] = {"words": list}
    if snowball(language) is not None:
        ways["Snowball"] = lambda words: cast(list[str], snowball(language).stemWords(list(words)))
    ways["isogloss"] = lambda words: stem(words, language)
    return ways


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--messages", type=Path, required=True)
    parser.add_argument("--verses", type=Path, default=Path("none"))
    options = parser.parse_args()
    print("| language | texts | train pairs | documents | queries | words | Snowball | isogloss | p |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for language in options.languages:
        for texts in [*message_texts(options.messages, language), *verse_texts(options.verses, language)]:
            if len(texts.test) < 300:
                continue
            found = {name: reciprocal_ranks(texts, way) for name, way in columns(language).items()}
            before = found.get("Snowball", found["words"])
            p = paired_t_test(found["isogloss"] - before)
            means = [f"{found[name].mean():.3f}" if name in found else "–" for name in NAMES]
            sizes = (f"{size:,}" for size in (len(texts.train), len(texts.test), len(found["words"])))
            print("|", " | ".join([language, texts.kind, *sizes, *means, f"{p:.3f}"]), "|", flush=True)


if __name__ == "__main__":
    main()
