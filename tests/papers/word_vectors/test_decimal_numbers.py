"""Numbers in text: whole blocks at once give what ``float`` gives one by one, and nothing else passes for a number."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isogloss.papers.word_vectors.formats.text import is_number, parse_decimals

WAYS = [repr, "{:.4f}".format, "{:.6f}".format, "{:.9g}".format, "{:.15f}".format, "{:.3e}".format, "{:+.2f}".format]


def parsed(*fields):
    values = parse_decimals([" ".join(fields).encode()])
    return None if values is None else values.tolist()


def singly(*fields):
    return [float(np.float32(float(field))) for field in fields]


@given(numbers=st.lists(st.tuples(st.floats(-1e6, 1e6), st.sampled_from(WAYS)), min_size=1))
@settings(deadline=None, max_examples=40)
def test_however_numbers_are_written_they_are_what_float_says(numbers):
    fields = [way(number) for number, way in numbers]
    assert parsed(*fields) == pytest.approx(singly(*fields), rel=2e-7, abs=0)  # over 15 digits: the last bit may differ


def written(number, decimals, negative):
    digits = str(number).zfill(decimals)
    cut = len(digits) - decimals
    return "-" * negative + digits[:cut] + "." * (decimals > 0 or number % 2) + digits[cut:]


DECIMALS = st.builds(written, st.integers(0, 10**15 - 1), st.integers(0, 15), st.booleans())


@given(fields=st.lists(DECIMALS, min_size=1))
@example(["0", "-0", "5.", ".5", "-.5", "00012", "99999999", "999999999999999", "0.00000000000001"])
@settings(deadline=None, max_examples=40)
def test_up_to_15_digits_every_bit_is_right(fields):
    assert parsed(*fields) == singly(*fields)
    assert np.signbit(parse_decimals([" ".join(fields).encode()])).tolist() == [field[0] == "-" for field in fields]


@pytest.mark.parametrize("digits", range(1, 40))
def test_any_number_of_digits_is_read(digits):
    for field in ("1" * digits, "9" * digits, "0." + "7" * digits, "-" + "3" * digits + ".25", "0" * digits + "1"):
        with np.errstate(over="ignore"):
            assert parsed(field, "1.5") == pytest.approx(singly(field, "1.5"), rel=2e-7)


def test_pieces_follow_one_another():
    assert parse_decimals([b"1 2.5", b"-3", b"4e1 5"]).tolist() == [1, 2.5, -3, 40, 5]
    assert parse_decimals([]).tolist() == []


NOT_NUMBERS = [
    "",
    "-",
    ".",
    "-.",
    "--1",
    "1-2",
    "1.2.3",
    "1..2",
    "1_0",
    "0x1",
    "1e",
    "e5",
    "1,5",
    "a",
    "1a",
    "²",
    "1:",
    "1/",
]


@pytest.mark.parametrize("field", NOT_NUMBERS)
@pytest.mark.parametrize("others", [("0.5", "0.25"), ("1", "2"), ("1e-5", ".5")])
def test_what_is_no_number_spoils_the_block(field, others):
    first, second = others
    assert parsed(first, field, second) is None
    assert parsed(field, first) is None
    assert parsed(first, field) is None
    assert not is_number(field.encode())


@given(field=st.binary(min_size=1, max_size=12).filter(lambda field: not set(field) & set(b" \t\n\r\x0b\x0c")))
@settings(deadline=None, max_examples=60)
def test_bytes_pass_for_a_number_only_if_float_agrees(field):
    values = parse_decimals([b"1.5 " + field + b" 2"])
    assert (values is not None) == is_number(field)
    if values is not None:
        with np.errstate(over="ignore"):
            expected = [1.5, np.float32(float(field)), 2]
        assert np.array_equal(values, np.float32(expected), equal_nan=True)


@given(field=st.text(alphabet="0123456789.-+e_nan", min_size=1, max_size=24))
@settings(deadline=None, max_examples=60)
def test_what_nearly_is_a_number_passes_only_if_float_agrees(field):
    assert (parsed("1.5", field, "2") is not None) == is_number(field.encode())


def test_beyond_single_precision_is_infinity_without_a_warning():
    assert parsed("1e39", "-1e999", "nan")[:2] == [np.inf, -np.inf]
