"""A writer that is killed loses nothing that it has acknowledged, and readers never notice."""

import multiprocessing

import pytest
from tests.hostile.crashing import crash


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_writer_killed_at_many_moments_loses_nothing(tmp_path):
    commits, documents = crash(tmp_path / "index", kills=10)
    assert commits > 10
    assert documents > 0
