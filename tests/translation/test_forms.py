"""Full forms of stems."""

import lzma

import pytest

from isogloss.storage.errors import InputError
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.forms import ENDING, starter_forms, usual_forms, word_counts, write_forms

ENGLISH = Tokenizer("en", stems=True)


def test_the_form_of_a_stem_is_a_word_of_the_texts():
    counts = word_counts(["memory memories memory", "the analysis", "containers contain a container"])
    forms = usual_forms(counts, ENGLISH)
    assert set(forms.values()) <= set(counts)
    assert (forms["memori"], forms["analysi"]) == ("memory", "analysis")


def test_a_rare_short_form_does_not_stand_for_a_frequent_one():
    assert usual_forms({"selected": 100, "select": 2}, ENGLISH) == {"select": "selected"}
    assert usual_forms({"selected": 100, "select": 30}, ENGLISH) == {"select": "select"}


def test_written_forms_are_read_back_without_those_that_are_stems(tmp_path):
    write_forms(tmp_path / f"en{ENDING}", {"memori": "memory", "file": "file"})
    assert starter_forms("en", tmp_path) == {"memori": "memory"}
    assert starter_forms("fr", tmp_path) == {}


@pytest.mark.parametrize("content", [b"no archive", lzma.compress(b"one\ttwo\tthree\n"), lzma.compress(b"\xff\xfe")])
def test_a_damaged_file_is_an_error_with_a_way_out(tmp_path, content):
    (tmp_path / f"en{ENDING}").write_bytes(content)
    with pytest.raises(InputError, match="install isogloss-starter anew"):
        starter_forms("en", tmp_path)
