"""Translators that a user names: tiny models of CTranslate2 that the tests make themselves, Apertium's stand-in."""

import json
import stat

import numpy as np
import pytest

from isogloss.storage.errors import InputError
from isogloss.translation.machine import checked_translator, open_machine_translator

ctranslate2 = pytest.importorskip("ctranslate2")
sentencepiece = pytest.importorskip("sentencepiece")

from ctranslate2.specs import TransformerSpec

WORDS = ["la", "mer", "le", "sel", "the", "sea", "salt"]


@pytest.fixture(scope="module")
def subwords(tmp_path_factory):
    """A small model of SentencePiece, and its subwords."""
    folder = tmp_path_factory.mktemp("subwords")
    text = folder / "text.txt"
    text.write_text("la mer est salée\nle sel de la mer\nthe sea is salty\nsalt of the sea\n" * 20, encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "spm"), vocab_size=40, minloglevel=2, hard_vocab_limit=False
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
    return folder / "spm.model", [model.id_to_piece(number) for number in range(model.get_piece_size())]


def write_model(folder, words, **config):
    """A transformer of random weights: it says something, always the same."""
    vocabulary = ["<unk>", "<s>", "</s>", *(word for word in words if word not in ("<unk>", "<s>", "</s>"))]
    made, rng, size = TransformerSpec.from_config(1, 2), np.random.default_rng(0), 8
    made.config.add_source_eos = config.pop("add_source_eos", False)

    def attention(layer, joined):
        layer.layer_norm.gamma, layer.layer_norm.beta = np.ones(size, "f4"), np.zeros(size, "f4")
        for linear, width in zip(layer.linear, joined, strict=True):
            linear.weight = rng.normal(size=(width * size, size)).astype("f4")
            linear.bias = np.zeros(width * size, "f4")

    def feed_forward(layer):
        layer.layer_norm.gamma, layer.layer_norm.beta = np.ones(size, "f4"), np.zeros(size, "f4")
        for linear in (layer.linear_0, layer.linear_1):
            linear.weight, linear.bias = rng.normal(size=(size, size)).astype("f4"), np.zeros(size, "f4")

    for side in (made.encoder, made.decoder):
        embeddings = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        embeddings.weight = rng.normal(size=(len(vocabulary), size)).astype("f4")
        side.layer_norm.gamma, side.layer_norm.beta = np.ones(size, "f4"), np.zeros(size, "f4")
        for layer in side.layer:
            attention(layer.self_attention, (3, 1))
            feed_forward(layer.ffn)
            if side is made.decoder:
                attention(layer.attention, (1, 2, 1))
    made.decoder.projection.weight = rng.normal(size=(len(vocabulary), size)).astype("f4")
    made.decoder.projection.bias = np.zeros(len(vocabulary), "f4")
    made.register_source_vocabulary(vocabulary)
    made.register_target_vocabulary(vocabulary)
    made.validate()
    folder.mkdir(parents=True)
    made.save(str(folder))
    return folder


def test_a_directory_of_ctranslate2_translates_each_sentence(tmp_path):
    folder = write_model(tmp_path / "fr-en", WORDS)
    made = open_machine_translator(f"ctranslate2:{tmp_path}/{{source}}-{{target}}", "fr", "en")
    assert made.name == "CTranslate2 fr-en"
    alone, both, empty = made.translate(["la mer", "la mer! le sel", "  "])
    model = ctranslate2.Translator(str(folder), device="cpu")

    def said(words):
        found = model.translate_batch([words], beam_size=2, max_decoding_length=256)[0].hypotheses[0]
        return " ".join(found)

    assert alone == said(["la", "mer"])
    assert both == f"{said(['la', 'mer!'])} {said(['le', 'sel'])}"
    assert empty == ""


@pytest.mark.parametrize("adds_end", [False, True])
def test_a_model_with_files_of_sentencepiece_is_given_subwords(tmp_path, subwords, adds_end):
    file, pieces = subwords
    folder = write_model(tmp_path / "opus", pieces, add_source_eos=adds_end)
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(file.read_bytes())
    (made,) = open_machine_translator(f"ctranslate2:{folder}", "fr", "en").translate(["la mer"])
    model = sentencepiece.SentencePieceProcessor(model_file=str(file))
    tokens = [*model.encode("la mer", out_type=str), *([] if adds_end else ["</s>"])]
    translator = ctranslate2.Translator(str(folder), device="cpu")
    found = translator.translate_batch([tokens], beam_size=2, max_decoding_length=256)[0].hypotheses[0]
    assert made == " ".join(model.decode(found).split())


def test_a_package_of_argos_says_its_languages(tmp_path, subwords):
    file, pieces = subwords
    write_model(tmp_path / "package" / "model", pieces)
    (tmp_path / "package" / "sentencepiece.model").write_bytes(file.read_bytes())
    (tmp_path / "package" / "metadata.json").write_text(json.dumps({"from_code": "fr", "to_code": "en"}))
    made = open_machine_translator(f"argos:{tmp_path}/package", "fr", "en")
    assert made.name == "Argos fr-en"
    assert len(made.translate(["la mer est salée", "le sel"])) == 2
    with pytest.raises(InputError, match="translates fr to en, not it to en"):
        open_machine_translator(f"argos:{tmp_path}/package", "it", "en")


def test_what_is_no_model_is_an_error_with_a_way_out(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "model.bin").write_bytes(b"nothing")
    for spec, why in (
        (f"ctranslate2:{tmp_path}", "has no model.bin"),
        (f"ctranslate2:{tmp_path / 'bad'}", "cannot be loaded"),
        (f"argos:{tmp_path}", "metadata.json"),
    ):
        with pytest.raises(InputError, match=why):
            open_machine_translator(spec, "fr", "en")


def test_apertium_translates_for_readers_and_keeps_nothing(tmp_path, monkeypatch):
    command = tmp_path / "bin" / "apertium"
    command.parent.mkdir()
    command.write_text('#!/bin/sh\nif [ "$1" = -l ]; then echo fra-eng; exit; fi\nexec tr a-z A-Z\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = open_machine_translator("apertium", "fr", "en")
    assert (made.name, made.translate(["la mer", "le sel"])) == ("Apertium fra-eng", ["LA MER", "LE SEL"])
    assert not (tmp_path / "cache").exists()
    open_machine_translator.cache_clear()


@pytest.mark.parametrize("spec", ["google", "ctranslate2:", "argos", "http", "file:x"])
def test_another_name_is_an_error_that_lists_what_there_is(spec):
    with pytest.raises(InputError, match="is none of apertium"):
        checked_translator(spec)


def test_the_environment_names_a_translator_where_no_option_does(monkeypatch):
    monkeypatch.setenv("ISOGLOSS_TRANSLATOR", " apertium ")
    assert checked_translator(None) == "apertium"
    assert checked_translator("") == ""
    monkeypatch.delenv("ISOGLOSS_TRANSLATOR")
    assert checked_translator(None) == ""
