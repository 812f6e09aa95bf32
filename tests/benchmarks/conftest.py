"""Benchmarks of the layer-wise paper's matchers are tested on the questions that its own tests use."""

from tests.papers.conftest import source, torch

__all__ = ["source", "torch"]
