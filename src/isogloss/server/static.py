"""The files of the page, held in memory: what is not among them does not exist, so no path can lead elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from isogloss.server.errors import Refusal

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/vnd.microsoft.icon",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
PAGE = Path(__file__).parent / "page"


@dataclass(frozen=True)
class PageFile:
    """A file of the page as it is sent."""

    content: bytes
    media_type: str
    etag: str


def read_page(folder: Path) -> dict[str, PageFile]:
    """The files of a folder by their addresses; ``index.html`` is also ``/``."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in _TYPES and path.is_file():
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            files[f"/{path.relative_to(folder).as_posix()}"] = PageFile(content, _TYPES[path.suffix], etag)
    if "/index.html" in files:
        files["/"] = files["/index.html"]
    return files


def page_response(files: Mapping[str, PageFile], request: Request) -> Response:
    """A file of the page; browsers ask each time whether theirs is still the newest."""
    path = request.scope["path"]
    if path not in files:
        raise Refusal(404, "there is nothing here; the page is at / and the service under /api/v1")
    file = files[path]
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if file.etag in known:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media_type)
