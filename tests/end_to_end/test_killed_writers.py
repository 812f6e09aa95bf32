"""A writer that is killed loses nothing that it has acknowledged, and readers never notice."""

import importlib.util
import multiprocessing
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def crashing():
    spec = importlib.util.spec_from_file_location("crashing", Path(__file__).parent / "crashing.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["crashing"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_writer_killed_at_many_moments_loses_nothing(crashing, tmp_path):
    commits, documents = crashing.crash(tmp_path / "index", kills=10)
    assert commits > 10
    assert documents > 0
