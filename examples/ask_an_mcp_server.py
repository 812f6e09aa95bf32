"""Search an index as an assistant does: by the tools of ``isogloss mcp``. Needs ``pip install 'isogloss[mcp]'``."""

import os
import sys
from tempfile import TemporaryDirectory

import anyio
from mcp import Client, StdioServerParameters, stdio_client

from isogloss import Index


async def ask(path: str) -> None:
    command = [sys.executable, "-m", "isogloss", "mcp", path]
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        found = await client.call_tool("search", {"query": "how do bees make honey?", "k": 2})
        hits = found.structured_content["result"]
        for hit in hits:
            print(hit["id"], hit["snippet"], sep=": ")
        page = await client.call_tool("read", {"id": hits[0]["id"], "length": 60})
        print(page.structured_content["text"])


with TemporaryDirectory() as folder:
    Index.make("demo", "fr", path=f"{folder}/index", system="psq").close()
    anyio.run(ask, f"{folder}/index")
