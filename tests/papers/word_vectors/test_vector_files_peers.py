"""Files pass between isogloss and gensim, where that is installed, without a bit being lost."""

import numpy as np
import pytest

from isogloss.papers.word_vectors.files import read_vectors, write_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors

keyedvectors = pytest.importorskip("gensim.models.keyedvectors")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

WORDS = ["cat", "été", "中文", "🙂"]
MATRIX = np.random.default_rng(0).normal(0, 0.1, (4, 30)).astype(np.float32)


@pytest.mark.parametrize(
    ("form", "header", "binary"), [("word2vec", True, False), ("glove", False, False), ("binary", True, True)]
)
def test_gensim_reads_what_isogloss_writes(tmp_path, form, header, binary):
    path = tmp_path / "vectors"
    write_vectors(WordVectors(WORDS, MATRIX), f"{form}:{path}")
    theirs = keyedvectors.KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not header)
    assert theirs.index_to_key == WORDS
    assert np.array_equal(theirs.vectors, MATRIX)


@pytest.mark.parametrize(("binary", "header"), [(False, True), (False, False), (True, True)])
@pytest.mark.parametrize("name", ["vectors", "vectors.gz"])
def test_isogloss_reads_what_gensim_writes(tmp_path, binary, header, name):
    theirs = keyedvectors.KeyedVectors(MATRIX.shape[1])
    theirs.add_vectors(WORDS, MATRIX)
    theirs.save_word2vec_format(tmp_path / name, binary=binary, write_header=header, sort_attr=None)
    ours = read_vectors(tmp_path / name)
    assert list(ours.words) == WORDS
    assert np.array_equal(ours.matrix, MATRIX)
