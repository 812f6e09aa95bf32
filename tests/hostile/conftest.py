"""The small index and the service on it, as in the tests of the server."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")

from tests.server.conftest import client, index, made_index, serving

__all__ = ["client", "index", "made_index", "serving"]
