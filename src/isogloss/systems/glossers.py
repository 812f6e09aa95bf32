"""Glossers by what is known of two languages beside a translation model of own pages: lexicons and starter tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from isogloss.storage.strings import StringTable
from isogloss.systems.lexicons import auto_lexicon
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.forms import starter_forms, usual_forms
from isogloss.translation.glossing import Glosser
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.model import Knowledge, dictionary_table, train_translation_model
from isogloss.translation.starter import load_starter

OF_DICTIONARY, OF_STARTER = 5.0, 20.0
"""The most pseudo-counts of a word of a dictionary, and of a starter table."""
_KEPT = 8  # pairs of languages whose glossers are kept


def lexicon_knowledge(lexicon: Lexicon, tokenizers: tuple[Tokenizer, Tokenizer]) -> Knowledge:
    """What a lexicon tells of translations, and the full forms of its terms."""
    forms = usual_forms({phrase[0]: 1 for phrase in lexicon if len(phrase) == 1}, tokenizers[0])
    return Knowledge(dictionary_table(lexicon, tokenizers), OF_DICTIONARY, forms)


@lru_cache(_KEPT)
def lexicon_glosser(lexicon: Lexicon, query_language: str, document_language: str) -> Glosser:
    """A glosser by a lexicon, and by the starter table of the languages where there is one."""
    tokenizers = _tokenizers(query_language, document_language)
    return _glosser([lexicon_knowledge(lexicon, tokenizers), *_starter(query_language, document_language)], tokenizers)


@lru_cache(_KEPT)
def glosser_at_hand(query_language: str, document_language: str) -> Glosser | None:
    """A glosser by the starter table and the best dictionary of this machine; None where there is neither."""
    tokenizers = _tokenizers(query_language, document_language)
    path, _ = auto_lexicon((query_language, document_language))
    knowledge = [lexicon_knowledge(Lexicon.read(Path(path)), tokenizers)] if path else []
    knowledge += _starter(query_language, document_language)
    return _glosser(knowledge, tokenizers) if knowledge else None


@cache
def forms_at_hand(language: str) -> Callable[[str], str]:
    """A function from terms to their full forms, by the starter table of a language; some hundred kilobytes each."""
    forms = starter_forms(language)
    terms = sorted(forms, key=str.encode)
    table, full = StringTable.of(terms), StringTable.of(forms[term] for term in terms)

    def form_of(term: str) -> str:
        number = table.find(term)
        return term if number is None else full[number]

    return form_of


def _tokenizers(query_language: str, document_language: str) -> tuple[Tokenizer, Tokenizer]:
    return Tokenizer(query_language, stems=True), Tokenizer(document_language, stems=True)


def _starter(query_language: str, document_language: str) -> list[Knowledge]:
    table = load_starter(query_language, document_language)
    return [] if table is None else [Knowledge(table, OF_STARTER, starter_forms(query_language))]


def _glosser(knowledge: Sequence[Knowledge], tokenizers: tuple[Tokenizer, Tokenizer]) -> Glosser:
    forms: dict[str, str] = {}
    for each in reversed(knowledge):
        forms |= each.forms
    model = train_translation_model([], knowledge, tokenizers).model
    return Glosser(model, tokenizers, lambda term: forms.get(term, term))
