"""Translations from a file."""

import gzip
import re

import pytest

from isogloss.storage.errors import InputError
from isogloss.translation.translators import ReadyTranslations


@pytest.fixture
def ready(tmp_path):
    def write(text, **options):
        path = tmp_path / "ready.tsv"
        path.write_text(text, encoding="utf-8")
        return ReadyTranslations(path, **options)

    return write


def test_texts_are_found_by_themselves_or_by_their_ids(ready):
    made = ready("why is the sea salty\tpourquoi la mer est salée\nq7\tles abeilles\n\n")
    assert made.translate(["why is  the sea salty ", "bees"], ["q1", "q7"]) == [
        "pourquoi la mer est salée",
        "les abeilles",
    ]
    assert made.translate(["why is the sea salty"]) == ["pourquoi la mer est salée"]
    assert made.translate([]) == []


def test_an_id_goes_before_a_text(ready):
    assert ready("1\tun\n2\tdeux\n").translate(["1", "1"], ["2", "9"]) == ["deux", "un"]


def test_missing_ones_are_counted_and_named(ready, tmp_path):
    made = ready("a\tun\nempty\t\n")
    said = "has no translation of 5 of 6 texts ('q2', 'q3', 'q4', …); add lines"
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/ready.tsv: {said}")):
        made.translate(["a", "b", "c", "d", "e", "f"], ["q1", "q2", "q3", "q4", "q5", "q6"])
    with pytest.raises(InputError, match=re.escape("1 of 2 texts ('empty')")):
        made.translate(["a", "empty"])


def test_missing_ones_can_stay_as_they_are(ready):
    assert ready("a\tun\n", keep_missing=True).translate(["b", "a"]) == ["b", "un"]


def test_a_packed_file_is_read(tmp_path):
    with gzip.open(tmp_path / "ready.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("sea\t海\n")
    assert ReadyTranslations(tmp_path / "ready.tsv").translate(["sea"]) == ["海"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sea mer\n", "ready.tsv:1: expected a text or id, a tab and the translation, got 'sea mer'"),
        ("a\tun\n\tdeux\n", "ready.tsv:2: expected"),
        ("a\tun\tdeux\n", "ready.tsv:1: expected"),
        ("a\tun\na\tdeux\n", "ready.tsv:2: 'a' was translated otherwise before"),
        ("\n", "ready.tsv: holds no translation"),
        ("a\t\n", "ready.tsv: holds no translation"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_line(ready, text, said):
    with pytest.raises(InputError, match=re.escape(said)):
        ready(text)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        ReadyTranslations(tmp_path / "none.tsv")
