"""The gloss of a hit: its title and snippet in the reader's language, and the page that is its translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isogloss.translation.glossing import Piece, gloss_text


@dataclass(frozen=True)
class MachineTranslation:
    """Title and snippet as a machine translator gives them, and which one did."""

    title: str
    snippet: str
    by: str


@dataclass(frozen=True)
class Gloss:
    """Title and snippet of a hit word for word in the reader's ``language``; with a translator, a translation too."""

    language: str
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]
    translation: MachineTranslation | None = None

    @property
    def title_text(self) -> str:
        """What to show for the title."""
        return self.translation.title if self.translation else gloss_text(self.title)

    @property
    def snippet_text(self) -> str:
        """What to show for the snippet."""
        return self.translation.snippet if self.translation else gloss_text(self.snippet)

    @property
    def by(self) -> str:
        """What made it, for the reader."""
        return f"translated by {self.translation.by}" if self.translation else "word for word"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        translation = self.translation
        return {
            "language": self.language,
            "title": piece_objects(self.title),
            "snippet": piece_objects(self.snippet),
            "translation": translation and {
                "title": translation.title, "snippet": translation.snippet, "by": translation.by,
            },
        }  # fmt: skip


@dataclass(frozen=True)
class Twin:
    """The page that is the translation of a document into the reader's language."""

    language: str
    id: str
    title: str
    url: str = ""

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return {"language": self.language, "id": self.id, "title": self.title, "url": self.url}


def piece_objects(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    """Pieces as plain values, without what has its default."""
    return [
        {
            "text": piece.text,
            **({"gloss": piece.gloss} if piece.gloss is not None else {}),
            **({"unknown": True} if piece.unknown else {}),
            **({"match": True} if piece.match else {}),
            **({"met": piece.met} if piece.met else {}),
            **({"meanings": [meaning._asdict() for meaning in piece.meanings]} if piece.meanings else {}),
        }
        for piece in pieces
    ]
