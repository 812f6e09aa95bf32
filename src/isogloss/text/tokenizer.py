r"""The tokeniser: one for every language, used by every lexical and every dense system.

Scripts with spaces go through one regular expression, those without (Chinese, Japanese, Thai, Lao, Khmer,
Burmese) through ICU's dictionaries (icu4py) first. ``benchmarks/tokenizers.py`` measures the choice against ICU
alone, ``\w+`` and others; ``docs/architecture.md`` has the ratios.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isogloss.text.normalization import ASCII_WORD, CUT, STRAY_CUT, UNSPACED, WORD, normalize, normalize_aligned
from isogloss.text.stemming import stem
from isogloss.text.stopwords import stop_words


def tokenize(text: str) -> list[str]:
    """The words of a text, normalised, in order.

    >>> tokenize("L'été, CSS属性を設定する: हिन्दी!")
    ['l', 'été', 'css', '属性', 'を', '設定', 'する', 'हिन्दी']
    """
    return _words(normalize(text))


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Tokens without stop words and as stems, if wanted, those of ``language``.

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
        """The terms of words (of :func:`tokenize`): without stop words, then as stems."""
        if self.drop_stop_words:
            stops = stop_words(self.language)
            words = [word for word in words if word not in stops]
        return stem(words, self.language) if self.stems else list(words)


def _words(text: str) -> list[str]:
    if text.isascii():
        return ASCII_WORD.findall(text)
    if UNSPACED.search(text):
        # ICU also cuts where scripts with spaces meet (LG전자): a word must not depend on what else is in its text.
        text = STRAY_CUT.sub("", CUT.join(_icu_words(text)))
    return WORD.findall(text)


def _icu_words(text: str) -> Iterable[str]:
    from icu4py.breakers import WordBreaker  # 40 MB of dictionaries: loaded only for such a script

    try:
        return WordBreaker(text, "en")
    except UnicodeEncodeError:  # halves of characters, from "\ud800" in JSON: no part of any word
        return WordBreaker(text.encode("utf-8", "replace").decode("utf-8"), "en")


def token_spans(text: str) -> list[tuple[int, int, str]]:
    """The words of a text with their positions: start, end and token, for marking words in the original text.

    The tokens are those of :func:`tokenize`; the tokens of one character (``½``) share its position.

    >>> token_spans("L'Été")
    [(0, 1, 'l'), (2, 5, 'été')]
    """
    if text.isascii():
        return [(match.start(), match.end(), match[0].lower()) for match in WORD.finditer(text)]
    normalized, starts, ends = normalize_aligned(text)
    spans, position = [], 0
    for token in _words(normalized):
        begin = normalized.index(token, position)  # no letter is between two tokens
        position = begin + len(token)
        spans.append((starts[begin], ends[position - 1], token))
    return spans
