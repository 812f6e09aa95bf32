"""The average encoder is tanh of a mean, the same with and without compiled code, and quick to open."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.smooth import word_average as average
from isogloss.papers.smooth.word_average import AverageEncoder
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.strings import StringTable

KNOWN = ["ant", "bee", "cow", "dog", "été", "中国"]
TEXTS = st.lists(st.lists(st.sampled_from([*KNOWN, "yak", "zebu", "学校"]), max_size=12).map(" ".join), max_size=12)
WAYS = ["few", "plain", "compiled"]


def encoder(maximum_words=0, dimension=3, seed=0):
    table = np.random.default_rng(seed).normal(size=(len(KNOWN), dimension)).astype(np.float32)
    return AverageEncoder(KNOWN, table, maximum_words)


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    take(request.param, monkeypatch)


def take(way, patch):
    """Make even short texts go the given way."""
    if way != "few":
        patch.setattr(average, "_FEW_CHARACTERS", 0)
        patch.setattr(average, "_FEW_TOKENS", 0)
    if way == "plain":
        patch.setattr(average, "_numba_is_installed", lambda: False)
    if way == "compiled":
        pytest.importorskip("numba")


def by_definition(made, texts):
    expected = np.zeros((len(texts), made.dimension))
    for row, text in zip(expected, texts, strict=True):
        words = [word for word in text.split()[: made.maximum_words or None] if word in KNOWN]
        if words:
            row[:] = np.tanh(np.mean([made.table[KNOWN.index(word)].astype(np.float64) for word in words], axis=0))
    return expected


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.integers(0, 5), st.sampled_from(WAYS), st.integers(1, 70))
def test_texts_are_encoded_by_definition_whichever_way(texts, maximum_words, way, dimension):
    made = encoder(maximum_words, dimension)
    with pytest.MonkeyPatch.context() as patch:
        take(way, patch)
        patch.setattr(average, "_BLOCK_TEXTS", 2)
        found = made.encode(texts)
        ids, offsets = made.ids(texts)
        assert np.array_equal(made.pool(ids, offsets), found)
    assert (found.dtype, found.shape) == (np.float32, (len(texts), dimension))
    np.testing.assert_allclose(found, by_definition(made, texts), atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.text(max_size=20), max_size=8), st.integers(0, 4))
def test_all_ways_give_the_same_ids(texts, maximum_words):
    texts = [f"{text} ant É\u0301te\u0301 {text}中国" for text in texts]
    found = []
    for way in WAYS:
        with pytest.MonkeyPatch.context() as patch:
            take(way, patch)
            ids, offsets = encoder(maximum_words).ids(texts)
        assert (ids.dtype, offsets.dtype) == (np.int32, np.int64)
        found.append((ids.tolist(), offsets.tolist()))
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("way")
def test_the_cut_comes_before_unknown_words_are_dropped():
    ids, offsets = encoder(maximum_words=2).ids(["yak ant bee", "ant bee cow", "yak yak ant", ""])
    assert (ids.tolist(), offsets.tolist()) == ([0, 0, 1], [0, 1, 3, 3, 3])


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("texts", [[], [""], ["yak", "…"]], ids=repr)
def test_texts_without_known_words_are_zero_vectors(texts):
    assert encoder().encode(texts).tolist() == [[0.0] * 3] * len(texts)


@pytest.mark.usefixtures("way")
def test_words_and_vectors_may_be_mapped_from_files(tmp_path):
    words = sorted(KNOWN, key=str.encode)
    table = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
    StringTable.of(words).save(tmp_path, "words")
    save_array(tmp_path / "table.npy", table)
    mapped = AverageEncoder(StringTable.load(tmp_path, "words"), load_array(tmp_path / "table.npy"))
    texts = ["ANT bee", "été 中国 zebu", "zebu"]
    assert np.array_equal(mapped.encode(texts), AverageEncoder(words, table).encode(texts))
    assert mapped.ids(texts)[0].tolist() == [words.index(word) for word in ("ant", "bee", "été", "中国")]


@pytest.mark.usefixtures("way")
def test_of_a_word_that_stands_twice_the_first_row_counts():
    assert AverageEncoder(["b", "a", "b"], np.zeros((3, 1), np.float32)).ids(["a b"])[0].tolist() == [1, 0]


def test_known_and_unknown_words_are_named_once_in_the_order_of_the_text():
    made = encoder(maximum_words=5)
    text = "Zebu ant, yak! ANT zebu cow"
    assert (made.known(text), made.unknown(text)) == (["ant"], ["zebu", "yak"])


def test_words_out_of_order_are_noticed_where_they_would_not_be_found():
    table = np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match="ascending"):
        AverageEncoder(StringTable.of(["a", "c", "b"]), table)
    assert len(AverageEncoder(StringTable.of(["a", "b", "c"]), table).known("a b c d")) == 3


@pytest.mark.parametrize("words", [[], ["only"]])
def test_few_words_are_in_order(words):
    made = AverageEncoder(StringTable.of(words), np.zeros((len(words), 2), np.float32))
    assert made.known("only one") == words


@pytest.mark.parametrize(
    "table", [np.zeros((2, 3), np.float32), np.zeros(6, np.float32), np.zeros((6, 3))], ids=["rows", "shape", "kind"]
)
def test_a_table_that_does_not_fit_is_an_error(table):
    with pytest.raises(ValueError, match="float32 table"):
        AverageEncoder(KNOWN, table)


def test_a_query_does_not_import_numba():
    program = (
        "import sys, numpy as np; from isogloss.papers.smooth.word_average import AverageEncoder;"
        "made = AverageEncoder(['a'], np.ones((1, 2), np.float32)); made.encode(['A b c', 'été 中国'] * 50);"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
