"""The languages of many texts together, by py3langid: the clear ones settle those that are short or doubtful.

For each text d alone there are probabilities P(L | d) over the languages with two letters (ISO 639-1). A text is
*clear* where one of them has at least .8, and *beyond doubt* from .99 on. A language is accepted if one in 500 texts is
clearly in it, or one text is beyond doubt: thousands of short texts do not get a language of their own because one of
them looks like Latin. A text that is clearly in an accepted language has that language. Every other one has the
language with the highest

    P(L | d) (n(L, f) + n(L) / N)

where n(L, f) is the number of clear texts in L in the same folder, n(L) in all folders, and N in all languages. For a
language that is not accepted, or whose clear texts have the letters of another script, next to nothing stands in the
place of these counts; or 1/20, if P(L | d) is at least .5 and there are at most 500 texts.

Of a long text its beginning and its middle are read, without code.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.storage.wording import way

Shares = NDArray[np.float32]
CLEAR, BEYOND_DOUBT = 0.8, 0.99
_SHARE = 1 / 500  # clear texts of a language that is accepted
_RATHER, _UNEXPECTED = 0.5, 1 / 20  # a text is rather in a language than not; how likely one is that no clear text has
_READ = 1000  # characters of a text that are read
_SAMPLES = 8  # of a text, by which it is seen whether it has several languages
_CHUNK = 500  # characters of a sample
_SHORTEST_PART, _SHORTEST_RUN = 1500, 300  # bytes of a language, and of neighbouring paragraphs in it
_CODE = re.compile(r"^```$.*?(?:^```$|\Z)", re.DOTALL | re.MULTILINE)
_SEEN = 100  # letters of a text, and texts of a language, by which its script is seen
_TOGETHER = 200  # texts that are read as one, where none is clear alone
_LIKELY = 0.2
_LITTLE = 1e-9


class Clue(NamedTuple):
    """A text, the folder that it is in, and the language that its name says, where it says one."""

    text: str
    folder: str = ""
    named: str = ""


def detectable_languages() -> tuple[str, ...]:
    """The codes of the languages that can be detected."""
    return _model()[1]


def detect_languages(
    clues: Sequence[Clue], known: Mapping[str, int] | None = None,
    nearby: Mapping[str, Mapping[str, int]] | None = None,
) -> list[str]:  # fmt: skip
    """The language of each text. ``known``: so many texts elsewhere are in these languages, which are accepted too.

    A language that a name says holds, unless the text is beyond doubt in another. ``nearby``: of the texts elsewhere,
    those in the same folders, for each folder.

    >>> german, french = "Der Bäcker backt das Brot am frühen Morgen.", "Le boulanger prépare le pain chaque matin."
    >>> detect_languages([Clue(german, "a"), Clue(french, "b"), Clue("Radio", "a"), Clue("Radio", "b")])
    ['de', 'fr', 'de', 'fr']
    """
    if not clues:
        return []
    known = dict(known or {})
    detectable = detectable_languages()
    codes = [*detectable, *(code for code in known if code not in detectable)]
    shares = np.zeros((len(clues), len(codes)), np.float32)
    for row, clue in enumerate(track(clues, "detecting languages")):
        shares[row, : len(detectable)] = language_shares(sample(clue.text))
        if clue.named in codes and (shares[row].max() < BEYOND_DOUBT or codes[int(shares[row].argmax())] == clue.named):
            shares[row] = np.eye(len(codes), dtype=np.float32)[codes.index(clue.named)]
    best, chance = shares.argmax(axis=1), shares.max(axis=1, initial=0)
    clear = chance >= CLEAR
    counts = np.bincount(best[clear], minlength=len(codes))
    sure = np.bincount(best[chance >= BEYOND_DOUBT], minlength=len(codes)) > 0
    elsewhere = np.asarray([known.get(code, 0) for code in codes])
    enough = max(1, _SHARE * (len(clues) + elsewhere.sum()))
    accepted = (counts >= enough) | sure | (elsewhere > 0)
    if not accepted.any():
        of_all = codes.index(_language_of_all(clues))
        accepted[of_all], counts[of_all] = True, 1
    names, folders = np.unique([clue.folder for clue in clues], return_inverse=True)
    neighbours = np.zeros((len(names), len(codes)))
    np.add.at(neighbours, (folders[clear], best[clear]), 1)
    for number, folder in enumerate(names.tolist()):
        for code, count in (nearby or {}).get(folder, {}).items():
            neighbours[number, codes.index(code)] += count
    overall = (counts + elsewhere) / max(1, int((counts + elsewhere).sum()))
    clearly = np.where(clear, best, -1)
    scripts = cache(lambda language: {_script(clues[row].text) for row in np.flatnonzero(clearly == language)[:_SEEN]})
    for row in np.flatnonzero(~(clear & accepted[best])).tolist():
        script = _script(clues[row].text)
        likely = accepted.copy()
        if script not in ("", "LATIN"):  # Latin letters are of names and commands in every language
            likely &= [not scripts(language) or script in scripts(language) for language in range(len(codes))]
        other = np.where((shares[row] >= _RATHER) & (enough == 1), _UNEXPECTED, _LITTLE**2)
        prior = np.where(likely, neighbours[folders[row]] + overall + _LITTLE, other)
        best[row] = int(((shares[row] + _LITTLE) * prior).argmax())
    return [codes[language] for language in best.tolist()]


def language_shares(text: str) -> Shares:
    """P(L | d) for each of the detectable languages; all alike for a text without letters."""
    identifier, codes = _model()
    ranked = dict(identifier.rank(text))
    shares = np.asarray([ranked[code] for code in codes], np.float32)
    total = float(shares.sum())
    return shares / total if total > _LITTLE else np.full(len(codes), 1 / len(codes), np.float32)


def language_parts(text: str) -> dict[str, str]:
    """The paragraphs of a text in each of its languages, where it has much in several; none where it has not.

    A paragraph whose language is not beyond doubt, and code, belong to the language before them. So do a few
    paragraphs between others. The language with the most text comes first.
    """
    if len(text) < _SHORTEST_PART or len(_clear_languages(_windows(_CODE.sub("", text)))) < 2:
        return {}
    runs: list[tuple[str, list[str]]] = []
    for paragraph in _paragraphs(text):
        is_code = paragraph.startswith("```")
        language = "" if is_code else next(iter(_clear_languages([paragraph])), "")
        if not runs or (language and language != runs[-1][0]):
            runs.append((language, []))
        runs[-1][1].append(paragraph)
    sizes: Counter[str] = Counter()
    for language, run in runs:
        sizes[language] += _size(run) if _size(run) >= _SHORTEST_RUN else 0
    kept = {language for language, size in sizes.items() if language and size >= _SHORTEST_PART}
    if len(kept) < 2:
        return {}
    parts: dict[str, list[str]] = {}
    current = next(language for language, _ in runs if language in kept)
    for language, run in runs:
        if language in kept and _size(run) >= _SHORTEST_RUN:
            current = language
        parts.setdefault(current, []).extend(run)
    joined = {language: "\n\n".join(paragraphs) for language, paragraphs in parts.items()}
    return dict(sorted(joined.items(), key=lambda part: -len(part[1])))


def _windows(text: str) -> list[str]:
    step = len(text) // _SAMPLES + 1  # of a text of nothing but code, nothing is left
    return [text[begin : begin + _CHUNK] for begin in range(0, len(text), step)]


def _paragraphs(text: str) -> list[str]:
    """What blank lines part; code is one paragraph, whatever is in it."""
    found: list[list[str]] = []
    in_code = False
    for part in text.split("\n\n"):
        if in_code:
            found[-1].append(part)
        else:
            found.append([part])
        in_code = (in_code or part.startswith("```\n")) and not part.endswith("\n```")
    return ["\n\n".join(parts) for parts in found]


def _size(paragraphs: Sequence[str]) -> int:
    """Bytes in UTF-8: a Chinese character says as much as three letters."""
    return sum(len(paragraph.encode("utf-8", "replace")) for paragraph in paragraphs)


def _clear_languages(texts: Sequence[str]) -> Counter[str]:
    """The languages that some of the texts are beyond doubt in."""
    found: Counter[str] = Counter()
    for text in texts:
        shares = language_shares(text)
        if shares.max() >= BEYOND_DOUBT:
            found[detectable_languages()[int(shares.argmax())]] += 1
    return found


def sample(text: str) -> str:
    """What is read of a text: all of a short one, the beginning and the middle of a long one, without code."""
    if "```" in text:
        text = _CODE.sub("", text) or text
    if len(text) <= _READ:
        return text
    middle = len(text) // 2
    return f"{text[: _READ // 2]} {text[middle : middle + _READ // 2]}"


def _script(text: str) -> str:
    """The script of most letters at the beginning of a text, by their names in Unicode; empty without letters.

    >>> _script("Привет, GIMP"), _script("蜂がハチミツを")
    ('CYRILLIC', 'CJK')
    """
    letters = [letter for letter in text[:_READ] if letter.isalpha()][:_SEEN]
    scripts = Counter(re.split(r"[ -]", unicodedata.name(letter, "?"))[0] for letter in letters)
    for kana in ("HIRAGANA", "KATAKANA"):
        scripts["CJK"] += scripts.pop(kana, 0)
    return scripts.most_common(1)[0][0] if letters else ""


def _language_of_all(clues: Sequence[Clue]) -> str:
    """The language of all texts together, where none is clear alone."""
    step = max(1, len(clues) // _TOGETHER)
    shares = language_shares("\n".join(sample(clue.text) for clue in clues[::step]))
    if shares.max() < _LIKELY:
        what = "cannot be detected, since they are short or of several languages"
        named = way("--language LANG", "language='fr', say")
        raise InputError(f"language: that of the documents {what}; name it: {named}")
    return detectable_languages()[int(shares.argmax())]


@cache
def _model() -> tuple[Any, tuple[str, ...]]:
    """py3langid's model with probabilities, and its languages with two letters."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # its model takes a moment to load: not at start-up

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return identifier, tuple(sorted(code for code in identifier.labels if len(code) == 2))
