"""Many texts to rows of a vocabulary: the tokens of ``tokenize`` without making a string of each (extra ``fast``).

Blocks of texts are scanned by compiled code on all cores; ``segmentation.py`` resolves what the scan leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from isogloss.storage.compiled import compiled
from isogloss.storage.progress import track
from isogloss.text.batches import available_cores
from isogloss.text.compiled.code_points import code_points
from isogloss.text.compiled.segmentation import BLOCK_CHARACTERS, Ids, ScannedBlock, resolve, scan_texts
from isogloss.text.compiled.word_table import Positions, find_words, make_word_table
from isogloss.text.ids import running_sum, split_chunks

_BATCH_CHARACTERS = 8_000_000  # scanned, resolved and gathered together; bounds the memory


class FastTokens:
    """Texts to the rows of known words.

    >>> tokens = FastTokens(["the", "été", "属性"])
    >>> [array.tolist() for array in tokens.ids(["THE The unknown", "", "l'Été: CSS属性", "属性 the"])]
    [[0, 0, 1, 2, 2, 0], [0, 2, 2, 4, 6]]
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._table = make_word_table(words)
        self._longest_word = self._table.longest
        self._points = code_points()

    def ids(self, texts: Sequence[str], maximum_words: int = 0, label: str = "tokenising") -> tuple[Ids, Positions]:
        """The rows of the known words, and where those of each text begin.

        With ``maximum_words`` above 0 only the first so many tokens of a text count, known or not.
        """
        batches = list(self.batches(texts, maximum_words, label))
        ids = np.concatenate([np.zeros(0, np.int32), *(ids for ids, _ in batches)])
        return ids, running_sum(np.diff(offsets) for _, offsets in batches)

    def batches(
        self, texts: Sequence[str], maximum_words: int = 0, label: str = "tokenising"
    ) -> Iterator[tuple[Ids, Positions]]:
        """The same for one batch of the texts after another."""
        batches = list(split_chunks(texts, _BATCH_CHARACTERS))
        for batch in track(batches, label, len(texts), sizes=map(len, batches)):
            yield self._batch(batch, maximum_words)

    def _batch(self, texts: Sequence[str], limit: int) -> tuple[Ids, Positions]:
        blocks = split_chunks(texts, BLOCK_CHARACTERS)
        with ThreadPoolExecutor(available_cores()) as threads:
            scan = lambda block: scan_texts(block, self._points, self._table, self._longest_word, limit)  # noqa: E731
            words, scanned = resolve(list(threads.map(scan, blocks)), self._points)
            word_ids = find_words(self._table, words.characters, words.begins, words.ends)
            gathered = list(threads.map(lambda block: _gathered(block, word_ids, words.starts, limit), scanned))
        return np.concatenate([ids for ids, _ in gathered]), running_sum(lengths for _, lengths in gathered)


def _gathered(block: ScannedBlock, word_ids: Ids, starts: Positions, limit: int) -> tuple[Ids, Positions]:
    """The known words of a block, and how many each text has."""
    room = len(block.ids) + int((starts[block.segments + 1] - starts[block.segments]).sum())
    ids, ends = np.empty(room, dtype=np.int32), np.empty(len(block.ends), dtype=np.int64)
    count = _gather(block.ids, block.ends, block.segments, word_ids, starts, limit, ids, ends)
    return ids[:count], np.diff(ends, prepend=0)


@compiled
def _gather(
    ids: Ids,
    ends: Positions,
    segments: Ids,
    word_ids: Ids,
    word_starts: Positions,
    limit: int,
    gathered: Ids,
    gathered_ends: Positions,
) -> int:
    """Replace segments by their words, cut each text after ``limit`` tokens (0: never), drop unknown words.

    ``word_ids[word_starts[n]:word_starts[n + 1]]`` are the words of segment ``n``.
    """
    count, i = 0, 0
    for text in range(len(ends)):
        tokens = 0
        while i < ends[text]:
            if ids[i] >= -1:
                begin, end, source = i, i + 1, ids
            else:
                number = segments[-2 - ids[i]]
                begin, end, source = word_starts[number], word_starts[number + 1], word_ids
            if limit:
                end = min(end, begin + limit - tokens)
            for k in range(begin, end):
                gathered[count] = source[k]
                count += source[k] >= 0
            tokens += end - begin
            i = ends[text] if limit and tokens >= limit else i + 1
        gathered_ends[text] = count
    return count
