"""The one thing a translator does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Translator(ABC):
    """Translates texts of one language into another, many at once."""

    @abstractmethod
    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        """The translation of each text. ``ids`` are the names of the texts, where they have some."""
