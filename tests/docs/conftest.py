"""The pages are for readers who have installed the starter tables."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_starter():
    """The installed tables are there, if there are any."""
