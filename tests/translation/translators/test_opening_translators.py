"""Translators by what the user writes."""

import pytest

from isogloss.storage.errors import InputError
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.translators import open_translator


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("sea\tmer\nsea salt\tsel marin\n", encoding="utf-8")
    return path


def test_a_lexicon_translates_words_and_a_file_whole_texts(table):
    assert open_translator(f"lexicon:{table}", "en", "fr").translate(["sea and salt"]) == ["mer salt"]
    assert open_translator(f"file:{table}", "en", "fr").translate(["sea salt"]) == ["sel marin"]


def test_a_lexicon_without_a_file_is_the_one_at_hand(table):
    lexicon = Lexicon([("sea", "océan", 0.0)])
    assert open_translator("lexicon:", "en", "fr", lexicon=lexicon).translate(["sea"]) == ["océan"]
    assert open_translator(f"lexicon:{table}", "en", "fr", lexicon=lexicon).translate(["sea"]) == ["mer"]
    with pytest.raises(InputError, match="'lexicon:' names no file; write lexicon:FILE"):
        open_translator("lexicon:", "en", "fr")


def test_missing_texts_are_kept_only_if_wanted(table):
    assert open_translator(f"file:{table}", "en", "fr", keep_missing=True).translate(["bee"]) == ["bee"]
    with pytest.raises(InputError, match="no translation of 1 of 1 texts"):
        open_translator(f"file:{table}", "en", "fr").translate(["bee"])


def test_apertium_is_asked_for_by_languages_or_mode(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for spec in ("apertium", "apertium:eng-spa"):
        with pytest.raises(InputError, match=r"apertium: is not installed; .*apertium-eng-spa"):
            open_translator(spec, "en", "es")


@pytest.mark.parametrize("spec", ["", "google", "file:", "file"])
def test_what_is_none_of_them_is_an_error(spec):
    with pytest.raises(InputError, match=f"^translator: '{spec}'"):
        open_translator(spec, "en", "es")
