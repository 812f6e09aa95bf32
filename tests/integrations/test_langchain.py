"""The retriever in LangChain itself."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from isogloss import Document, Index, InputError

pytest.importorskip("langchain_core")

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import ValidationError

from isogloss.integrations.langchain import IsoglossRetriever

WORDS = {"honey": "miel", "bees": "abejas", "lava": "lava"}


@pytest.fixture(scope="module")
def index():
    documents = [
        Document("a", "Las abejas hacen miel. " + "Nada. " * 200, title="Abejas", url="https://example.org/a"),
        Document("b", "El volcán arroja lava.", fields={"kind": "stone"}),
        Document("c", "La miel es dulce."),
    ]
    return Index.make(documents, "es", system="psq", lexicon=WORDS)


def test_documents_come_with_their_text_and_what_is_known_of_them(index):
    first, second = IsoglossRetriever(index=index, k=2).invoke("honey of bees")
    assert (first.id, first.metadata["source"], first.metadata["title"]) == ("a", "https://example.org/a", "Abejas")
    assert first.page_content == index.get("a").text
    assert first.metadata["language"] == "es"
    assert second.metadata["source"] == "c"


def test_only_what_is_wanted_is_retrieved(index):
    assert IsoglossRetriever(index=index, filters={"kind": "stone"}).invoke("honey lava")[0].id == "b"
    (short,) = IsoglossRetriever(index=index, snippets=True).invoke("bees")
    assert "abejas" in short.page_content
    assert len(short.page_content) < len(index.get("a").text) / 2
    with pytest.raises(ValidationError):
        IsoglossRetriever(index=index, k=0)


def test_batches_and_asynchronous_calls_find_the_same(index):
    retriever = IsoglossRetriever(index=index)
    queries = ["honey", "lava", " "]
    alone = [retriever.invoke(query) for query in queries]
    assert retriever.batch(queries) == alone
    with ThreadPoolExecutor(1) as thread:  # that of the tests may have a loop that runs: that of a browser
        assert thread.submit(lambda: asyncio.run(retriever.ainvoke("lava"))).result() == alone[1]
    assert alone[2] == []


def test_a_chain_passes_documents_to_a_prompt(index):
    chain = (
        {"context": IsoglossRetriever(index=index, k=1), "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template("{question} {context}")
        | RunnableLambda(lambda prompt: prompt.to_string())
    )
    assert "El volcán arroja lava." in chain.invoke("lava")


def test_without_langchain_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    monkeypatch.delitem(sys.modules, "isogloss.integrations.langchain")
    with pytest.raises(InputError, match=r"pip install 'isogloss\[langchain\]'"):
        import isogloss.integrations.langchain  # noqa: F401
