"""Explaining by leaving words out: of a score that is known the words that made it are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.systems.explanations import NO_WORD, CutText, explain_by_leaving_out
from isogloss.text.tokenizer import tokenize

MEANINGS = {"sea": "mer", "salt": "sel", "wind": "vent"}


def matched(queries, documents):
    """What a dictionary would count, with 1 for nothing at all; texts that were given are kept count of."""
    found = np.ones((len(queries), len(documents)))
    for row, query in enumerate(queries):
        for column, document in enumerate(documents):
            words = set(tokenize(document))
            found[row, column] += sum(MEANINGS.get(word) in words for word in set(tokenize(query)))
    return found


def explained(query, document, score=None, known=None, longest=0):
    whole = float(matched([query], [document])[0, 0]) if score is None else score
    return explain_by_leaving_out(CutText.of(query, known, longest), CutText.of(document), matched, whole)


def test_words_are_listed_with_those_that_they_need():
    parts = explained("Salt of the sea?", "Le sel, la mer, le sel.")
    assert {(part.query_word, part.document_words, part.score) for part in parts} == {
        ("salt", ("sel",), 1.0), ("sea", ("mer",), 1.0), (NO_WORD, (), 1.0),
    }  # fmt: skip


def test_what_the_document_was_found_with_is_what_the_lines_add_up_to():
    parts = explained("salt wind", "le vent", score=7.5)
    assert sum(part.score for part in parts) == 7.5
    assert [part.score for part in parts] == sorted((part.score for part in parts), reverse=True)


@given(
    query=st.lists(st.sampled_from(["sea", "salt", "wind", "zebra", "海", "½", "the"]), max_size=40).map(" ".join),
    document=st.lists(st.sampled_from(["mer", "sel", "vent", "le", "盐", "½"]), max_size=80).map(" ".join),
)
@settings(deadline=None, max_examples=40)
def test_lines_add_up_and_name_words_of_both_texts(query, document):
    parts = explained(query, document)
    assert sum(part.score for part in parts) == pytest.approx(matched([query], [document])[0, 0])
    assert {part.query_word for part in parts} <= {NO_WORD, *tokenize(query)}
    assert {word for part in parts for word in part.document_words} <= set(tokenize(document))


def test_the_words_of_a_long_document_are_found_by_stretches():
    rest = " ".join(f"mot{number}" for number in range(1000))
    parts = explained("salt sea", f"{rest} sel {rest} mer")
    assert {(part.query_word, part.document_words) for part in parts} >= {("salt", ("sel",)), ("sea", ("mer",))}


def test_of_a_long_query_neighbours_have_one_line_and_few_texts_are_scored():
    scored = []

    def scores(queries, documents):
        scored.append(len(queries) * len(documents))
        return matched(queries, documents)

    query = " ".join([*(f"word{number}" for number in range(500)), "sea"])
    parts = explain_by_leaving_out(CutText.of(query), CutText.of("la mer " * 50), scores, 2.0)
    (line,) = [part for part in parts if part.document_words]
    assert line.query_word.endswith(" sea")
    assert line.score == 1.0
    assert sum(scored) < 600


def test_only_known_words_and_only_those_that_are_read_are_left_out():
    parts = explained("sea salt wind", "mer sel vent", known=lambda word: word != "sea", longest=2)
    assert {part.query_word for part in parts} == {"salt", NO_WORD}


@pytest.mark.parametrize(
    ("text", "left_out", "kept"),
    [
        ("The sea, the wind", [0], "  sea,   wind"),
        ("The sea, the wind", [0, 1, 2], "  ,    "),
        ("属性を設定", [0], " を設定"),
        ("½ cup", [0, 1], "  cup"),
        ("", [], ""),
    ],
)
def test_words_are_left_out_wherever_they_stand(text, left_out, kept):
    cut = CutText.of(text)
    assert cut.without([]) == text
    assert cut.without(left_out).split() == kept.split()
    assert tokenize(cut.without(range(len(cut.names)))) == []
