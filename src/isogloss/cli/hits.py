"""Search results on the terminal and as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from isogloss.search.facets import Facets
from isogloss.search.gloss import Gloss, Twin
from isogloss.search.glosses import Glosses, twin_of
from isogloss.search.hits import Hit, Hits
from isogloss.search.searcher import Searcher
from isogloss.search.snippets import Reason, Snippet, content_parts, reasons_of, snippet_of
from isogloss.text.stopwords import stop_words
from isogloss.translation.glossing import Piece

_MARKED_PARTS = 10  # a query may be a whole document: only what counted most is marked,
_MOST_PARTS = 20  # explained
_MOST_LISTED = 12  # and listed
_GLOSS, _UNKNOWN = "≈", "?"
_BAR = 10  # characters of a full bar
_NARROWEST = 20  # columns of a text that is indented
_PARAGRAPH, _SPACE = re.compile(r"\s*\n\s*\n\s*"), re.compile(r"\s+")
_DOUBT = "probably nothing here: even the best result scores below what counts as relevant"


class HitGloss(NamedTuple):
    """The gloss of a hit and its twin."""

    gloss: Gloss | None
    twin: Twin | None


class HitGlosses:
    """The glosses of hits of a query."""

    def __init__(self, searcher: Searcher, query: str, translator: str) -> None:
        self._searcher, self._query = searcher, query
        self._glosses = Glosses(searcher, translator)

    def of(self, hits: Sequence[Hit]) -> list[HitGloss]:
        """Each with its gloss, of the snippet that is shown of it."""
        found = [_as_found(self._searcher, self._query, hit) for hit in hits]
        shown = [(hit, _snippet(self._searcher, hit)) for hit in found]
        glosses = self._glosses.of(self._query, shown)
        return [HitGloss(gloss, twin_of(self._searcher, hit)) for hit, gloss in zip(hits, glosses, strict=True)]

    @property
    def note(self) -> str:
        """What the reader should know."""
        return self._glosses.note


def hit_object(searcher: Searcher, hit: Hit, glossed: HitGloss | None = None) -> dict[str, Any]:
    """A hit as plain values."""
    return {
        "rank": hit.rank,
        "score": hit.score,
        "language": hit.language,
        "id": hit.document.id,
        "title": hit.document.title,
        "snippet": _snippet(searcher, hit).text,
        "relevance": hit.relevance,
        "chance": hit.chance,
        "bar": hit.bar,
        **({"reranked": True} if hit.reranked else {}),
        "explanation": [
            {"query_word": word, "document_words": list(words), "score": score}
            for word, words, score in _reasons(searcher, hit)
        ],
        **(_gloss_object(glossed) if glossed else {}),
    }


def _gloss_object(glossed: HitGloss) -> dict[str, Any]:
    gloss, twin = glossed
    return {"gloss": gloss.to_dict() if gloss else None, "twin": twin.to_dict() if twin else None}


def print_hits(
    out: Console,
    searcher: Searcher,
    query: str,
    hits: Hits,
    explain: bool,
    exactly: str = "--exact",
    glosses: HitGlosses | None = None,
) -> None:
    """The hits with the words that matched marked; before them, whether there is probably nothing to be found.

    ``exactly`` says how to search without corrections. In a re-ranked hit that is not explained, the words are marked
    by which it was found.
    """
    if hits.corrected:
        again = f"Search for exactly {query!r} with {exactly}"
        out.print(Text(f"Read as: {hits.read_as}. {again}", "magenta"), soft_wrap=True)
    if not hits:
        out.print("nothing found")
    if hits.doubtful:
        out.print(Text(_DOUBT, "magenta"), soft_wrap=True)
    of_hits = glosses.of(hits) if glosses else [HitGloss(None, None)] * len(hits)
    for hit, (gloss, twin) in zip(hits, of_hits, strict=True):
        heading = Text.assemble(
            (f"{hit.rank:>3}. ", "dim"), (hit.document.title or hit.document.id, "bold"),
            (f"  [{hit.language}] {hit.document.id}  {bar(hit)}{scored_by(searcher, hit)}", "dim"),
            (f"  {hit.relevance}" if hit.relevance else "", "green"),
        )  # fmt: skip
        out.print(heading)
        snippet = _snippet(searcher, _as_found(searcher, hits.read_as or query, hit))
        _print_indented(out, Text("     "), _marked(snippet))
        print_gloss(out, gloss, twin)
        if explain:
            print_explanation(out, searcher, hit)
    if hits.total > len(hits):
        least = "" if hits.total_is_exact else "at least "
        out.print(Text(f"{len(hits)} of {least}{hits.total:,} documents that match", "dim"))
    if glosses:
        print_gloss_note(out, [gloss for gloss, _ in of_hits if gloss], glosses.note)


def print_gloss(out: Console, gloss: Gloss | None, twin: Twin | None) -> None:
    """Title and snippet in the language of the reader, and the page that says the same in it."""
    if gloss:
        title, snippet = map(_gloss_line, (gloss.title, gloss.snippet))
        if gloss.translation:
            title, snippet = Text(gloss.translation.title), Text(gloss.translation.snippet)
        text = Text.assemble(title, (": " if title else ""), snippet)
        text.stylize("italic")
        _print_indented(out, Text(f"   {_GLOSS} ", "dim"), text)
    if twin:
        where = f"  [{twin.language}] {twin.id}{f'  {twin.url}' if twin.url else ''}"
        out.print(Text.assemble(("   = ", "dim"), (twin.title or twin.id, "bold"), (where, "dim")), soft_wrap=True)


def print_gloss_note(out: Console, glosses: Sequence[Gloss], note: str) -> None:
    """What the lines of glosses are, once for all hits, and why there are none."""
    made = dict.fromkeys(gloss.by for gloss in glosses)
    if made:
        unknown = any(piece.unknown for gloss in glosses for piece in (*gloss.title, *gloss.snippet))
        marked = f" ({_UNKNOWN}: no translation known)" if unknown and "word for word" in made else ""
        out.print(Text(f"{_GLOSS} {', '.join(made)}{marked}", "dim"), soft_wrap=True)
    if note:
        out.print(Text(note, "magenta"), soft_wrap=True)


def _gloss_line(pieces: Sequence[Piece]) -> Text:
    """A gloss with the words that matched marked, and those that are not known."""
    line = Text()
    for piece in pieces:
        style = "bold yellow" if piece.match else "dim" if piece.unknown else ""
        shown = _in_one_line(f"{piece.shown}{_UNKNOWN if piece.unknown else ''}")
        line.append(shown.lstrip() if not line or line.plain[-1].isspace() else shown, style)
    return line


def _marked(snippet: Snippet) -> Text:
    """A snippet in one line, with the words that matched marked."""
    line, done = Text(), 0
    for begin, end in (*snippet.marks, (len(snippet.text), len(snippet.text))):
        line.append(_in_one_line(snippet.text[done:begin])).append(_in_one_line(snippet.text[begin:end]), "bold yellow")
        done = end
    return line


def _in_one_line(text: str) -> str:
    """A text with one space for white space, and a dot where a heading or a paragraph ends."""
    return _SPACE.sub(" ", _PARAGRAPH.sub(" · ", text))


def _print_indented(out: Console, head: Text, text: Text) -> None:
    """Print a text after its head; all further lines begin where the first does."""
    for line in text.wrap(out, max(_NARROWEST, out.width - head.cell_len)):
        line.rstrip()
        out.print(Text.assemble(head, line), soft_wrap=True)
        head = Text(" " * head.cell_len)


def bar(hit: Hit) -> str:
    """How good a hit is, as a person reads it: a bar, and the chance that it is relevant, where that is known."""
    full = round(_BAR * hit.bar)
    chance = "" if hit.chance is None else f" {_percent(hit.chance)}"
    return "━" * full + "┄" * (_BAR - full) + chance


def _percent(chance: float) -> str:
    """A probability in per cent; never 0 and never 100, which nothing is.

    >>> _percent(0.834), _percent(1e-9), _percent(0.999)
    ('83 %', '<1 %', '>99 %')
    """
    return "<1 %" if chance < 0.01 else ">99 %" if chance > 0.99 else f"{100 * chance:.0f} %"


def scored_by(searcher: Searcher, hit: Hit) -> str:
    """Whose score it is, if it is not that of the system which found the hit."""
    return f" by {searcher.reranker.name}" if hit.reranked and searcher.reranker else ""


def print_explanation(out: Console, searcher: Searcher, hit: Hit) -> None:
    """Which query word met which document words, and how much each gave; of many, those that gave most."""
    parts = _reasons(searcher, hit)
    for part in parts[:_MOST_PARTS]:
        words = part.different_words
        said = Text(f"{part.query_word}{' → ' if words else ''}{_listed(words, ', ')}", "cyan")
        _print_indented(out, Text(f"     {part.score:8.3f}  ", "cyan"), said)
    if len(parts) > _MOST_PARTS:
        rest = sum(score for _, _, score in parts[_MOST_PARTS:])
        out.print(Text(f"     {rest:8.3f}  by {len(parts) - _MOST_PARTS} more words", "cyan"))
    if parts:
        out.print(Text(f"     {hit.score:8.3f}  in all", "cyan"))


def print_unknown(out: Console, words: Sequence[str]) -> None:
    """A line with the words of the query that the index does not know, if there are any."""
    if words:
        out.print(Text(f"not known: {_listed(words, ', ')}", "magenta"))


def print_translations(out: Console, translations: Mapping[str, Sequence[tuple[str, Sequence[str]]]]) -> None:
    """A line for each language that translates words of the query."""
    for language, words in translations.items():
        if words:
            listed = _listed([f"{word} → {', '.join(meanings)}" for word, meanings in words], "; ")
            out.print(Text(f"{language}: {listed}", "dim"))


def facets_object(facets: Facets) -> dict[str, Any]:
    """Facets as plain values."""
    fields = {
        name: [{"value": value, "count": count} for value, count in values] for name, values in facets.values.items()
    }
    return {"counted": facets.counted, "complete": facets.complete, "fields": fields}


def print_facets(out: Console, facets: Facets) -> None:
    """A line for each field: its values, and how many documents have each."""
    noun = "document" if facets.counted == 1 else "documents"
    of_which = f"{noun} found" if facets.complete else f"best {noun}"
    for name, values in facets.values.items():
        listed = _listed([f"{value} {count:,}" for value, count in values], ", ") or "none has it"
        out.print(Text(f"{name}, of {facets.counted:,} {of_which}: {listed}", "dim"), soft_wrap=True)


def _as_found(searcher: Searcher, query: str, hit: Hit) -> Hit:
    """A re-ranked hit without an explanation with that of the system that found it, where the system has it quickly."""
    if hit.explanation or not hit.reranked or not searcher.languages[hit.language].system.explains_quickly:
        return hit
    return replace(hit, explanation=searcher.explain(query, hit.language, hit.document.id), reranked=False)


def _snippet(searcher: Searcher, hit: Hit) -> Snippet:
    term_of, stops = searcher.term_of(hit.language, hit.reranked), stop_words(hit.language)
    parts = content_parts(hit.explanation, searcher.query_language)
    terms = {term for _, words, _ in parts[:_MARKED_PARTS] for term in words}
    return snippet_of(searcher, hit, lambda token: token not in stops and term_of(token) in terms)


def _reasons(searcher: Searcher, hit: Hit) -> list[Reason]:
    shown = _snippet(searcher, hit).text
    return reasons_of(searcher, hit.language, hit.document, hit.explanation, hit.reranked, shown)


def _listed(words: Sequence[str], separator: str) -> str:
    """Words in one line; of many the first, and how many more there are."""
    more = len(words) - _MOST_LISTED
    return separator.join([*words[:_MOST_LISTED], *([f"… {more} more"] if more > 0 else [])])
