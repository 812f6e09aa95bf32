"""The HTTP service and the search page; needs the extra ``serve``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isogloss.storage.errors import import_extra

if TYPE_CHECKING:
    from isogloss.server.running import serve

__all__ = ["serve"]


def check_extra() -> None:
    """Raise an ``InputError`` that names the extra, if it is missing."""
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        import_extra(package, "serve", "the HTTP service")


def __getattr__(name: str) -> Any:
    """Import ``serve`` when it is used."""
    if name != "serve":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_extra()
    from isogloss.server.running import serve

    return serve
