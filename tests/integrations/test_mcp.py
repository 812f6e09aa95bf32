"""The server as a client of the protocol sees it: the SDK's own client, over standard input and output."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from isogloss import Document, Index

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters, stdio_client

from isogloss.integrations.mcp import make_server

WORDS = {"honey": "miel", "bees": "abejas", "lava": "lava"}
DOCUMENTS = [
    Document("a", "Las abejas hacen miel. " + "Nada. " * 2_000, title="Abejas", url="https://example.org/a"),
    Document("b", "El volcán arroja lava."),
]


def talk(made, conversation):
    """What a client that has connected to a server, or to a command, is told."""

    async def run():
        async with Client(made) as client:
            return await conversation(client)

    with ThreadPoolExecutor(1) as alone:  # the thread of the tests may have a loop that runs: that of a browser
        return alone.submit(anyio.run, run).result()


def called(made, tool, **arguments):
    """The answer to one call: its value, or the text of its error."""

    async def conversation(client):
        answer = await client.call_tool(tool, arguments)
        (text, *_) = [part.text for part in answer.content] or [""]
        return text if answer.is_error else answer.structured_content

    return talk(made, conversation)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("mcp") / "index"
    return Index.make(DOCUMENTS, "es", path=path, system="psq", lexicon=WORDS)


@pytest.fixture(scope="module")
def server(index):
    return make_server(index)


def test_a_command_serves_an_index_over_standard_input_and_output(index):
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "isogloss", "mcp", str(index.path)], env={"PYTHONPATH": ":".join(sys.path)}
    )

    async def conversation(client):
        tools = (await client.list_tools()).tools
        found = await client.call_tool("search", {"query": "honey of bees", "k": 1})
        (hit,) = found.structured_content["result"]
        read = await client.call_tool("read", {"id": hit["id"], "length": 22})
        why = await client.call_tool("explain", {"query": "honey of bees", "id": hit["id"]})
        return tools, client.instructions, hit, read.structured_content, why.structured_content["result"]

    tools, instructions, hit, read, why = talk(stdio_client(command), conversation)
    assert [tool.name for tool in tools] == ["search", "read", "explain"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert "2 documents in es with queries in en" in instructions
    assert (hit["id"], hit["title"], hit["language"]) == ("a", "Abejas", "es")
    assert "abejas hacen miel" in hit["snippet"]
    assert (read["text"], read["end"], read["total"]) == ("Las abejas hacen miel.", 22, len(DOCUMENTS[0].text))
    assert {part["query_word"] for part in why} == {"honey", "bees"}


def test_a_long_document_is_read_in_parts(server):
    text = DOCUMENTS[0].text
    first = called(server, "read", id="a")
    rest = called(server, "read", id="a", begin=first["end"], length=20_000)
    assert first["end"] < len(text)
    assert first["text"] + rest["text"] == text
    assert called(server, "read", id="a", begin=10**9)["text"] == ""


def test_what_is_added_later_is_found(index, server):
    index.add([Document("new", "La lava nueva.")])
    assert {hit["id"] for hit in called(server, "search", query="lava")["result"]} == {"b", "new"}
    index.delete(["new"])
    assert [hit["id"] for hit in called(server, "search", query="lava")["result"]] == ["b"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {"query": "x" * 2_001}, "query"),
        ("search", {"query": ""}, "query"),
        ("search", {"query": "honey", "k": 51}, "k"),
        ("search", {"query": "honey", "k": 0}, "k"),
        ("search", {"query": "honey", "language": "fr"}, "language: 'fr' is not in this index; it has es"),
        ("search", {"query": "honey", "query_language": "de"}, "query language: 'de' is not a language"),
        ("search", {}, "query"),
        ("read", {"id": "nobody"}, "id: 'nobody' is not in this index; take one from a hit of search"),
        ("read", {"id": "a", "begin": -1}, "begin"),
        ("read", {"id": "a", "length": 20_001}, "length"),
        ("explain", {"query": "honey", "id": "nobody"}, "id: 'nobody' is not in this index"),
    ],
)
def test_a_wrong_argument_is_named(server, tool, arguments, message):
    answer = called(server, tool, **arguments)
    assert isinstance(answer, str)
    assert message in answer


def test_answers_are_plain_json(server):
    assert json.loads(json.dumps(called(server, "search", query="honey")))["result"]
