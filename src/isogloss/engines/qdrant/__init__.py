"""Qdrant as an engine: in this process (a folder), or a server."""

from isogloss.engines.qdrant.engine import QdrantEngine

__all__ = ["QdrantEngine"]
