"""Joining a cluster: what is said when there is none, and who leaves it when."""

import os
import socket
import sys

import pytest

from isogloss.cli.options import wants_ray
from isogloss.engines.ray.cluster import check_versions, connected, versions
from isogloss.storage.errors import InputError, MissingExtraError


def test_ray_is_wanted_by_the_flag_or_by_its_own_variable(monkeypatch):
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert wants_ray("ray")
    assert not wants_ray(None)
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert wants_ray(None)


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    for ask in (connected().__enter__, lambda: wants_ray("ray")):
        with pytest.raises(MissingExtraError, match=r"pip install 'isogloss\[ray\]'"):
            ask()
    assert not wants_ray(None)


def test_an_address_where_nobody_listens_is_an_error(monkeypatch):
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(InputError, match=f"RAY_ADDRESS: no cluster could be joined at '{address}'.*ray start --head"):
        connected().__enter__()


def test_whoever_joins_later_does_not_leave_for_the_others(cluster):
    import ray

    before = os.environ["RAY_ADDRESS"]
    with connected() as address:
        assert address == before == cluster.address
    assert ray.is_initialized()
    assert os.environ["RAY_ADDRESS"] == before


def test_a_node_with_another_version_is_named(monkeypatch):
    monkeypatch.setattr("isogloss.engines.ray.cluster.node_name", lambda: "10.0.0.7")
    check_versions(versions())
    with pytest.raises(InputError, match=r"the node 10\.0\.0\.7 has isogloss .*, this command 0\.0; install the same"):
        check_versions({"isogloss": "0.0"})
