"""Scores of pairs of texts."""
