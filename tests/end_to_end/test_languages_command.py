"""`isogloss languages`: what is at hand, and what can be installed."""

import json

import pytest

NOT_FOUND = {"isogloss.systems.lexicons.starter_file": lambda language: None,
             "isogloss.systems.languages.starter_languages": lambda: [],
             "isogloss.translation.dictionaries._SYSTEM_FOLDERS": (),
             "isogloss.systems.languages.find_spec": lambda name: None}  # fmt: skip


@pytest.fixture
def bare(monkeypatch):
    """A machine without a starter table, a dictionary or an encoder."""
    monkeypatch.delenv("ISOGLOSS_DICTIONARIES", raising=False)
    for name, value in NOT_FOUND.items():
        monkeypatch.setattr(name, value)


@pytest.fixture
def dictionaries(here):
    folder = here / "dictionaries"
    folder.mkdir()
    (folder / "en-de.txt").write_text("cat Katze\ndog Hund\n")
    (folder / "fr-en.tsv").write_text("chat\tcat\n")
    return folder


def test_the_table_has_every_language_and_what_is_found(run, bare, dictionaries):
    code, out, err = run("languages", "--dictionaries", dictionaries)
    assert (code, err) == (0, "more about one: isogloss languages LANG\n")
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert {"ar", "de", "fi", "ja", "ko", "sw", "vi", "zh"} <= set(rows)
    assert "word pairs, 2 lines" in rows["de"]
    assert "word pairs, 1 line" in rows["fr"]
    assert "by ICU" in rows["zh"]
    assert "en" not in rows


def test_one_language_tells_what_can_be_installed(run, bare):
    out = run("languages", "de").out
    assert out.startswith("de (German) documents, en queries")
    for command in ("isogloss-starter", "dict-freedict-eng-deu", "'isogloss[pretrained]'"):
        assert f"install {command}" in out
    assert "apt" not in run("languages", "ko").out  # Debian has no dictionary of Korean
    assert "pretrained" not in run("languages", "sw").out  # the encoder does not know Swahili


def test_one_language_as_json(run, bare, dictionaries):
    command = ("languages", "fr", "--dictionaries", dictionaries, "--json", "-")
    found = json.loads(run(*command).out)
    (dictionary,) = found["dictionaries"]
    path = dictionaries / "fr-en.tsv"
    assert dictionary == {
        "path": str(path), "lexicon": f"reversed:{path}", "kind": "word pairs", "entries": 1, "reverse": True,
    }  # fmt: skip
    assert (found["language"], found["name"], found["stems"], found["segmented"]) == ("fr", "French", "Snowball", False)
    assert (found["encoder"], found["encoder_installed"], found["starter"]) == (True, False, {})
    every = json.loads(run("languages", "--dictionaries", dictionaries, "--json", "-").out)
    assert found in every


def test_wrong_arguments_are_one_line(fails):
    assert "no such folder" in fails("languages", "--dictionaries", "missing")
    assert "name another LANG" in fails("languages", "en")
    assert "not a language code" in fails("languages", "../fr")
