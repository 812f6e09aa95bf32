"""Many texts at once give what one text after another gives."""

import signal
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage import compiled
from isogloss.text import batches, positions
from isogloss.text.batches import available_cores, tokenize_texts
from isogloss.text.tokenizer import Tokenizer

TOKENIZERS = [
    Tokenizer(), Tokenizer("en", stems=True), Tokenizer("en", drop_stop_words=True),
    Tokenizer("en", stems=True, drop_stop_words=True), Tokenizer("zh", stems=True, drop_stop_words=True),
]  # fmt: skip
TEXTS = [
    "The horses were running",
    "",
    "the the the",
    "我们的学校",
    "A horse ran",
    "running horses, l'été",
    "…",
    "THE END",
]


def same_as_one_by_one(texts, tokenizer, processes):
    made = tokenize_texts(texts, tokenizer, processes)
    one_by_one = [tokenizer(text) for text in texts]
    assert len(made) == len(texts)
    assert [made.text(number) for number in range(len(made))] == one_by_one
    assert made.offsets.tolist() == np.cumsum([0, *map(len, one_by_one)]).tolist()
    assert made.terms == list(dict.fromkeys(term for terms in one_by_one for term in terms))
    assert (made.ids.dtype, made.offsets.dtype) == (np.int32, np.int64)


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=str)
@pytest.mark.parametrize("processes", [1, 2, None])
@pytest.mark.parametrize("chunk", [1, 40, 500_000], ids="chunks of {}".format)
def test_a_batch_is_its_texts_one_by_one(tokenizer, processes, chunk, monkeypatch):
    monkeypatch.setattr(batches, "_CHUNK_CHARACTERS", chunk)
    same_as_one_by_one(TEXTS * 3, tokenizer, processes)


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=str)
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["the"], ["…", "the of"]], ids=repr)
def test_nothing_at_all_and_texts_without_terms_are_no_exception(tokenizer, processes, texts):
    same_as_one_by_one(texts, tokenizer, processes)


def test_workers_end_where_the_process_does_not_end_by_a_signal():
    before = signal.signal(signal.SIGTERM, lambda *_: None)  # as Ray sets it in every process that holds a node
    try:
        for _ in range(5):
            same_as_one_by_one(TEXTS, TOKENIZERS[0], 2)
    finally:
        signal.signal(signal.SIGTERM, before)


@settings(deadline=None, max_examples=33)
@given(st.lists(st.text(), max_size=8), st.sampled_from(TOKENIZERS))
def test_any_texts_make_the_same_batch(texts, tokenizer):
    same_as_one_by_one(texts, tokenizer, 1)


def test_much_text_goes_to_all_cores_with_the_same_result(monkeypatch):
    monkeypatch.setattr(batches, "_PARALLEL_CHARACTERS", 1)
    monkeypatch.setattr(batches, "_CHUNK_CHARACTERS", 50)
    same_as_one_by_one(TEXTS * 5, Tokenizer("en", stems=True), None)
    assert available_cores() >= 1


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=str)
@pytest.mark.parametrize("texts", [TEXTS * 3, [], ["…", ""]], ids=len)
@pytest.mark.parametrize("batch", [1, 40, 500_000], ids="batches of {}".format)
def test_compiled_code_makes_the_same_batch(tokenizer, texts, batch, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(positions, "pays", lambda *_: True)
    monkeypatch.setattr(positions, "_BATCH_CHARACTERS", batch)
    same_as_one_by_one(texts, tokenizer, None)


@pytest.mark.parametrize("installed", [True, False])
def test_compiled_code_is_loaded_for_much_text_only_and_sooner_where_words_are_not_spaced(installed, monkeypatch):
    monkeypatch.setattr(compiled.importlib.util, "find_spec", lambda name: name if installed else None)
    monkeypatch.delitem(sys.modules, positions._COMPILED, raising=False)

    def pays(*texts, times):
        return positions.compiled_pays(texts * times, 10**6)

    assert not pays(times=0)
    assert not pays("a word", times=100_000)
    assert pays("a word", times=1_000_000) is installed
    assert pays("我们的学校", times=100_000) is installed
    monkeypatch.setitem(sys.modules, positions._COMPILED, positions)
    assert pays("a word", times=100_000) is installed
    assert not pays("a word", times=1000)


def test_without_a_tokenizer_texts_are_cut_into_plain_words():
    assert tokenize_texts(["The horses"]).terms == ["the", "horses"]
