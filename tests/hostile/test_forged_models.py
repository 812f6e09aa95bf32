"""A stranger's model: it runs nothing, reads nothing outside its folder, and what is odd in it is a sentence."""

import json
import random
import shutil
import struct

import pytest
from tests.engines.inputs import few_pages
from tests.hostile.forging import COUNT, forged

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.index.making import make_index
from isogloss.search.reranking import load_reranker
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.model import BridgeModel
from isogloss.systems.registry import make_system
from isogloss.systems.trainable import load_model, save_model

SETTINGS = {"epochs": "1", "dimension": "4", "query_vectors": "random", "document_vectors": "random"}


def trained(name, folder, **settings):
    system = make_system(name, ("en", "fr"), {**SETTINGS, **settings}, bare=True)
    system.fit(load_dataset(Demo(), ("en", "fr")))
    save_model(system, folder, {})
    return folder


@pytest.fixture(scope="module")
def smooth(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    system = make_system("smooth", ("en", "fr"), {"epochs": "1", "dimension": "4"}, bare=True)
    system.fit(load_dataset(Demo(), ("en", "fr")))
    save_model(system, folder / "smooth", {})
    return folder / "smooth"


@pytest.fixture(scope="module")
def translating(tmp_path_factory):
    """A model that translates queries by a lexicon of its own."""
    pytest.importorskip("torch")
    folder, lexicon = tmp_path_factory.mktemp("models"), str(Demo().lexicon(("en", "fr")))
    return trained("cntn-mt", folder / "cntn-mt", lexicon=lexicon)


def used(model):
    return load_reranker(model).score("honey bees", ["le miel des abeilles", "la mer"])


def change_config(model, **changes):
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, **changes}))


def changed_bytes(content, rng):
    """A file that is cut off, or in which some bytes are others: mostly in its header."""
    content, how = bytearray(content), rng.choice(["cut", "flip", "length", "number"])
    if how == "cut" or not content:
        return content[: rng.randrange(len(content) + 1)]
    if how == "flip":
        content[rng.randrange(len(content))] ^= 255
    elif how == "length":
        content[:8] = struct.pack("<Q", rng.choice([0, 2**63, 2**40, 2 * len(content)]))
    else:
        start = rng.randrange(min(len(content), 400))
        content[start : start + 4] = b"\xff\xff\xff\x7f"
    return content


def test_forged_models_are_sentences(smooth, request, tmp_path):
    rng, outcomes = random.Random(0), {"refused": 0, "used": 0}
    models = [smooth, *([request.getfixturevalue("translating")] if COUNT else [])]
    for number in range(80 + COUNT):
        model = tmp_path / f"{number}"
        shutil.copytree(rng.choice(models), model)
        if rng.random() < 0.5:
            config = json.loads((model / "config.json").read_text())
            (model / "config.json").write_text(json.dumps(forged(config, rng)))
        else:
            path = rng.choice(sorted(path for path in model.iterdir() if path.suffix in (".npy", ".safetensors")))
            path.write_bytes(changed_bytes(path.read_bytes(), rng))
        try:
            used(model)
            outcomes["used"] += 1
        except InputError as error:
            assert "\n" not in str(error)
            outcomes["refused"] += 1
        shutil.rmtree(model)
    assert outcomes["refused"] > outcomes["used"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "config",
    [
        {"system": "bm25", "options": {}},
        {"system": "os:system", "options": {}},
        {"system": "../../papers/smooth", "options": {}},
        {"system": "hybrid", "options": {"dense": "/etc"}},
        {"options": {"dimension": 10**12}},
        {"options": {"query_vectors": "/etc/passwd", "unknown": "x"}},
        {"query_language": "../../etc"},
        {"format": 2},
    ],
)
def test_a_model_that_says_it_is_another_is_a_sentence(smooth, config, tmp_path):
    shutil.copytree(smooth, tmp_path / "model")
    change_config(tmp_path / "model", **config)
    if "query_language" in config:  # no more than a name
        load_model(tmp_path / "model")
        return
    with pytest.raises(InputError):
        load_model(tmp_path / "model")


def test_nested_config_is_a_sentence(smooth, tmp_path):
    shutil.copytree(smooth, tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="damaged"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("translator", ["file:{private}", "lexicon:{private}", "lexicon:", "file:/etc/passwd"])
def test_a_model_translates_by_its_own_files_alone(translating, translator, tmp_path):
    (tmp_path / "private").write_text("honey\tmon secret\n")
    shutil.copytree(translating, tmp_path / "model")
    options = json.loads((translating / "config.json").read_text())["options"]
    options |= {"translator": translator.format(private=tmp_path / "private"), "lexicon": str(tmp_path / "private")}
    change_config(tmp_path / "model", options=options)
    if translator.startswith("file:"):
        with pytest.raises(InputError, match=r"translations\.tsv: no such file"):
            used(tmp_path / "model")
    else:
        (line,) = load_model(tmp_path / "model").translations("honey")
        assert "secret" not in str(line)


def test_a_model_of_apertium_runs_apertium_or_nothing(translating, tmp_path, monkeypatch):
    """A mode is one that Apertium lists; no shell sees it."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "apertium"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path / "calls"}\n[ "$1" = -l ] && echo eng-fra\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    shutil.copytree(translating, tmp_path / "model")
    options = json.loads((translating / "config.json").read_text())["options"]
    for mode in ("eng-fra; touch ran", "-d /tmp", "$(touch ran)", "../../x"):
        change_config(tmp_path / "model", options={**options, "translator": f"apertium:{mode}"})
        with pytest.raises(InputError, match="has no mode"):
            used(tmp_path / "model")
    assert {*(tmp_path / "calls").read_text().splitlines()} == {"-l"}


def test_a_model_for_an_index_is_checked_alike(smooth, tmp_path):
    from isogloss.index.making import make_index

    shutil.copytree(smooth, tmp_path / "model")
    change_config(tmp_path / "model", system="os:system")
    with pytest.raises(InputError, match="is not one of"):
        make_index(tmp_path / "index", str(tmp_path / "model"), few_pages(tmp_path), ["fr"])


def test_a_calibration_without_its_numbers_is_damage(tmp_path):
    make_index(tmp_path / "index", "bridge", few_pages(tmp_path), ["fr"])
    (file,) = (tmp_path / "index").rglob("bridge.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    for name, numbers in (("biases", []), ("context", [1.0]), ("context", [])):
        changed = {**content, "calibration": {**content["calibration"], name: numbers}}
        file.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(ValueError, match="calibration"):
            BridgeModel.load(file.parent)
