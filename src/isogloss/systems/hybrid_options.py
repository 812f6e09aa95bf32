"""The options of ``hybrid``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from isogloss.base.errors import InputError
from isogloss.evaluation.system import SystemOptions
from isogloss.search.fusion import FUSIONS
from isogloss.systems.lexicons import LEXICON_HELP
from isogloss.systems.matcher_options import option

AUTO = "auto"


@dataclass(frozen=True)
class HybridOptions(SystemOptions):
    """Options of ``hybrid``; ``lexicon`` and ``passages`` are those of both parts."""

    dense: str = option("aligned", "the part that compares vectors: a system, or a run of 'isogloss train'")
    lexical: str = option("psq", "the part that matches words: a system")
    dense_options: str = option("", "of that system, like dimension=200;window=10")
    lexical_options: str = option("", "of that system, like k1=0.9;stems=no")
    lexicon: str = option("", LEXICON_HELP)
    fusion: str = option("weighted", f"of the two lists: {' or '.join(FUSIONS)} (reciprocal ranks)")
    weight: str = option(
        AUTO, "of the dense part, 0 to 1; auto: the best for a fifth of the train queries, kept from both parts until "
        "it is found; 0.3 where there are too few, or the dense part is a run, which has seen them all",
    )  # fmt: skip
    depth: int = option(200, "how many documents each part finds, of which the best are taken", 1, 1_000_000)

    def check(self) -> None:
        """Raise for values that no range rules out."""
        if self.fusion not in FUSIONS:
            raise InputError(f"hybrid.fusion: {self.fusion!r} is not one of {', '.join(FUSIONS)}")
        self.given_weight()
        for side in ("dense", "lexical"):
            self.part_settings(side)

    def given_weight(self) -> float | None:
        """The weight of the dense part, or None where it is to be found."""
        if self.weight == AUTO:
            return None
        try:
            weight = float(self.weight)
        except ValueError:
            weight = -1.0
        if not 0 <= weight <= 1:
            raise InputError(f"hybrid.weight: {self.weight!r} is neither auto nor a number from 0 to 1")
        return weight

    def part_settings(self, side: str) -> dict[str, str]:
        """What a part's own options say."""
        written: Any = getattr(self, f"{side}_options")
        settings = [setting.partition("=") for setting in written.split(";") if setting.strip()]
        for key, equals, _ in settings:
            if not equals or not key.strip():
                raise InputError(f"hybrid.{side}_options: {written!r} is not a list like KEY=VALUE;KEY=VALUE")
        return {key.strip(): value.strip() for key, _, value in settings}
