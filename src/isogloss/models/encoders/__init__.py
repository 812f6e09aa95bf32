"""Texts to vectors, one way a module."""
