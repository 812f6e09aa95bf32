"""Engines that keep documents and their vectors: the house's own files, PostgreSQL, Qdrant, shards on a cluster."""
