"""IBM model 1 on a corpus of three sentences, worked out by hand.

With NULL next to impossible and no window, the first round starts from p(e | f) = 1/3 for das and buch, which meet
three words, and 1/2 for haus and ein, which meet two. So "the" of the first sentence comes from das with
(1/3) / (1/3 + 1/2) = 2/5 and from haus with 3/5; of the second from das and buch with 1/2 each. That makes
c(das, the) = 9/10, c(das, house) = 4/10 and c(das, book) = 5/10, and so on.
"""

import math
from fractions import Fraction

import pytest

from isogloss.text.batches import tokenize_texts
from isogloss.translation.word_alignment import Model1

GERMAN, ENGLISH = ["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"]


def after_one_round(null):
    source, target = tokenize_texts(GERMAN), tokenize_texts(ENGLISH)
    model = Model1(source, target, window=10**9, null=null)
    likelihoods = model.step()
    found = model.pairs()
    arrays = (column.tolist() for column in found)
    rows = [(source.terms[s], target.terms[t], forward, back) for s, t, forward, back in zip(*arrays, strict=True)]
    return {row[:2]: row[2] for row in rows}, {row[:2]: row[3] for row in rows}, likelihoods


def near(expected):
    return {pair: pytest.approx(float(value), rel=1e-6) for pair, value in expected.items()}


def test_the_first_round_without_null_is_as_computed_by_hand():
    forward, backward, likelihoods = after_one_round(null=1e-12)
    half, likely, unlikely = Fraction(1, 2), Fraction(5, 18), Fraction(2, 9)
    assert forward == near({
        ("das", "the"): half, ("das", "book"): likely, ("das", "house"): unlikely,
        ("buch", "book"): half, ("buch", "the"): likely, ("buch", "a"): unlikely,
        ("haus", "the"): half, ("haus", "house"): half, ("ein", "a"): half, ("ein", "book"): half,
    })  # fmt: skip
    assert backward == near({
        ("das", "the"): half, ("buch", "the"): likely, ("haus", "the"): unlikely,
        ("buch", "book"): half, ("das", "book"): likely, ("ein", "book"): unlikely,
        ("das", "house"): half, ("haus", "house"): half, ("ein", "a"): half, ("buch", "a"): half,
    })  # fmt: skip
    before = 4 * math.log(1 / 2 * (1 / 3 + 1 / 2)) + 2 * math.log(1 / 3)
    assert likelihoods == pytest.approx((before, before), rel=1e-6)


def test_null_takes_its_share_of_the_first_round():
    """With n = 1/2 "the" of the first sentence weighs 1/8 for NULL, 1/12 for das and 1/8 for haus: 3/8, 1/4, 3/8."""
    forward, _, _ = after_one_round(null=0.5)
    assert {pair: value for pair, value in forward.items() if pair[0] in ("das", "haus")} == near({
        ("das", "the"): Fraction(1, 2), ("das", "house"): Fraction(7, 30), ("das", "book"): Fraction(8, 30),
        ("haus", "the"): Fraction(1, 2), ("haus", "house"): Fraction(1, 2),
    })  # fmt: skip


def test_more_rounds_find_the_translations():
    source, target = tokenize_texts(GERMAN), tokenize_texts(ENGLISH)
    model = Model1(source, target, window=10**9, null=1e-12)
    for _ in range(50):
        model.step()
    pairs = zip(*(column.tolist() for column in model.pairs()), strict=True)
    best = {(source.terms[s], target.terms[t]) for s, t, forward, back in pairs if min(forward, back) > 0.9}
    assert best == {("das", "the"), ("haus", "house"), ("buch", "book"), ("ein", "a")}
