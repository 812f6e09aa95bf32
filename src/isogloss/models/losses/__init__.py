"""Losses over a relevance score and an ordered grade, one a file, the equation in the docstring."""
