"""An example of every parameter, body and answer, for the OpenAPI description. Tests decode them all."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from isogloss.server.messages import (
    AddAnswer,
    BatchAnswer,
    BatchRequest,
    DeleteAnswer,
    DocumentMessage,
    DocumentsRequest,
    ErrorAnswer,
    ErrorDetail,
    ExplainAnswer,
    ExplainRequest,
    FoundMessage,
    HealthAnswer,
    HitMessage,
    IndexStatus,
    LimitsMessage,
    Meaning,
    Reason,
    SearchAnswer,
    SearchRequest,
    SnippetPart,
    StatusAnswer,
)

_QUERY = "why is the sea salty"
_REASONS = [Reason("sea", ["mer"], 0.31), Reason("salty", ["salée"], 0.27)]
_MEANINGS = [Meaning("sea", ["mer", "marin"]), Meaning("salty", ["salé"])]
_HIT = HitMessage(
    rank=1, score=0.58, language="fr", id="fr-sea", title="La mer", url="https://example.org/mer",
    fields={"topic": "water"}, relevance="relevant", reranked=False, explanation=_REASONS,
    snippet=[
        SnippetPart("Pourquoi la "), SnippetPart("mer", True), SnippetPart(" est-elle "), SnippetPart("salée", True),
        SnippetPart(" ? Les rivières y apportent du sel."),
    ],
)  # fmt: skip
_BRIEF = HitMessage(1, 0.58, "fr", "fr-sea", "La mer", "", {}, [SnippetPart("La mer est salée.")], None, False)
_DOCUMENT = DocumentMessage(
    "fr-sea", "Pourquoi la mer est-elle salée ? Les rivières y apportent du sel.", "La mer", "fr",
    "https://example.org/mer", ["fr-salt"], {"en": "en-sea"}, {"topic": "water"},
)  # fmt: skip
_STATUS = IndexStatus(
    "my-index", "psq", "en", {"fr": 104, "sw": 104}, 7, {"documents": 208, "deleted": 3, "segments": 2}
)

STRUCTS: dict[type[Struct], Struct] = {
    SearchRequest: SearchRequest(_QUERY, 5, 0, ["fr"], {"topic": "water"}, "en", True),
    BatchRequest: BatchRequest([_QUERY, "how bees make honey"], 3),
    ExplainRequest: ExplainRequest(_QUERY, "fr", "fr-sea"),
    DocumentMessage: _DOCUMENT,
    DocumentsRequest: DocumentsRequest([_DOCUMENT]),
    SearchAnswer: SearchAnswer(
        _QUERY,
        "en",
        "en",
        "",
        ["fr"],
        0,
        True,
        [_HIT],
        [],
        {"fr": _MEANINGS},
        [],
        doubtful=False,
        generation=7,
        milliseconds=3.4,
    ),
    BatchAnswer: BatchAnswer(
        [FoundMessage(_QUERY, [_BRIEF], [], False), FoundMessage("how bees make honey", [], [], False)], 7, 5.1
    ),
    ExplainAnswer: ExplainAnswer(_QUERY, "fr", "fr-sea", "La mer", "psq", 0.58, _REASONS, _MEANINGS, []),
    AddAnswer: AddAnswer(1, 8),
    DeleteAnswer: DeleteAnswer(1, 9),
    StatusAnswer: StatusAnswer(
        "0.1.0", _STATUS, None, True, 86400.0, LimitsMessage(4000, 1000, 10_000, 256, 4 << 20, 10.0)
    ),
    HealthAnswer: HealthAnswer(True, True),
}
PARAMETERS: dict[str, Any] = {
    "q": _QUERY,
    "k": 5,
    "offset": 0,
    "lang": ["fr"],
    "filter": ["topic:water"],
    "query_lang": "en",
    "explain": True,
    "index": "main",
    "language": "fr",
    "id": "fr-sea",
    "reranked": False,
}
METRICS = 'isogloss_requests_total{path="/api/v1/search",method="GET",status="200"} 42\n'


def error_example(status: int, code: str) -> ErrorAnswer:
    """What a refusal looks like."""
    return ErrorAnswer(ErrorDetail(code, _SENTENCES.get(status, "the sentence that says what is wrong"), "5f3a9c01"))


_SENTENCES = {
    400: "the body is not JSON: JSON is malformed: expected ':' (byte 5)",
    401: "writing needs the header 'Authorization: Bearer TOKEN' with the token of this service",
    403: "writing is off: the service was started without a token (--token-file or ISOGLOSS_TOKEN)",
    404: "there is no document 'fr-sea' in 'fr'",
    409: "my-index: is being written by process 4711 (isogloss add my-index)",
    413: "the body is larger than 4194304 bytes",
    422: "k: expected `int` <= 1000",
    503: "more than 64 requests are being worked on; try again in a moment",
    504: "the answer took more than 10 seconds",
}
