"""What the tests of the papers share."""

import pytest


@pytest.fixture
def source(questions):
    """Where the questions are, as the command line names it."""
    return f"wikiclir:{questions}"


@pytest.fixture
def torch():
    """The package, on one thread."""
    found = pytest.importorskip("torch")
    found.set_num_threads(1)
    return found
