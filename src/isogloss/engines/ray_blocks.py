"""Documents cut into numbered blocks, always the same ones of the same documents: what is encoded and kept at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

QUICK, SLOW = 4_096, 256
"""Documents in a block: so many that Ray's own work does not count, and so few that a block is no great loss."""
_CHARACTERS = 4_000_000  # in a block, of long documents


class Block(NamedTuple):
    """Some texts, one after the other, and which of the blocks they are."""

    number: int
    texts: list[str]

    def digest(self, encoder: str) -> str:
        """Tells what an encoder makes of these texts from anything else."""
        made = blake2b(encoder.encode(), digest_size=12)
        for text in self.texts:
            content = text.encode("utf-8", "surrogatepass")
            made.update(len(content).to_bytes(8, "little"))
            made.update(content)
        return made.hexdigest()


def cut(texts: Iterable[str], documents: int = QUICK, characters: int = _CHARACTERS) -> Iterator[Block]:
    """Blocks of so many texts, or of fewer where they are long; nothing is read before it is wanted.

    >>> [block.texts for block in cut("abcde", documents=2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    number, gathered, size = 0, list[str](), 0
    for text in texts:
        gathered.append(text)
        size += len(text)
        if len(gathered) == documents or size >= characters:
            yield Block(number, gathered)
            number, gathered, size = number + 1, [], 0
    if gathered:
        yield Block(number, gathered)
