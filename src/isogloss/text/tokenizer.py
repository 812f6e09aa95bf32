r"""The tokeniser of the house: one for every language, used by every lexical and every dense system.

Engine: scripts with spaces go through one regular expression, those without (Chinese, Japanese, Thai, Lao, Khmer,
Burmese) through ICU's dictionaries (icu4py) first. ``benchmarks/tokenizers.py`` measures the choice against ICU
alone, ``\w+`` and others; ``docs/architecture.md`` holds the ratios. Lexical and dense systems see the same tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isogloss.text.characters import UNSPACED, WORD
from isogloss.text.normalization import normalize
from isogloss.text.stemming import stem
from isogloss.text.stopwords import stop_words


def tokenize(text: str) -> list[str]:
    """The words of a text, normalised, in order.

    >>> tokenize("L'été, CSS属性を設定する: हिन्दी!")
    ['l', 'été', 'css', '属性', 'を', '設定', 'する', 'हिन्दी']
    """
    text = normalize(text)
    if not text.isascii() and UNSPACED.search(text):
        text = " ".join(_icu_pieces(text))
    return WORD.findall(text)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Tokens with stop words taken out and stems taken, if wanted; ``language`` says whose stop words and stems.

    >>> Tokenizer("en", stems=True, drop_stop_words=True)("The horses were running")
    ['hors', 'run']
    """

    language: str | None = None
    stems: bool = False
    drop_stop_words: bool = False

    def __call__(self, text: str) -> list[str]:
        """The terms of one text."""
        return self.terms(tokenize(text))

    def terms(self, words: Sequence[str]) -> list[str]:
        """Words (of :func:`tokenize`) to terms: stop words out, then stems."""
        if self.drop_stop_words:
            stops = stop_words(self.language)
            words = [word for word in words if word not in stops]
        return stem(words, self.language) if self.stems else list(words)


def _icu_pieces(text: str) -> Iterable[str]:
    from icu4py.breakers import WordBreaker  # 40 MB of dictionaries: loaded only when such a script is met

    return WordBreaker(text, "en")


def token_spans(text: str) -> list[tuple[int, int, str]]:
    """Where the words of a text stand: start, end and token, for marking words in the text as it was written.

    >>> token_spans("L'Été")
    [(0, 1, 'l'), (2, 5, 'été')]
    """
    if text.isascii() or not UNSPACED.search(text):
        return [(match.start(), match.end(), normalize(match[0])) for match in WORD.finditer(text)]
    spans, position = [], 0
    for piece in _icu_pieces(text):
        spans += [(position + m.start(), position + m.end(), normalize(m[0])) for m in WORD.finditer(piece)]
        position += len(piece)
    return spans
