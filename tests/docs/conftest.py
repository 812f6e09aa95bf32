"""The pages are for readers who have installed the starter tables."""

import pytest


@pytest.fixture(autouse=True)
def with_starter(monkeypatch):
    """The installed tables are there, which other tests of the session hide."""
    monkeypatch.setattr("isogloss.translation.starter._PACKAGE", "isogloss_starter")
