"""Fixtures of the tiny data."""

from tests.tiny_data import gather, put, read, shared_data, tiny

__all__ = ["gather", "put", "read", "shared_data", "tiny"]
