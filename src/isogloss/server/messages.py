"""What goes over the wire: the parameters and bodies that are taken, the answers that are given.

Every answer and every request is one of these structures; their limits are checked while they are decoded, and the
OpenAPI description is made from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from isogloss.server.limits import BATCH, DEPTH, DOCUMENTS, ID_LENGTH, MOST_HITS, QUERY_LENGTH

QueryText = Annotated[str, Meta(max_length=QUERY_LENGTH, pattern=r"\S", description="what to look for")]
Hits = Annotated[int, Meta(ge=1, le=MOST_HITS, description="how many documents")]
Offset = Annotated[int, Meta(ge=0, le=DEPTH - 1, description="how many of the best documents to pass over")]
Language = Annotated[str, Meta(min_length=2, max_length=35, pattern=r"^[A-Za-z0-9-]+$", description="a language code")]
Languages = Annotated[list[Language], Meta(max_length=100, description="only documents in these; none named: in all")]
DocumentId = Annotated[str, Meta(min_length=1, max_length=ID_LENGTH, description="the id of a document")]
QueryLanguage = Annotated[
    str, Meta(max_length=35, description="the language of the query; 'detect' (the default) has it guessed")
]
Which = Annotated[
    Literal["main", "compare"], Meta(description="the index of the service, or the one beside it (--compare)")
]
Missing = Annotated[
    list[str], Meta(description="parts of the index that did not answer: the hits are only those of the others")
]
Doubtful = Annotated[
    bool, Meta(description="probably nothing here: even the best hit scores below what counts as relevant")
]
Filter = Annotated[str, Meta(max_length=1000, pattern="^[^:]+:", description="name:value of a field")]


class Asked(Struct, forbid_unknown_fields=True):
    """A request; what is not known in it is refused, so that a misspelt name does not pass for a default."""


class SearchParameters(Asked):
    """The parameters of ``GET /search``."""

    q: QueryText
    k: Hits = 10
    offset: Offset = 0
    lang: Languages = []
    filter: Annotated[list[Filter], Meta(max_length=20)] = []
    query_lang: QueryLanguage = "detect"
    explain: Annotated[bool, Meta(description="whether each hit says what made its score")] = False
    index: Which = "main"


class SearchRequest(Asked):
    """One query, as the body of ``POST /search``."""

    q: QueryText
    k: Hits = 10
    offset: Offset = 0
    languages: Languages = []
    filters: Annotated[dict[str, str], Meta(max_length=20, description="field names and their values")] = {}
    query_language: QueryLanguage = "detect"
    explain: bool = False
    index: Which = "main"


class BatchRequest(Asked):
    """Many queries, as the body of ``POST /search``."""

    queries: Annotated[list[QueryText], Meta(min_length=1, max_length=BATCH)]
    k: Hits = 10
    languages: Languages = []
    filters: Annotated[dict[str, str], Meta(max_length=20)] = {}
    index: Which = "main"


class ExplainRequest(Asked):
    """A query and a document whose score is to be explained."""

    q: QueryText
    language: Language
    id: DocumentId
    index: Which = "main"
    reranked: Annotated[
        bool, Meta(description="explain the re-ranker's score, as hits show it that say they are re-ranked")
    ] = False


class GetParameters(Asked):
    """The parameters of ``GET /documents/{language}/{id}``."""

    index: Which = "main"


class NoParameters(Asked):
    """No parameters."""


class DocumentMessage(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A document, as in a line of a ``jsonl:`` source."""

    id: DocumentId
    text: str = field()
    title: str = ""
    lang: Language | Literal[""] = ""
    url: Annotated[str, Meta(max_length=10_000)] = ""
    links: list[str] = []
    translations: dict[str, str] = {}
    fields: dict[str, Any] = {}


class DocumentsRequest(Asked):
    """Many documents to add or replace."""

    documents: Annotated[list[DocumentMessage], Meta(min_length=1, max_length=DOCUMENTS)]


class SnippetPart(Struct):
    """A stretch of a snippet; the parts one after the other are its text."""

    text: str
    match: Annotated[bool, Meta(description="whether this word helped to find the document")] = False


class Reason(Struct):
    """What one word of the query added to the score, through which words of the document."""

    query_word: str
    document_words: list[str]
    score: float


class HitMessage(Struct):
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
        str | None, Meta(description="'relevant', 'partially relevant', 'not relevant'; null where nothing says")
    ]
    reranked: Annotated[bool, Meta(description="whether score and class are the re-ranker's (--rerank)")]
    explanation: list[Reason] | UnsetType = UNSET


class Meaning(Struct):
    """A word of the query and what stands for it in another language, best first."""

    word: str
    translations: list[str]


class SearchAnswer(Struct):
    """The best documents for a query."""

    query: str
    query_language: Annotated[str, Meta(description="as asked for or detected; else what the index expects")]
    expected_language: Annotated[str, Meta(description="the language the index expects queries in")]
    note: Annotated[str, Meta(description="what the reader should know, where the two differ; else empty")]
    languages: Annotated[list[str], Meta(description="the languages that were searched")]
    offset: int
    more: Annotated[bool, Meta(description="whether there are hits after these")]
    hits: list[HitMessage]
    unknown_words: list[str]
    translations: dict[str, list[Meaning]]
    missing: Missing
    doubtful: Doubtful
    generation: int
    milliseconds: float


class FoundMessage(Struct):
    """The hits of one query of a batch."""

    query: str
    hits: list[HitMessage]
    missing: Missing
    doubtful: Doubtful


class BatchAnswer(Struct):
    """The best documents for each query of a batch, in the order of the queries."""

    results: list[FoundMessage]
    generation: int
    milliseconds: float


class ExplainAnswer(Struct):
    """What made the score of a document."""

    query: str
    language: str
    id: str
    title: str
    system: Annotated[str, Meta(description="whose score it is: the system of the index, or that of the re-ranker")]
    score: Annotated[float, Meta(description="the sum of what the words added")]
    explanation: list[Reason]
    translations: list[Meaning]
    unknown_words: list[str]


class AddAnswer(Struct):
    """Documents that are on disk now and found by searches from this generation on."""

    added: int
    generation: int


class DeleteAnswer(Struct):
    """Documents that are gone from this generation on."""

    deleted: int
    generation: int


class IndexStatus(Struct):
    """What an index holds and what made it."""

    name: str
    system: str
    query_language: str
    documents: Annotated[dict[str, int], Meta(description="how many documents of each language")]
    generation: int
    about: Annotated[dict[str, Any], Meta(description="segments, deleted documents, bytes, recall measured at build")]


class LimitsMessage(Struct):
    """What the service takes at most."""

    query_length: int
    k: int
    depth: int
    batch: int
    body_bytes: int
    seconds: float


class StatusAnswer(Struct):
    """The state of the service."""

    version: str
    index: IndexStatus
    compare: IndexStatus | None
    writable: bool
    uptime_seconds: float
    limits: LimitsMessage


class HealthAnswer(Struct):
    """Whether the process lives (it answers) and whether it can search."""

    live: bool
    ready: bool


class ErrorDetail(Struct):
    """What went wrong."""

    code: str
    message: str
    request_id: str


class ErrorAnswer(Struct):
    """Every answer that is not a success."""

    error: ErrorDetail
