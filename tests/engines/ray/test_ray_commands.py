"""The commands of the guide on a cluster: an index made on Ray."""

import json

import pytest

from isogloss.cli.main import main
from isogloss.cli.options import wants_ray

pytest.importorskip("ray", reason="the extra 'ray' is not installed")

QUERIES = ["how do volcanoes erupt", "why is the sea salty"]


@pytest.fixture
def run(cluster, tmp_path, monkeypatch):
    """Run a command in an empty folder; its exit status is 0."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        assert main([*arguments, "--quiet"]) == 0

    return command


@pytest.fixture
def hits(run, tmp_path):
    """What a search finds: ids and scores."""

    def found(index, query, *arguments):
        run("search", index, query, *arguments, "--json", "found.json", "--overwrite")
        said = json.loads((tmp_path / "found.json").read_text())
        return [(hit["id"], hit["score"]) for hit in said["hits"]]

    return found


def test_an_index_made_on_ray_finds_what_a_plain_one_finds(run, hits, tmp_path, monkeypatch):
    made = ["index", "demo", "--system", "aligned", "--language", "fr", "-o"]
    assert wants_ray(None)  # the cluster of these tests is named in the environment
    run(*made, "on-ray", "--on", "ray")
    monkeypatch.delenv("RAY_ADDRESS")
    run(*made, "plain")
    for query in QUERIES:
        wanted = hits("plain", query)
        assert len(wanted) == 10
        assert hits("on-ray", query) == wanted
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_what_makes_no_vectors_is_indexed_here(run, hits, caplog):
    run("index", "demo", "--system", "bm25", "--language", "fr", "-o", "words", "--on", "ray")
    assert hits("words", "miel")
    assert "bm25 makes no vectors: its documents are indexed here, not on Ray" in caplog.text
