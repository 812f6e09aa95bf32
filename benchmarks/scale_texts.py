"""Made-up texts, and models that nobody has trained: what encoding is measured with, where no data are given."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np

from isogloss.data.documents import Document
from isogloss.storage.strings import StringTable
from isogloss.systems.dense import DenseSystem

WORDS, LENGTH = 50_000, 150
TEXT = ("title", "text")

Documents = Callable[[], Iterator[Document]]


def made_up_pages() -> tuple[list[str], list[str]]:
    """Words, and texts in which they are as frequent as in real ones."""
    draw = random.Random(0)
    words = sorted({"".join(draw.choices("abcdefghilmnoprstu", k=draw.randint(3, 11))) for _ in range(WORDS)})
    weights = [1 / (rank + 3) for rank in range(len(words))]
    pages = [" ".join(draw.choices(words, weights, k=draw.randint(LENGTH // 2, 3 * LENGTH // 2))) for _ in range(5_000)]
    return words, pages


def repeated(pages: list[str], count: int) -> Iterator[Document]:
    """So many documents, made of some texts."""
    return (Document(str(row), pages[row % len(pages)]) for row in range(count))


def untrained(encoder: str, words: list[str]) -> DenseSystem:
    """``smooth`` with random tables."""
    from isogloss.papers.smooth.model import SmoothModel, SmoothOptions, tower_sizes
    from isogloss.papers.smooth.system import Smooth

    options = SmoothOptions(encoder=encoder, dimension=64)
    tables = [np.random.default_rng(side).standard_normal((len(words), 64), np.float32) for side in range(2)]
    if encoder == "average":
        parameters = dict(zip(("query_table", "document_table"), tables, strict=True))
    else:
        from isogloss.papers.torch_encoder import named_parameters
        from isogloss.papers.towers import make_encoders

        made = make_encoders(encoder, tables[0], tables[1], tower_sizes(options), False, trained=False)
        parameters = {name: value.detach().numpy() for name, value in named_parameters(*made).items()}
    system = Smooth(options, "en", "fr")
    system.model = SmoothModel(options, dict.fromkeys(("query", "document"), StringTable.of(words)), parameters)
    return system
