"""The options of ``bridge``."""

from __future__ import annotations

from dataclasses import dataclass

from isogloss.storage.errors import InputError
from isogloss.systems.base import SystemOptions, option
from isogloss.systems.lexicons import INDUCED, LEXICON_HELP

INGREDIENTS = ("lexicon", "pages", "unknown", "document", "reverse", "length", "vectors", "characters", "weights")


@dataclass(frozen=True)
class BridgeOptions(SystemOptions):
    """Options of ``bridge``."""

    lexicon: str = option("", LEXICON_HELP.replace(f"{INDUCED}: from the translated pages of the train split; ", ""))
    pretrained: str = option(
        "", "a sentence encoder, whose cosine is one more feature: use (extra 'pretrained'); default: none"
    )
    stems: bool = option(True, "Snowball stems, where a language has them")
    dimension: int = option(128, "of the word vectors", 2, 4096)
    epochs: int = option(20, "of training the word vectors", 0, 10_000)
    depth: int = option(100, "how many documents of the first stage are re-scored", 1, 100_000)
    without: str = option("", f"ingredients to leave out, to see what they give: {', '.join(INGREDIENTS)}")
    seed: int = option(0, "of the first vectors and the order of training", 0, 2**31 - 1)
    passages: int = option(30, SystemOptions.__dataclass_fields__["passages"].metadata["help"], 0, 1_000_000)

    def check(self) -> None:
        """Raise for values that no range rules out."""
        for name in self.left_out:
            if name not in INGREDIENTS:
                raise InputError(f"bridge.without: {name!r} is not one of {', '.join(INGREDIENTS)}")
        if "pages" in self.left_out and "lexicon" in self.left_out:
            raise InputError("bridge.without: with neither pages nor a lexicon nothing is left to translate by")

    @property
    def left_out(self) -> set[str]:
        """The ingredients to leave out."""
        return {name.strip() for name in self.without.split(",") if name.strip()}
