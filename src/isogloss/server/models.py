"""The parameters, bodies and answers of the service: checked by pydantic, described by FastAPI, with examples."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request

from isogloss.server.errors import NOT_EMPTY, Refusal, validation_refusal
from isogloss.server.json_bodies import decoded, decoded_and_counted
from isogloss.server.limits import BATCH, DEPTH, DOCUMENTS, ID_LENGTH, MOST_HITS, QUERY_LENGTH
from isogloss.server.memory import SMALL

_QUERY = "why is the sea salty"
QueryText = Annotated[
    str, Field(max_length=QUERY_LENGTH, pattern=NOT_EMPTY, description="the query", examples=[_QUERY])
]
HitCount = Annotated[int, Field(ge=1, le=MOST_HITS, description="how many documents", examples=[5])]
Offset = Annotated[int, Field(ge=0, lt=DEPTH, description="how many of the best documents to pass over", examples=[0])]
Language = Annotated[str, Field(min_length=2, max_length=35, pattern=r"^[A-Za-z0-9-]+$", description="a language code")]
Languages = Annotated[list[Language], Field(max_length=100, description="only documents in these; none named: in all")]
Filter = Annotated[str, Field(max_length=1000, pattern="^[^:]+:", description="name:value of a field")]
Filters = Annotated[dict[str, str], Field(max_length=20, description="field names and their values")]
Facet = Annotated[str, Field(min_length=1, max_length=200, description="a field whose values are counted")]
FacetNames = Annotated[list[Facet], Field(max_length=10, examples=[["topic"]])]
DocumentId = Annotated[str, Field(min_length=1, max_length=ID_LENGTH, description="the id of a document")]
_QUERY_LANGUAGE = "the language of the query; 'detect' (the default) has it detected among those of the index"
QueryLanguage = Annotated[str, Field(max_length=35, description=_QUERY_LANGUAGE, examples=["en"])]
WithGloss = Annotated[
    bool, Field(description="whether each hit has its title and snippet in the language of the query", examples=[True])
]
_GLOSSED = "whether the document has its title and text in the language of the query"
_GLOSSED_FOR = "the query by which the document was found: it helps to choose words of the gloss"
Explain = Annotated[bool, Field(description="whether each hit has the words that made its score", examples=[True])]
Exact = Annotated[bool, Field(description="whether to correct no typing errors of the query", examples=[False])]
IndexName = Annotated[
    Literal["main", "compare"],
    Field(description="the index of the service, or the second one (--compare)", examples=["main"]),
]
Doubtful = Annotated[
    bool, Field(description="probably nothing here: even the best hit scores below what counts as relevant")
]
JSON = "application/json"
LINES = "application/x-ndjson"
_MOST_PARAMETERS = 200
_MOST_VALUES = 10_000  # of a search
_MOST_OF_DOCUMENTS = 1_000_000
_REPEATED = ("lang", "filter", "facet")
_Model = TypeVar("_Model", bound=BaseModel)


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


def _is_none(value: object) -> bool:
    return value is None


def _is_false(value: object) -> bool:
    return not value


_REASONS = [
    {"query_word": "sea", "document_words": ["mer"], "score": 0.31},
    {"query_word": "salty", "document_words": ["salée"], "score": 0.27},
]
_TRANSLATIONS = [{"word": "sea", "translations": ["mer", "marin"]}, {"word": "salty", "translations": ["salé"]}]
_HIT = {
    "rank": 1, "score": 0.58, "language": "fr", "id": "fr-sea", "title": "La mer", "url": "https://example.org/mer",
    "fields": {"topic": "water"}, "relevance": "relevant", "reranked": False, "chance": 0.64, "bar": 0.64,
    "snippet": [{"text": "La ", "match": False}, {"text": "mer", "match": True}],
}  # fmt: skip
_GLOSS = {
    "language": "en", "title": [{"text": "La", "gloss": "The"}, {"text": " "}, {"text": "mer", "gloss": "sea"}],
    "snippet": [
        {"text": "La", "gloss": "The"}, {"text": " "},
        {"text": "mer", "gloss": "sea", "match": True, "met": "sea", "meanings": [{"word": "sea", "probability": 1.0}]},
    ],
    "translation": None,
}  # fmt: skip
_TWIN = {"language": "en", "id": "en-sea", "title": "The sea", "url": ""}
_DOCUMENT = {
    "id": "fr-sea", "text": "La mer est salée.", "title": "La mer", "lang": "fr", "url": "https://example.org/mer",
    "links": ["fr-salt"], "translations": {"en": "en-sea"}, "fields": {"topic": "water"},
}  # fmt: skip
_INDEX = {
    "name": "my-index", "system": "bridge", "summary": "translation model, passages and word vectors",
    "systems": {"fr": "bridge", "sw": "bridge"}, "query_languages": ["en"], "documents": {"fr": 104, "sw": 104},
    "sources": {"en": 104}, "facets": ["topic"], "generation": 7, "about": {"deleted": 3, "segments": 2},
}  # fmt: skip


class Parameters(BaseModel):
    """The parameters of an address; an unknown name is refused, so that a misspelt one does not pass for a default."""

    model_config = ConfigDict(extra="forbid")


class RequestBody(Parameters):
    """A body; numbers are numbers and not text that holds one."""

    model_config = ConfigDict(strict=True)


class OneSearch(Parameters):
    """What the address and the body of a search have in common."""

    q: QueryText
    k: HitCount = 10
    offset: Offset = 0
    explain: Explain = False
    gloss: WithGloss = False
    exact: Exact = False
    index: IndexName = "main"


class SearchParameters(OneSearch):
    """The parameters of ``GET /search``."""

    lang: Annotated[Languages, Field(examples=[["fr"]])] = []
    filter: Annotated[list[Filter], Field(max_length=20, examples=[["topic:water"]])] = []
    facet: FacetNames = []
    query_lang: QueryLanguage = "detect"


class ExplainParameters(Parameters):
    """The parameters of ``GET /explain``."""

    q: QueryText
    language: Annotated[Language, Field(examples=["fr"])]
    id: Annotated[DocumentId, Field(examples=["fr-sea"])]
    index: IndexName = "main"
    query_lang: QueryLanguage = "detect"
    exact: Exact = False
    reranked: Annotated[bool, Field(description="explain the score of the re-ranker", examples=[False])] = False


class DocumentParameters(Parameters):
    """The parameters of ``GET /documents/{language}/{id}``."""

    index: IndexName = "main"
    gloss: Annotated[bool, Field(description=_GLOSSED, examples=[True])] = False
    q: Annotated[str, Field(max_length=QUERY_LENGTH, description=_GLOSSED_FOR, examples=[_QUERY])] = ""
    query_lang: QueryLanguage = "detect"


class SearchRequest(OneSearch, RequestBody):
    """One query, as the body of ``POST /search``."""

    model_config = _example(q=_QUERY, k=5, languages=["fr"], filters={"topic": "water"}, facets=["topic"], explain=True)

    languages: Languages = []
    filters: Filters = {}
    facets: FacetNames = []
    query_language: QueryLanguage = "detect"


class BatchRequest(RequestBody):
    """Many queries, as the body of ``POST /search``."""

    model_config = _example(queries=[_QUERY, "how bees make honey"], k=3)

    queries: Annotated[list[QueryText], Field(min_length=1, max_length=BATCH)]
    k: HitCount = 10
    languages: Languages = []
    filters: Filters = {}
    query_language: QueryLanguage = "detect"
    exact: Exact = False
    index: IndexName = "main"


class ExplainRequest(ExplainParameters, RequestBody):
    """A query and a document whose score is to be explained."""

    model_config = _example(q=_QUERY, language="fr", id="fr-sea")


class DocumentMessage(RequestBody):
    """A document, as in a line of a ``jsonl:`` source."""

    model_config = _example(**_DOCUMENT)

    id: DocumentId
    text: str
    title: str = ""
    lang: Language | Literal[""] = ""
    url: Annotated[str, Field(max_length=10_000)] = ""
    links: list[str] = []
    translations: dict[str, str] = {}
    fields: dict[str, Any] = {}


class DocumentsRequest(RequestBody):
    """Many documents to add or replace."""

    model_config = _example(documents=[_DOCUMENT])

    documents: Annotated[list[DocumentMessage], Field(min_length=1, max_length=DOCUMENTS)]


BODIES = (SearchRequest, BatchRequest, ExplainRequest, DocumentMessage, DocumentsRequest)


class SnippetPart(BaseModel):
    """A span of a snippet; the parts one after the other are its text."""

    text: str
    match: Annotated[bool, Field(description="whether this word helped to find the document")]


class Reason(BaseModel):
    """What one word of the query added to the score, through which words of the document."""

    query_word: str
    document_words: list[str]
    score: float


class MeaningMessage(BaseModel):
    """A translation of a word, and its share among those that are known."""

    word: str
    probability: float


class PieceMessage(BaseModel):
    """A piece of a title or a snippet; what has its default is left out."""

    text: Annotated[str, Field(description="as the document has it; all texts one after the other are the whole")]
    gloss: Annotated[
        str | None,
        Field(exclude_if=_is_none, description="to show instead; left out: show the text; empty: show nothing"),
    ] = None
    unknown: Annotated[bool, Field(exclude_if=_is_false, description="a word without a known translation")] = False
    match: Annotated[bool, Field(exclude_if=_is_false, description="a word that is marked in the snippet")] = False
    met: Annotated[str | None, Field(exclude_if=_is_none, description="the word of the query that it met")] = None
    meanings: Annotated[
        list[MeaningMessage], Field(exclude_if=_is_false, description="likely translations, best first")
    ] = []


class TranslationMessage(BaseModel):
    """Title and snippet as a machine translator gives them."""

    title: str
    snippet: str
    by: Annotated[str, Field(description="the translator")]


class GlossMessage(BaseModel):
    """Title and snippet word for word in the language of the reader."""

    language: str
    title: list[PieceMessage]
    snippet: list[PieceMessage]
    translation: Annotated[TranslationMessage | None, Field(description="where the service has a translator")] = None


class DocumentGloss(BaseModel):
    """Title and text of a document word for word in the language of the reader."""

    language: str
    title: list[PieceMessage]
    text: Annotated[list[PieceMessage], Field(description="of a long text only the beginning")]


class DocumentAnswer(DocumentMessage):
    """A document, with its gloss if that was requested."""

    model_config = _example(**_DOCUMENT)

    gloss: Annotated[DocumentGloss | None, Field(description="only where requested and known")] = None
    gloss_note: Annotated[str, Field(description="why there is none, or not of all")] = ""


class TwinMessage(BaseModel):
    """The page that is the translation of a document into the language of the query."""

    language: str
    id: str
    title: str
    url: str


class HitMessage(BaseModel):
    """A document that was found."""

    rank: int
    score: float
    language: str
    id: str
    title: str
    url: str
    fields: dict[str, Any]
    snippet: list[SnippetPart]
    relevance: Annotated[
        str | None,
        Field(description="'relevant', 'partially relevant', 'not relevant'; null where the system has none"),
    ]
    reranked: Annotated[bool, Field(description="whether score and class are the re-ranker's (--rerank)")]
    chance: Annotated[
        float | None, Field(description="the probability that it is relevant; null where the system is not calibrated")
    ]
    bar: Annotated[float, Field(description="0 to 1, for people: the chance, or else the share of the best score")]
    explanation: Annotated[list[Reason] | None, Field(exclude_if=_is_none, description="only where requested")] = None
    gloss: Annotated[GlossMessage | None, Field(exclude_if=_is_none, description="only where requested and known")] = (
        None
    )
    twin: Annotated[TwinMessage | None, Field(exclude_if=_is_none, description="only with a gloss, where known")] = None


class CorrectionMessage(BaseModel):
    """A word of the query with a typing error, and the word that it was read as."""

    word: str
    read_as: str


class Translations(BaseModel):
    """A word of the query and its translations, best first."""

    word: str
    translations: list[str]


class FacetValue(BaseModel):
    """A value of a field, and how many documents have it."""

    value: str
    count: int


class FacetsMessage(BaseModel):
    """How many of the documents that were found have each value of a field."""

    counted: Annotated[int, Field(description="how many documents were counted")]
    complete: Annotated[bool, Field(description="whether these are all that match; else the best of each language")]
    fields: Annotated[dict[str, list[FacetValue]], Field(description="the most frequent values first, at most 20")]


ReadAs = Annotated[str, Field(description="the query that was searched for, without typing errors")]
Corrected = Annotated[list[CorrectionMessage], Field(description="what was corrected in the query")]
Total = Annotated[int, Field(description="how many documents match, or at least so many")]
TotalIsExact = Annotated[bool, Field(description="whether total is exact; otherwise more documents may match")]


class SearchAnswer(BaseModel):
    """The best documents for a query."""

    model_config = _example(
        query=_QUERY, query_language="en", expected_language="en", note="", languages=["fr"], offset=0, more=True,
        hits=[{**_HIT, "explanation": _REASONS, "gloss": _GLOSS, "twin": _TWIN}], gloss_note="",
        unknown_words=[], translations={"fr": _TRANSLATIONS},
        doubtful=False, facets={"counted": 57, "complete": True, "fields": {"topic": [{"value": "water", "count": 9}]}},
        read_as=_QUERY, corrected=[], total=17, total_is_exact=True, generation=7, milliseconds=3.4,
    )  # fmt: skip

    query: str
    query_language: Annotated[str, Field(description="as requested or detected; else what the index expects")]
    expected_language: Annotated[str, Field(description="the language of the index that the query was searched in")]
    note: Annotated[str, Field(description="what the reader should know, where the two differ; else empty")]
    languages: Annotated[list[str], Field(description="the languages that were searched")]
    offset: int
    more: Annotated[bool, Field(description="whether there are hits after these")]
    hits: list[HitMessage]
    gloss_note: Annotated[str, Field(description="why some hits have no gloss, or no translation; else empty")] = ""
    unknown_words: list[str]
    translations: dict[str, list[Translations]]
    doubtful: Doubtful
    facets: Annotated[FacetsMessage | None, Field(description="of the fields that 'facet' names; null without any")]
    read_as: ReadAs
    corrected: Corrected
    total: Total
    total_is_exact: TotalIsExact
    generation: int
    milliseconds: float


class BatchResult(BaseModel):
    """The hits of one query of a batch."""

    query: str
    hits: list[HitMessage]
    doubtful: Doubtful
    read_as: ReadAs
    corrected: Corrected
    total: Total
    total_is_exact: TotalIsExact


class BatchAnswer(BaseModel):
    """The best documents for each query of a batch, in the order of the queries."""

    model_config = _example(
        results=[
            {
                "query": _QUERY,
                "hits": [_HIT],
                "doubtful": False,
                "read_as": _QUERY,
                "corrected": [],
                "total": 3,
                "total_is_exact": False,
            }
        ],
        generation=7,
        milliseconds=5.1,
    )

    results: list[BatchResult]
    generation: int
    milliseconds: float


class ExplainAnswer(BaseModel):
    """What made the score of a document."""

    model_config = _example(
        query=_QUERY, read_as=_QUERY, corrected=[], language="fr", id="fr-sea", title="La mer", system="bridge",
        passage=[0, 17], score=0.58, chance=0.64, explanation=_REASONS, translations=_TRANSLATIONS, unknown_words=[],
    )  # fmt: skip

    query: str
    read_as: ReadAs
    corrected: Corrected
    language: str
    id: str
    title: str
    system: Annotated[str, Field(description="whose score it is: the system of the index, or that of the re-ranker")]
    passage: Annotated[tuple[int, int], Field(description="begin and end, in characters, of what to read first")]
    score: Annotated[float, Field(description="the sum of what the words added")]
    chance: Annotated[float | None, Field(description="the probability that it is relevant; null where not known")]
    explanation: list[Reason]
    translations: list[Translations]
    unknown_words: list[str]


class AddAnswer(BaseModel):
    """Documents that are on disk now and found by searches from this generation on."""

    model_config = _example(added=1, generation=8)

    added: int
    repeated: Annotated[
        int,
        Field(
            exclude_if=lambda count: not count,
            description="documents that a later one of the same language and id replaced; left out if 0",
        ),
    ] = 0
    generation: int


class DeleteAnswer(BaseModel):
    """Documents that are gone from this generation on."""

    model_config = _example(deleted=1, generation=9)

    deleted: int
    generation: int


class IndexStatus(BaseModel):
    """What an index holds and what made it."""

    name: str
    system: str
    summary: Annotated[str, Field(description="what the system does, in a line")]
    systems: Annotated[dict[str, str], Field(description="what ranks the documents of each language")]
    query_languages: Annotated[list[str], Field(description="the languages that queries can be in, the default first")]
    documents: Annotated[dict[str, int], Field(description="how many documents of each language")]
    sources: Annotated[dict[str, int], Field(description="how many pages in languages of the queries are kept to read")]
    facets: Annotated[list[str], Field(description="the fields whose values the page counts (--facet)")]
    generation: int
    about: Annotated[dict[str, Any], Field(description="segments, deleted documents, bytes, recall measured at build")]


class LimitsMessage(BaseModel):
    """What the service takes at most."""

    query_length: int
    query_words: int
    k: int
    depth: int
    batch: int
    cost: Annotated[int, Field(description="of one request: words of all queries times (10 + offset + k) / 20")]
    body_bytes: int
    seconds: float


class StatusAnswer(BaseModel):
    """The state of the service."""

    model_config = _example(
        version="0.1.0", index=_INDEX, compare=_INDEX, writable=True, uptime_seconds=86400.0,
        limits={"query_length": 4000, "query_words": 1000, "k": 1000, "depth": 10_000, "batch": 256, "cost": 20_000,
                "body_bytes": 4_194_304, "seconds": 10.0},
        examples=["how bees make honey"],
    )  # fmt: skip

    version: str
    index: IndexStatus
    compare: IndexStatus | None
    writable: bool
    uptime_seconds: float
    limits: LimitsMessage
    examples: Annotated[list[str], Field(description="queries that the page suggests")]


class HealthAnswer(BaseModel):
    """Whether the process lives (it answers) and whether it would take a search now."""

    model_config = _example(live=True, ready=True)

    live: bool
    ready: bool


async def check_address(request: Request) -> None:
    """Refuse an address with a name twice that may stand once: FastAPI would take the last."""
    query = request.scope["query_string"]
    if query.count(b"&") >= _MOST_PARAMETERS:
        raise Refusal(400, f"the address has more than {_MOST_PARAMETERS} parameters")
    names = [name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if name not in _REPEATED]
    if len(names) > len(set(names)):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refusal(422, f"{twice[:50]}: stands twice in the address")


async def no_parameters(request: Request) -> None:
    """Refuse any parameter in the address."""
    if names := list(request.query_params):
        raise Refusal(422, f"{names[0][:50]}: this name is not known here")


def search_request(parameters: SearchParameters) -> SearchRequest:
    """The parameters of an address as the body that says the same."""
    filters: dict[str, str] = {}
    for text in parameters.filter:
        name, _, value = text.partition(":")
        if filters.setdefault(name, value) != value:
            raise Refusal(422, f"filter: {name[:50]!r} cannot have two values")
    return SearchRequest.model_construct(
        q=parameters.q, k=parameters.k, offset=parameters.offset, languages=parameters.lang, filters=filters,
        facets=parameters.facet, query_language=parameters.query_lang, explain=parameters.explain,
        gloss=parameters.gloss, exact=parameters.exact,
        index=parameters.index,
    )  # fmt: skip


def search_body(body: bytes | bytearray) -> SearchRequest | BatchRequest:
    """One query or a batch of them."""
    value = decoded(body, _MOST_VALUES)
    if isinstance(value, dict) and "queries" in value:
        return _checked(value, BatchRequest)
    return _checked(value, SearchRequest)


def document_body(body: bytes | bytearray, kind: str) -> list[DocumentMessage]:
    """One document, ``{"documents": [...]}``, or a document a line, as the media type says."""
    if kind == LINES:
        return _lines(body)
    value = decoded(body, _MOST_OF_DOCUMENTS)
    if isinstance(value, dict) and "documents" in value:
        return _checked(value, DocumentsRequest).documents
    return [_checked(value, DocumentMessage)]


def model_body(body: bytes | bytearray, model: type[_Model]) -> _Model:
    """A body of one kind."""
    return _checked(decoded(body, _MOST_VALUES), model)


async def read_body(
    request: Request, most: int, seconds: float, accepted: Collection[str], hold: Callable[[int], None]
) -> bytearray:
    """The body of a request, refused as soon as it is too large, whatever length was announced.

    ``hold`` is called with the number of bytes that are held, where they are many.
    """
    kind = media_type(request)
    if kind and kind not in accepted:
        raise Refusal(415, f"send the body as {' or '.join(accepted)}, not as {kind[:50]}")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Refusal(415, "send the body as it is, without a Content-Encoding")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > most:
        raise _too_large(most)
    body, held = bytearray(), 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                if len(body) + len(chunk) > most:
                    raise _too_large(most)
                body += chunk
                if len(body) > SMALL:
                    hold(len(body) - held)
                    held = len(body)
    except TimeoutError as error:
        raise Refusal(408, f"the body did not come within {seconds:g} seconds", {"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise Refusal(400, "the body ended before it was whole") from error
    return body


def media_type(request: Request) -> str:
    """The media type of a request's body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _lines(body: bytes | bytearray) -> list[DocumentMessage]:
    """A document a line; those after the last that is taken are not even decoded."""
    documents: list[DocumentMessage] = []
    left = _MOST_OF_DOCUMENTS
    for found in re.finditer(rb"[^\s][^\n]*+", body):
        if len(documents) == DOCUMENTS:
            raise Refusal(422, f"documents: more than {DOCUMENTS} lines; send them in several requests")
        try:
            value, count = decoded_and_counted(found[0], left)
            documents.append(_checked(value, DocumentMessage))
            left -= count
        except Refusal as refusal:
            line = 1 + body.count(b"\n", 0, found.start())
            raise Refusal(refusal.status_code, f"line {line}: {refusal.detail}") from refusal
    if not documents:
        raise Refusal(422, "documents: there is no line")
    return documents


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body is larger than {most} bytes", {"Connection": "close"})


def _checked(value: Any, model: type[_Model]) -> _Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise validation_refusal(error.errors(include_url=False, include_input=False)) from error
