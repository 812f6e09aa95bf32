"""Write the full forms of the stems in the tables of isogloss-starter: what a reader is shown for a stem.

python tools/starter/forms.py --work DIR -o packages/starter/src/isogloss_starter/tables [--bible FOLDER]

DIR is the one of build.py: what is missing there is downloaded. The forms of a language are counted in the texts that
its table is made of; those of English in the English side of some large ones. Languages without stems need none. Forms
that are in the output already are kept, unless --overwrite is given. The same inputs give the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from sources import Pair, bible_pairs, catalogues, cldr_pairs, fetch, message_pairs

from isogloss.storage.progress import track
from isogloss.text.stemming import stemmer_name
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.forms import ENDING, usual_forms, word_counts, write_forms
from isogloss.translation.starter import starter_file, starter_languages
from isogloss.translation.word_tables import read_table

_ENGLISH = "en"
_OF_ENGLISH = ("de", "es", "fr", "pt", "ru")


def main() -> None:
    """Read the arguments and write the forms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="where downloads are kept")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--bible", type=Path, metavar="FOLDER", help="en.gz, fr.gz, …: one verse a line")
    parser.add_argument("--overwrite", action="store_true", help="write forms anew that are there")
    arguments = parser.parse_args()
    fetch(arguments.work)
    found = catalogues(arguments.work)
    stemmed = [language for language in starter_languages(arguments.output) if stemmer_name(language)]
    for language in track([_ENGLISH, *stemmed], "writing forms"):
        path = arguments.output / f"{language}{ENDING}"
        if path.is_file() and not arguments.overwrite:
            continue
        texts = _texts(arguments.work, arguments.bible, found, language)
        forms = usual_forms(word_counts(texts), Tokenizer(language, stems=True))
        terms = _terms(arguments.output, language)
        write_forms(path, {term: form for term, form in forms.items() if term in terms})
        print(language, len(terms), path.stat().st_size, flush=True)


def _texts(work: Path, bible: Path | None, found: dict[str, list[Path]], language: str) -> Iterator[str]:
    if language != _ENGLISH:
        return (pair.other for pair in _pairs(work, bible, found, language))
    every = (pair.english for other in _OF_ENGLISH for pair in _pairs(work, bible, found, other))
    return iter(dict.fromkeys(every))


def _pairs(work: Path, bible: Path | None, found: dict[str, list[Path]], language: str) -> Iterator[Pair]:
    yield from message_pairs(found.get(language, []))
    yield from cldr_pairs(work, language)
    yield from bible_pairs(bible, language)


def _terms(output: Path, language: str) -> set[str]:
    """The terms of a language that stand in a table."""
    if language != _ENGLISH:
        path = starter_file(language, output)
        return set(read_table(path).document_words) if path else set()
    files = (starter_file(other, output) for other in starter_languages(output))
    return {term for path in files if path for term in read_table(path).query_words}


if __name__ == "__main__":
    main()
