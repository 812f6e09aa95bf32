"""A system that finds its words by leaving them out: explained wherever one asks, and only then."""

import json

import pytest

from isogloss.papers.layerwise.matchers.systems import Dssm
from isogloss.search.searcher import Searcher
from isogloss.systems.base import Contribution

SETTINGS = ("dimension=8", "hidden=8", "outputs=4", "epochs=2", "dev_queries=0", "query_vectors=random",
            "document_vectors=random")  # fmt: skip


@pytest.fixture
def slow(run, tiny, here):
    """An index of the tiny documents by ``dssm``."""
    pytest.importorskip("torch").set_num_threads(1)
    chosen = [each for setting in SETTINGS for each in ("--set", setting)]
    done = run("index", f"wikiclir:{tiny}", "--system", "dssm", "--language", "fr", "-o", "slow", *chosen)
    assert done.code == 0, done.err
    return here / "slow"


@pytest.fixture
def asked(monkeypatch):
    """How often something was explained."""
    rows, explain = [], Dssm.explain

    def counting(self, query, row, text) -> list[Contribution]:
        rows.append(row)
        return explain(self, query, row, text)

    monkeypatch.setattr(Dssm, "explain", counting)
    return rows


def test_the_command_line_explains_on_request(run, slow, asked):
    plain = run("search", slow, "red apples hay", "-k", "3").out
    assert plain.lstrip().startswith("1. ")
    assert asked == []
    shown = run("search", slow, "red apples hay", "-k", "3", "--explain").out
    assert len(asked) == 3
    assert " apples → " in shown
    hits = json.loads(run("search", slow, "red apples hay", "-k", "3", "--json", "-").out)["hits"]
    for hit in hits:
        assert sum(part["score"] for part in hit["explanation"]) == pytest.approx(hit["score"], abs=1e-3)


def test_the_prompt_explains_one_hit(slow, asked, capsys):
    from isogloss.cli.output import console
    from isogloss.cli.prompt import Prompt
    from isogloss.index.reader import open_index

    index = open_index(slow)
    prompt = Prompt(index.manifest, Searcher(index), console(), k=3)
    prompt.take("red apples hay")
    assert asked == []
    prompt.take(":why 2")
    assert len(asked) == 1
    assert " apples → " in capsys.readouterr().out


def test_the_service_explains_on_request(slow, asked):
    pytest.importorskip("fastapi")
    pytest.importorskip("prometheus_client")
    from starlette.testclient import TestClient

    from isogloss.server.app import Settings, make_app

    with TestClient(make_app(Settings(slow, log=False, hosts=None))) as client:
        asked.clear()
        hits = client.get("/api/v1/search", params={"q": "red apples hay"}).json()["hits"]
        assert asked == []
        which = {"q": "red apples hay", "language": "fr", "id": hits[0]["id"]}
        said = client.get("/api/v1/explain", params=which).json()
        assert len(asked) == 1
        assert said["score"] == pytest.approx(hits[0]["score"], abs=1e-3)
        assert any(part["document_words"] for part in said["explanation"])
        hits = client.get("/api/v1/search", params={"q": "red apples hay", "explain": True}).json()["hits"]
        assert all(hit["explanation"] for hit in hits)
