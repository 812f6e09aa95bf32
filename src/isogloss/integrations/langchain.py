"""A LangChain retriever: ``IsoglossRetriever(index=isogloss.Index.open("my-index"))``."""

from __future__ import annotations

from isogloss.search.hits import Hit
from isogloss.search.public import Filters, Index
from isogloss.storage.errors import import_extra

import_extra("langchain_core", "langchain", "a LangChain retriever")

from langchain_core.callbacks import CallbackManagerForRetrieverRun  # noqa: E402
from langchain_core.documents import Document  # noqa: E402
from langchain_core.retrievers import BaseRetriever  # noqa: E402
from pydantic import ConfigDict, Field  # noqa: E402


class IsoglossRetriever(BaseRetriever):
    """Retrieves the ``k`` best documents of an index for a query in another language.

    The content of a document is its whole text, or, with ``snippets``, the part around the words that match. The
    metadata are those of :meth:`isogloss.Hit.to_dict`, with the address or the id of the document as ``source``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: Index
    k: int = Field(default=5, ge=1)
    languages: list[str] | None = None
    filters: Filters | None = None
    query_language: str | None = None
    snippets: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        hits = self.index.search(query, self.k, self.languages, self.filters, query_language=self.query_language)
        return [self._document(hit) for hit in hits]

    def _document(self, hit: Hit) -> Document:
        metadata = {"source": hit.document.url or hit.id, **hit.to_dict()}
        return Document(id=hit.id, page_content=hit.snippet if self.snippets else hit.text, metadata=metadata)
