"""``isogloss.server.serve``, the service from Python."""

import pytest

import isogloss.server
from isogloss.server import running


@pytest.fixture
def started(monkeypatch):
    """The settings of services, none of which is run."""
    seen = []

    def start(listener, settings, before):
        seen.append(settings)
        before(None)

    monkeypatch.setattr(running, "serve_on", start)
    return seen


def test_serving_says_where_and_takes_the_token(started, tmp_path):
    addresses = []
    isogloss.server.serve(
        tmp_path, port=0, token="0123456789abcdef", hosts=["Search.example"], announce=addresses.append
    )
    (settings,) = started
    assert (settings.index, settings.token, settings.hosts) == (tmp_path, "0123456789abcdef", {"search.example"})
    assert addresses[0].startswith("http://127.0.0.1:")


def test_a_service_for_others_answers_to_any_name(started, tmp_path, capsys):
    isogloss.server.serve(str(tmp_path), "0.0.0.0", 0)
    assert started[0].hosts is None
    assert capsys.readouterr().out.startswith("http://0.0.0.0:")


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    with pytest.raises(isogloss.InputError, match=r"isogloss\[serve\]"):
        isogloss.server.serve  # noqa: B018
