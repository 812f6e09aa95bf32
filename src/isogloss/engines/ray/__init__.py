"""Batch work on a Ray cluster: indexing documents, aligning words."""
