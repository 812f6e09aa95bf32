"""The lexicon of a system: a file, the bundled one, or one induced from translated pages of the train split."""

from __future__ import annotations

from isogloss.data.dataset import Dataset
from isogloss.data.parallel import translated_pages
from isogloss.storage.errors import InputError
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.word_alignment import induce_lexicon

INDUCED = "induced"
BUNDLED = "bundled"
LEXICON_HELP = (
    "bilingual lexicon: tab-separated, MUSE or FreeDict; {pair} is replaced by the languages, like en-fr; "
    f"{INDUCED}: from the translated pages of the train split; {BUNDLED}: some 500 words, for trying out; "
    "default: that of the data, if any"
)
_FEW_PAGES = 200


def fill_languages(path: str, query_language: str, document_language: str) -> str:
    """A path with ``{pair}``, ``{query}`` and ``{document}`` replaced by the languages; ``bundled`` to its path."""
    if path == BUNDLED:
        return bundled_lexicon(query_language, document_language)
    path = path.replace("{pair}", f"{query_language}-{document_language}")
    return path.replace("{query}", query_language).replace("{document}", document_language)


def bundled_lexicon(query_language: str, document_language: str) -> str:
    """The path of the small lexicon that is part of isogloss."""
    from isogloss.data.readers.demo import DEMO_LANGUAGES, Demo

    path = Demo().lexicon((query_language, document_language))
    if path is None:
        known = ", ".join(f"en-{language}" for language in DEMO_LANGUAGES if language != "en")
        raise InputError(f"lexicon: none is bundled for {query_language}-{document_language}; there are {known}")
    return str(path)


def induce_from(training: Dataset, system: str) -> Lexicon:
    """Induce a lexicon; an error names what the system needs instead."""
    try:
        pages = translated_pages(training)
    except InputError as error:
        raise InputError(f"{system}: needs a lexicon (--set lexicon=FILE); none can be induced: {error}") from error
    return induce_lexicon(pages, minimum_count=2 if len(pages) > _FEW_PAGES else 1)
