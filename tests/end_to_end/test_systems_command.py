"""`isogloss systems`: the registry."""

import json

from isogloss.systems.registry import system_names

NAMES = system_names()


def test_the_registry_lists_every_system_with_its_paper(run):
    code, out, err = run("systems")
    assert (code, err) == (0, "")
    assert all(name in out for name in NAMES)
    assert "Pirkola 1998" in out


def test_one_system_shows_its_options_with_defaults_and_meaning(run):
    out = run("systems", "bm25-dict").out
    assert "Pirkola 1998" in out
    for option in ("lexicon", "translations", "structure", "stems", "k1", "b"):
        assert any(line.split()[:1] == [option] for line in out.splitlines()), option


def test_the_registry_as_json(run):
    systems = json.loads(run("systems", "--json", "-").out)
    assert [system["name"] for system in systems] == NAMES
    assert all(set(system) == {"name", "summary", "paper", "options", "paper_grid"} for system in systems)
    options = next(system["options"] for system in systems if system["name"] == "bm25-dict")
    assert {"translations": 10}.items() <= {option["name"]: option["default"] for option in options}.items()


def test_one_system_as_json_is_the_registry_s_entry(run):
    every = json.loads(run("systems", "--json", "-").out)
    assert [json.loads(run("systems", name, "--json", "-").out) for name in NAMES] == every


def test_json_into_a_file_goes_beside_the_table(run, here):
    assert "Pirkola" in run("systems", "--json", "systems.json").out
    assert len(json.loads((here / "systems.json").read_text())) == len(NAMES)
