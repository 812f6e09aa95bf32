"""Models of others in an index: documents are encoded once, and the index alone does not make anybody load a model."""

import json

import numpy as np
import pytest

import isogloss
from isogloss.cli.main import main
from isogloss.encoders import approvals as naming
from isogloss.encoders.onnx import OnnxEncoder
from isogloss.encoders.static import StaticEncoder
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError
from isogloss.systems.registry import as_settings, make_system

PAGES = {"bees": "Les abeilles font du miel.", "sea": "La mer est salée.", "rocks": "Le sel des roches va à la mer."}
LEXICON = {"bees": "abeilles", "honey": "miel", "sea": "mer", "salt": "sel"}


@pytest.fixture
def pages(tmp_path):
    """The documents as a file."""
    lines = [json.dumps({"id": id_, "text": text, "lang": "fr"}) for id_, text in PAGES.items()]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "pages.jsonl")


@pytest.fixture
def encoded(monkeypatch):
    """The documents that a model is given."""
    given = []
    for library in (OnnxEncoder, StaticEncoder):

        def encode(self, texts, is_query, own=library.encode):
            given.extend([] if is_query else [text for text in texts if text != "a"])
            return own(self, texts, is_query)

        monkeypatch.setattr(library, "encode", encode)
    return given


@pytest.mark.parametrize("name", ["onnx", "static"])
def test_documents_are_encoded_once(folder, remembered, pages, encoded, name):
    """By making an index, making it again, adding what is there and something new, and encoding it anew."""
    settings = ["--set", f"pretrained={folder / name}", "--set", "passages=0"]
    index = str(remembered / "index")
    assert main(["index", pages, "--system", "pretrained", *settings, "-o", index]) == 0
    assert sorted(encoded) == sorted(PAGES.values())
    opened = isogloss.Index.open(index)
    before = {hit.document.id: hit.score for hit in opened.search("bees", explain=False)}
    assert main(["index", pages, "--system", "pretrained", *settings, "-o", index, "--overwrite"]) == 0
    assert main(["add", index, pages]) == 0
    assert main(["re-encode", index, "--system", "pretrained", *settings]) == 0
    assert len(encoded) == len(PAGES)
    opened.refresh().add([{"id": "new", "text": "Du miel."}], "fr")
    assert encoded[len(PAGES) :] == ["Du miel."]
    after = {hit.document.id: hit.score for hit in opened.search("bees", explain=False)}
    assert {id_: after[id_] for id_ in before} == pytest.approx(before, abs=1e-3)


@pytest.mark.parametrize("system", ["pretrained", "bridge", "hybrid"])
def test_an_index_does_not_load_a_model_that_its_reader_has_not_named(folder, remembered, monkeypatch, system):
    options = {"pretrained": folder / "static"}
    if system == "hybrid":
        options = {"dense": "pretrained", "dense_options": f"pretrained={folder / 'static'}", "lexical": "psq"}
    own = {} if system == "pretrained" else {"lexicon": LEXICON}
    documents = [{"id": id_, "text": text} for id_, text in PAGES.items()]
    path = remembered / "index"
    made = isogloss.Index.make(documents, "fr", path=path, system=system, **own, **options)
    expected = [(hit.document.id, hit.score) for hit in made.search("honey bees", explain=False)]
    assert expected
    monkeypatch.setenv("XDG_STATE_HOME", str(remembered / "of somebody else"))
    monkeypatch.setattr(naming, "_named", set())
    opened = Searcher(open_index(path))  # which lists and deletes documents without the model
    with pytest.raises(InputError, match=r"you have not named on this machine; .*ISOGLOSS_PRETRAINED=PATH_OR_NAME"):
        opened.search("honey bees", explain=False)
    monkeypatch.setenv("ISOGLOSS_PRETRAINED", str(folder / "static"))
    assert [(hit.document.id, hit.score) for hit in opened.search("honey bees", explain=False)] == expected
    monkeypatch.setenv("ISOGLOSS_PRETRAINED", str(folder / "onnx"))
    with pytest.raises(InputError, match="is not the model that has encoded these documents"):
        Searcher(open_index(path)).search("sea", explain=False)


@pytest.mark.parametrize("value", ["/etc", "nobody/nothing", "\0", "../x", True, 7])
def test_a_forged_name_loads_and_fetches_nothing(folder, remembered, value):
    """Neither does a forged ``download``."""
    path = remembered / "index"
    isogloss.Index.make(["La mer."], "fr", path=path, system="pretrained", pretrained=folder / "static")
    content = json.loads((path / "index.json").read_text())
    assert "download" not in content["options"]
    content["options"] |= {"pretrained": value, "download": True}
    settings = as_settings(content["options"])
    system = make_system("pretrained", ("en", "fr"), settings)
    with pytest.raises(InputError, match="you have not named on this machine"):
        system.index_texts(["La mer."])


def test_bridge_has_the_cosine_as_a_feature(folder, remembered):
    documents = [{"id": id_, "text": text} for id_, text in PAGES.items()]
    plain, with_it = (
        isogloss.Index.make(documents, "fr", lexicon=LEXICON, **options)
        for options in ({}, {"pretrained": folder / "onnx" / "onnx" / "model.onnx"})
    )
    lines = [{line.query_word for line in index.explain("honey bees", "bees")} for index in (plain, with_it)]
    assert lines[1] - lines[0] == {"(pretrained)"}
    assert with_it.search("honey bees", explain=False)[0].document.id == "bees"


def test_an_explanation_encodes_the_query_once_for_all_hits(folder, remembered, monkeypatch):
    """Its parts are the same for each hit; the words of a document are left out only when it is explained."""
    given, encode = [], StaticEncoder.encode

    def count(self, texts, is_query):
        given.extend(texts if is_query else [])
        return encode(self, texts, is_query)

    monkeypatch.setattr(StaticEncoder, "encode", count)
    index = isogloss.Index.make(
        list(PAGES.values()), "fr", system="pretrained", pretrained=folder / "static", passages=0
    )
    index.search("honey made by bees", explain=False)
    assert given.count("honey made by bees") == 1
    hits = index.search("honey made by bees", explain=True)
    assert len(hits) == len(PAGES) and len(given) == len({*given})
    for hit in hits:
        assert sum(line.score for line in hit.explanation) == pytest.approx(hit.score, abs=1e-3)
    assert np.isfinite([hit.score for hit in hits]).all()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--set", "pretrained=nowhere/nothing"], "--set download=true"),
        (["--set", "pretrained=./nowhere"], "neither a folder nor an .onnx file"),
        (["--set", "pretrained={cross}"], "is a cross-encoder, which makes no vectors"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(folder, remembered, pages, capsys, arguments, complaint):
    arguments = [each.replace("{cross}", str(folder / "cross")) for each in arguments]
    before = {path for path in remembered.iterdir() if path.name not in ("state", "cache")}
    assert main(["index", pages, "--system", "pretrained", *arguments, "-o", str(remembered / "index")]) == 2
    error = capsys.readouterr().err
    assert complaint in error and len(error.splitlines()) == 1
    assert {path for path in remembered.iterdir() if path.name not in ("state", "cache")} == before


def test_a_command_reranks_by_a_cross_encoder(folder, remembered, pages, capsys):
    index, setting = str(remembered / "index"), f"pretrained={folder / 'static'}"
    assert main(["index", pages, "--system", "pretrained", "--set", setting, "-o", index]) == 0
    capsys.readouterr()
    assert main(["search", index, "bees", "--rerank", str(folder / "cross-onnx"), "--json", "-"]) == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert len(hits) == len(PAGES) and all(0 < hit["score"] < 1 for hit in hits)
