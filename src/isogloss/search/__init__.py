"""Searching an index: candidates of all languages, re-ranking, snippets, explanations, hits."""
