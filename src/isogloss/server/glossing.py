"""Glosses and twins of hits as messages."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.data.documents import Document
from isogloss.search.gloss import Gloss, Twin
from isogloss.search.glosses import Glosses, twin_of
from isogloss.search.hits import Hit
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import Snippet
from isogloss.server.models import (
    DocumentAnswer,
    DocumentGloss,
    GlossMessage,
    HitMessage,
    MeaningMessage,
    PieceMessage,
    TranslationMessage,
    TwinMessage,
)
from isogloss.translation.glossing import Piece


def add_glosses(
    searcher: Searcher, query: str, shown: Sequence[tuple[Hit, Snippet]], messages: Sequence[HitMessage],
    translator: str,
) -> str:  # fmt: skip
    """Give each message its gloss and its twin; the note for the reader."""
    glosses = Glosses(searcher, translator)
    for message, (hit, _), gloss in zip(messages, shown, glosses.of(query, shown), strict=True):
        twin = twin_of(searcher, hit)
        message.gloss = gloss_message(gloss) if gloss else None
        message.twin = twin_message(twin) if twin else None
    return glosses.note


def add_document_gloss(searcher: Searcher, query: str, document: Document, answer: DocumentAnswer) -> None:
    """Give a document its gloss, or the note that says why there is none."""
    glosses = Glosses(searcher)
    gloss = glosses.of_document(query, answer.lang, document)
    answer.gloss_note = glosses.note
    if gloss is not None:
        answer.gloss = DocumentGloss.model_construct(
            language=gloss.language, title=list(map(_piece, gloss.title)), text=list(map(_piece, gloss.snippet))
        )


def gloss_message(gloss: Gloss) -> GlossMessage:
    """A gloss; what it says was computed here, and is not validated again."""
    translation = gloss.translation
    return GlossMessage.model_construct(
        language=gloss.language, title=list(map(_piece, gloss.title)), snippet=list(map(_piece, gloss.snippet)),
        translation=translation and TranslationMessage.model_construct(
            title=translation.title, snippet=translation.snippet, by=translation.by
        ),
    )  # fmt: skip


def twin_message(twin: Twin) -> TwinMessage:
    """A twin."""
    return TwinMessage.model_construct(language=twin.language, id=twin.id, title=twin.title, url=twin.url)


def _piece(piece: Piece) -> PieceMessage:
    meanings = [
        MeaningMessage.model_construct(word=word, probability=probability) for word, probability in piece.meanings
    ]
    return PieceMessage.model_construct(
        text=piece.text, gloss=piece.gloss, unknown=piece.unknown, match=piece.match, met=piece.met, meanings=meanings
    )
