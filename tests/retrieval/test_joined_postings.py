"""Inverted lists of several parts are those of one over all documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.retrieval.bm25 import BM25, Concept
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.text.batches import tokenize_texts

WORDS = "abcde"
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=5)
CONCEPTS = [Concept("a", (("a", 1.0),)), Concept("b c", (("b", 0.7), ("c", 0.3)), 2.0), Concept("z", (("z", 1.0),))]


def build(texts):
    return Postings.build(tokenize_texts(texts))


def assert_same(joined, whole):
    assert joined.lengths.tolist() == whole.lengths.tolist()
    for word in [*WORDS, "z"]:
        assert joined[word].documents.tolist() == whole[word].documents.tolist()
        assert joined[word].frequencies.tolist() == whole[word].frequencies.tolist()


@given(parts=st.lists(TEXTS, max_size=4))
@settings(deadline=None, max_examples=20)
def test_several_parts_are_one_collection(parts):
    joined, whole = (
        JoinedPostings([build(texts) for texts in parts]),
        build([text for texts in parts for text in texts]),
    )
    assert (joined.document_count, joined.counted) == (whole.document_count, whole.document_count)
    assert joined.total_length == whole.lengths.sum()
    assert_same(joined, whole)
    assert_same(joined.merged(), whole)
    for expected_df in (False, True):
        ours, theirs = (BM25(lists, expected_df=expected_df) for lists in (joined, whole))
        assert ours.scores(CONCEPTS).tolist() == theirs.scores(CONCEPTS).tolist()
        assert ours.best_possible(CONCEPTS) == theirs.best_possible(CONCEPTS)
        rows = np.arange(whole.document_count)[::-1]
        for scorer in (ours, theirs):
            assert scorer.scores_at(CONCEPTS, rows).tolist() == scorer.scores(CONCEPTS)[rows].tolist()


@given(parts=st.lists(TEXTS, min_size=1, max_size=3), data=st.data())
@settings(deadline=None, max_examples=20)
def test_documents_that_are_gone_count_no_more(parts, data):
    texts = [text for part in parts for text in part]
    live = np.asarray(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), dtype=bool)
    joined = JoinedPostings([build(part) for part in parts]).counting_only(live)
    whole = build([text for text, alive in zip(texts, live, strict=True) if alive])
    assert [joined.document_frequency(word) for word in WORDS] == [len(whole[word].documents) for word in WORDS]
    scores = BM25(joined).scores(CONCEPTS)
    assert scores[live].tolist() == BM25(whole).scores(CONCEPTS).tolist()
    assert not scores[~live].any()
    some = np.arange(len(texts))[::2]
    assert BM25(joined).scores_at(CONCEPTS, some).tolist() == scores[some].tolist()
    assert_same(joined.merged(live), whole)
    kept = joined.without_gone()
    assert kept.document_count == len(texts)
    assert kept.lengths[live].tolist() == whole.lengths.tolist()
    assert all(kept[word].documents.tolist() == joined[word].documents.tolist() for word in WORDS)


def test_merged_lists_have_no_terms_that_no_document_holds():
    merged = JoinedPostings([build(["a b"]), build(["c", "b"])]).merged(np.asarray([False, True, True]))
    assert list(merged.terms) == ["b", "c"]


def test_saved_parts_are_mapped_one_after_the_other(tmp_path):
    for name, texts in (("one", ["a b"]), ("two", ["b", "a"])):
        (tmp_path / name).mkdir()
        build(texts).save(tmp_path / name)
    joined = JoinedPostings.load([tmp_path / "two", tmp_path / "one"])
    assert joined["b"].documents.tolist() == [0, 2]
    with pytest.raises(FileNotFoundError):
        JoinedPostings.load([tmp_path / "three"])
