"""ICU called directly cuts where icu4py says it cuts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from icu4py.breakers import WordBreaker

from isogloss.text.compiled import segmentation
from isogloss.text.compiled.segmentation import cuts_of_lines

CHARACTERS = st.one_of(
    st.sampled_from("我们的学校在北京東京都に行きましたカタカナーภาษาไทยน้ำខ្មែរမြန်မာລາວ"),
    st.characters(min_codepoint=0x0E00, max_codepoint=0xD7FF),
)
LINES = st.lists(st.text(CHARACTERS, min_size=1, max_size=12), max_size=8)


@pytest.fixture(params=["called directly", "through icu4py"])
def way(request, monkeypatch):
    take(request.param, monkeypatch)


def take(way, patch):
    if way == "through icu4py":
        patch.setattr(segmentation, "_icu_functions", lambda: None)


def flat(lines):
    text = "".join(f"{line}\n" for line in lines)
    return np.array([ord(character) for character in text], dtype=np.uint32), text


def expected(text):
    return np.cumsum([len(word) for word in WordBreaker(text, "en")]).tolist()


@settings(deadline=None, max_examples=20)
@given(LINES, st.integers(1, 30), st.sampled_from(["called directly", "through icu4py"]))
def test_cuts_are_those_of_icu4py_whatever_the_chunks(lines, size, way):
    codes, text = flat(lines)
    with pytest.MonkeyPatch.context() as patch:
        take(way, patch)
        patch.setattr(segmentation, "_CHUNK_CHARACTERS", size)
        assert np.flatnonzero(cuts_of_lines(codes)).tolist() == expected(text)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("count", [0, 1, 12_000])
def test_no_line_and_many_lines(count):
    codes, text = flat(["我们的学校"] * count)
    assert np.flatnonzero(cuts_of_lines(codes)).tolist() == expected(text)


def test_a_library_without_those_functions_is_no_error(monkeypatch):
    monkeypatch.setattr("icu4py.icu_version_info", (1, 0), raising=False)
    assert segmentation._icu_functions.__wrapped__() is None
