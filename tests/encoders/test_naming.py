"""An index is input: a model is loaded when its user has named it, and not because a file asks for it."""

import os

import pytest

from isogloss.encoders import approvals as naming
from isogloss.encoders.pretrained_encoder import PretrainedEncoder, with_named_models
from isogloss.storage.errors import InputError


def test_a_model_that_nobody_named_is_not_loaded(folder, remembered):
    encoder = PretrainedEncoder(str(folder / "static"))
    with pytest.raises(InputError, match=r"you have not named on this machine; .*ISOGLOSS_PRETRAINED=PATH_OR_NAME$"):
        encoder.encode_queries(["bees"])


def test_what_was_named_once_is_known_to_later_processes(folder, remembered, monkeypatch):
    named = with_named_models({"pretrained": str(folder / "static"), "passages": "3", "download": "false"})
    assert named == {"pretrained": str(folder / "static"), "passages": "3"}
    monkeypatch.setattr(naming, "_named", set())  # as in another process
    assert PretrainedEncoder(named["pretrained"]).encode_queries(["bees"]).any()


def test_what_cannot_be_remembered_holds_for_this_process(folder, remembered, monkeypatch, caplog):
    (remembered / "state").write_text("a file")
    named = with_named_models({"pretrained": str(folder / "static")})
    assert "cannot be remembered" in caplog.text
    assert PretrainedEncoder(named["pretrained"]).encode_queries(["bees"]).any()


def test_a_relative_path_is_that_of_whoever_named_it(folder, remembered, monkeypatch):
    monkeypatch.chdir(folder)
    named = with_named_models({"pretrained": "static"})
    monkeypatch.chdir(os.sep)
    assert PretrainedEncoder(named["pretrained"]).encode_queries(["bees"]).any()


def test_the_options_of_a_part_of_a_hybrid_name_models_too(folder, remembered, monkeypatch):
    monkeypatch.chdir(folder)
    named = with_named_models({"dense": "pretrained", "dense_options": "pretrained=static;passages=3"})
    assert named["dense_options"] == f"pretrained={folder / 'static'};passages=3"
    assert with_named_models({"dense_options": "nonsense"}) == {"dense_options": "nonsense"}


def test_names_of_packages_and_no_name_are_left_as_they_are(remembered):
    for settings in ({"pretrained": "use"}, {"pretrained": ""}, {"k1": "0.9"}):
        assert with_named_models(settings) == settings
    assert not (remembered / "state").exists()


def test_the_environment_names_a_copy_and_another_model_is_told(folder, changed, remembered, monkeypatch):
    named = with_named_models({"pretrained": str(folder / "static")})["pretrained"]
    written = remembered / "written"
    written.mkdir()
    PretrainedEncoder(named).save(written)
    opened, other = PretrainedEncoder("/where/it/was"), PretrainedEncoder("/where/it/was")
    for encoder in (opened, other):
        encoder.load(written)
    monkeypatch.setenv("ISOGLOSS_PRETRAINED", str(changed("static", {})))
    assert opened.encode_queries(["bees"]).any()
    monkeypatch.setenv("ISOGLOSS_PRETRAINED", str(folder / "onnx"))
    with pytest.raises(InputError, match="is not the model that has encoded these documents; name that one"):
        other.encode_queries(["bees"])
