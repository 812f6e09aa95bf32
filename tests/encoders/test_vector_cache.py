"""Documents are encoded once: vectors are found again by the model and the text."""

import sqlite3
import stat

import numpy as np
import pytest

from isogloss.encoders import pretrained_encoder as module
from isogloss.encoders.pretrained_encoder import PretrainedEncoder, with_named_models
from isogloss.encoders.vector_cache import VectorCache
from isogloss.storage.errors import InputError


@pytest.fixture
def counted(folder, remembered, monkeypatch):
    """An encoder, and all texts that its model was given."""
    encoder = PretrainedEncoder(with_named_models({"pretrained": str(folder / "static")})["pretrained"])
    given, encode = [], encoder.loaded._encoder.encode

    def count(texts, is_query):
        given.extend(texts)
        return encode(texts, is_query)

    monkeypatch.setattr(encoder.loaded._encoder, "encode", count)
    _ = encoder.loaded.dimension
    given.clear()
    return encoder, given


def test_what_was_encoded_is_not_encoded_again(counted, monkeypatch):
    encoder, given = counted
    first = encoder.encode_documents(["bees", "honey", "", "bees"])
    assert sorted(given) == ["bees", "honey"]
    np.testing.assert_array_equal(encoder.encode_documents(["sea", "honey", "bees"])[1:], first[[1, 0]])
    assert sorted(given) == ["bees", "honey", "sea"]
    assert first.shape[1] == 8


def test_parts_of_documents_and_queries_are_kept_in_memory_alone(counted, remembered):
    encoder, given = counted
    for _ in range(2):
        encoder.encode_documents(["bees"], keep=False)
        encoder.encode_queries(["honey"])
    assert given == ["bees", "honey"]
    assert not (remembered / "cache" / "isogloss" / "vectors.sqlite").exists()


def test_many_queries_are_forgotten(counted, monkeypatch):
    encoder, given = counted
    monkeypatch.setattr(module, "_RECENT", 3)
    for query in ("a", "b", "c", "d", "e", "a"):
        encoder.encode_queries([query])
    assert given == ["a", "b", "c", "d", "e", "a"]
    assert len(encoder.loaded._recent[True]) <= 4


def test_an_interrupted_run_goes_on_where_it_was(counted, monkeypatch):
    encoder, given = counted
    monkeypatch.setattr(encoder.loaded._encoder, "batch", 1)
    texts, encode = [f"{number:02} bees" for number in range(20)], encoder.loaded._encoder.encode

    def fail(batch, is_query):
        if batch == ["12 bees"]:
            raise KeyboardInterrupt
        return encode(batch, is_query)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(encoder.loaded._encoder, "encode", fail)
        encoder.encode_documents(texts)
    given.clear()
    encoder.encode_documents(texts)
    assert given == texts[8:]


def test_another_model_has_other_vectors(tmp_path):
    one, other = (VectorCache(name, tmp_path / "v.sqlite", 1) for name in ("one", "other"))
    one.add({"bees": np.ones(3)})
    assert list(one.find(["bees", "sea"])) == ["bees"]
    assert other.find(["bees"]) == {}


def test_the_oldest_make_room(tmp_path):
    cache = VectorCache("model", tmp_path / "v.sqlite", 1)
    for start in range(0, 3000, 100):
        cache.add({f"text {number}": np.full(256, number) for number in range(start, start + 100)})
    assert (tmp_path / "v.sqlite").stat().st_size < 1.3 * 2**20
    found = cache.find([f"text {number}" for number in range(3000)])
    assert 500 < len(found) < 1000
    assert {*found} == {f"text {number}" for number in range(3000 - len(found), 3000)}
    np.testing.assert_array_equal(found["text 2999"], np.full(256, 2999))


def test_nobody_else_reads_it(tmp_path):
    VectorCache("model", tmp_path / "v.sqlite", 1).add({"bees": np.ones(3)})
    assert stat.S_IMODE((tmp_path / "v.sqlite").stat().st_mode) == 0o600


def test_a_file_that_is_no_database_is_made_anew(tmp_path):
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"nonsense" * 1000)
    cache = VectorCache("model", path, 1)
    assert cache.find(["bees"]) == {}
    cache.add({"bees": np.ones(3)})
    assert list(cache.find(["bees"])) == ["bees"]


def test_a_cache_that_cannot_be_used_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    nowhere = VectorCache("model", tmp_path / "file" / "v.sqlite", 1)
    nowhere.add({"bees": np.ones(3)})
    assert nowhere.find(["bees"]) == {}
    monkeypatch.setattr("isogloss.encoders.vector_cache._PATIENCE", 0.01)
    locked = VectorCache("model", tmp_path / "v.sqlite", 1)
    locked.add({"bees": np.ones(3)})
    other = sqlite3.connect(tmp_path / "v.sqlite")
    other.execute("BEGIN EXCLUSIVE")
    locked.add({"sea": np.ones(3)})
    assert locked.find(["bees"]) == {}
    other.close()
    assert list(locked.find(["bees", "sea"])) == ["bees"]


def test_the_environment_sets_the_limit(remembered, monkeypatch):
    monkeypatch.setenv("ISOGLOSS_VECTOR_CACHE", "0")
    cache = VectorCache("model")
    cache.add({"bees": np.ones(3)})
    assert cache.path is None and cache.find(["bees"]) == {}
    monkeypatch.setenv("ISOGLOSS_VECTOR_CACHE", "many")
    with pytest.raises(InputError, match="ISOGLOSS_VECTOR_CACHE: 'many' is not a number of megabytes"):
        VectorCache("model")
