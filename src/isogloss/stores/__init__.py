"""Engines that keep documents and their vectors: PostgreSQL, Qdrant."""
