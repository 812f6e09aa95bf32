"""The commands of the guide on a cluster: an index made on Ray."""

import json

import pytest

from isogloss.cli.main import main
from isogloss.cli.options import wants_ray
from isogloss.engines.ray import mapping
from isogloss.translation import word_alignment

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


@pytest.mark.parametrize("system", ["aligned", "bridge"])
def test_an_index_made_on_ray_finds_what_a_plain_one_finds(run, hits, tmp_path, monkeypatch, system):
    made = ["index", "demo", "--system", system, "--language", "fr", "-o"]
    assert wants_ray(None)  # the cluster of these tests is named in the environment
    run(*made, "on-ray", "--on", "ray")
    monkeypatch.delenv("RAY_ADDRESS")
    run(*made, "plain")
    for query in QUERIES:
        wanted = hits("plain", query)
        assert wanted
        assert hits("on-ray", query) == wanted
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_what_is_not_trained_by_epochs_aligns_its_words_on_ray(run, tmp_path, monkeypatch):
    map_on_ray, calls = mapping.map_on_ray, []
    monkeypatch.setattr(mapping, "map_on_ray", lambda *arguments: calls.append(1) or map_on_ray(*arguments))
    monkeypatch.setattr(word_alignment, "_BLOCK_MEETINGS", 100_000)
    made = ["train", "bridge", "--data", "demo", "--pair", "en-fr", "-o"]
    run(*made, "on-ray", "--on", "ray")
    monkeypatch.delenv("RAY_ADDRESS")
    run(*made, "plain")
    there, here = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "model").iterdir() if path.suffix != ".md"}
        for name in ("on-ray", "plain")
    )
    assert there == here
    assert calls
