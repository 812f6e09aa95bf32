"""How fast the house tokeniser is, beside others, one core; and what two cores add.

python benchmarks/tokenizers.py                                             the bundled collection
python benchmarks/tokenizers.py wikiclir:DIR fr wikiclir:DIR zh             other texts
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial

from side_by_side import best_times, show, texts_of

from isogloss.text.batches import available_cores, tokenize_texts
from isogloss.text.tokenizer import tokenize

COUNT = 4000


def main(arguments: list[str]) -> None:
    pairs = list(zip(arguments[::2], arguments[1::2], strict=True)) or [("demo", "fr"), ("demo", "zh")]
    for source, language in pairs:
        texts = texts_of(source, language, COUNT)
        ways = {"isogloss tokenize": partial(_each, tokenize, texts)}
        ways["Python re \\w+ (cannot segment Chinese)"] = partial(_each, re.compile(r"\w+").findall, texts)
        ways |= {name: partial(_each, way, texts) for name, way in _peers(language).items()}
        ways["isogloss tokenize_texts to ids, 1 process"] = partial(tokenize_texts, texts, processes=1)
        cores = available_cores()
        ways[f"isogloss tokenize_texts to ids, {cores} processes"] = partial(tokenize_texts, texts, processes=cores)
        characters = sum(map(len, texts))
        title = f"{source} {language}: {COUNT:,} texts, {characters / COUNT:.0f} characters each"
        show(title, best_times(ways), COUNT, "texts", "isogloss tokenize")


def _each(way: Callable[[str], object], texts: list[str]) -> None:
    for text in texts:
        way(text)


def _peers(language: str) -> dict[str, Callable[[str], object]]:
    from icu4py.breakers import WordBreaker

    peers: dict[str, Callable[[str], object]] = {
        "ICU word breaks alone": lambda text: [piece for piece in WordBreaker(text.casefold(), "en") if piece.isalnum()]
    }
    if language == "zh":
        try:
            import rjieba
        except ModuleNotFoundError:
            print("rjieba is not installed (extra bench): left out")
        else:
            peers["rjieba"] = rjieba.cut
    return peers


if __name__ == "__main__":
    main(sys.argv[1:])
