"""Stems of Korean words: particles and verb endings are cut off, then the first syllables are kept.

Between two spaces Korean writes a word together with its particles (파일을, 파일에서: the file, in the file) or with
the verb it is part of (설정하려면, 설정됩니다: to set, is set). The longest known suffix is cut off, all of them in a
file beside this one. The first two syllables of what is left stand for the word: most roots of Chinese origin have two,
and so compounds written as one word (설정파일) share a term with their first part. Longer ones, mostly loanwords
(인터페이스), keep four.
"""

from __future__ import annotations

import re
from importlib import resources


def _suffixes() -> set[str]:
    groups: dict[str, list[str]] = {}
    for line in resources.files("isogloss.text").joinpath("korean_suffixes.txt").read_text("utf-8").splitlines():
        name, *suffixes = line.split()
        groups.setdefault(name, []).extend(suffixes)
    makers = groups["verb-maker"]
    verbs = (maker + ending for maker in makers for ending in groups["verb-maker-ending"])
    return {*groups["particle"], *groups["ending"], *makers, *verbs}


_SUFFIXES = _suffixes()
_LONGEST = max(map(len, _SUFFIXES))
_AFTER_ONE_SYLLABLE = {
    "을",
    "를",
    "은",
    "는",
    "에",
    "에서",
    "에는",
    "에도",
    "에서는",
    "으로",
}  # 추가 ends in no particle
_HANGUL = re.compile("[가-힣]+")


def korean_stem(word: str) -> str:
    """The stem of a normalised word; numbers and words of other scripts lose only their particles.

    >>> [korean_stem(word) for word in ("파일에서", "설정하려면", "설정파일", "인터페이스를", "값을", "css를", "html")]
    ['파일', '설정', '설정', '인터페이', '값', 'css', 'html']
    """
    hangul = _HANGUL.fullmatch(word) is not None
    for length in range(min(_LONGEST, len(word) - 1), 0, -1):
        rest = len(word) - length
        if word[-length:] in (_AFTER_ONE_SYLLABLE if hangul and rest == 1 else _SUFFIXES):
            word = word[:rest]
            break
    return word[: 2 if len(word) < 5 else 4] if hangul else word
