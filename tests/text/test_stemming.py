"""Stems of real words."""

from itertools import product
from string import ascii_lowercase

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.text.stemming import stem
from isogloss.text.tokenizer import tokenize


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", "connect connected connection connecting"),
        ("fr", "cheval chevaux"),
        ("it", "gatto gatti"),
        ("es", "casa casas"),
        ("de", "häuser haus häusern"),
        ("ru", "книга книги книгу"),
        ("ar", "كتاب الكتاب"),
        ("hi", "लड़का लड़के"),
        ("ko", "파일 파일을 파일에서 파일들이 파일입니다"),
        ("ko", "설정 설정합니다 설정하려면 설정된 설정되었습니다 설정파일"),
        ("ko", "값 값을 값은"),
        ("ko", "인터페이스 인터페이스를 인터페이스의"),
        ("ko", "css css를 css는 css에서"),
        ("he", "קבצים הקבצים בקבצים ולקבצים"),
        ("he", "שָׁלוֹם שלום"),
        ("uk", "книгами книгах"),
        ("bg", "системата системи системите"),
        ("pl", "katalog katalogu katalogów katalogami"),
        ("cs", "soubor souboru souborech"),
        ("sk", "súbor súboru súboroch"),
        ("hr", "datoteka datoteke datotekama"),
        ("sl", "datoteka datotekami datotek"),
        ("fi", "tiedosto tiedostossa tiedostojen"),
        ("hu", "könyvtár könyvtárban könyvtárakból"),
        ("tr", "dosya dosyalar dosyalarınızdan"),
        ("lv", "lietotājs lietotāja lietotājiem"),
        ("is", "notandi notandans notandinn"),
        ("nb", "filene filen filer"),
    ],
)
def test_forms_of_a_word_share_a_stem(language, forms):
    assert len(set(stem(tokenize(forms), language))) == 1


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("ko", "파일 설정 편집 추가 정의"),
        ("ko", "인터넷 인터페이스"),
        ("ko", "자바 자바스크립트"),
        ("uk", "getelementbyid getelementsbyname"),
        ("tr", "1234567 1234568"),
        ("pl", "utf16le utf16be"),
        ("he", "javascript java"),
        ("bn", "localhost localtime"),
    ],
)
def test_other_words_names_and_numbers_have_stems_of_their_own(language, words):
    assert len(set(stem(tokenize(words), language))) == len(words.split())


@pytest.mark.parametrize("language", ["sw", "tl", "zh", "xx", "", None])
def test_a_language_without_a_stemmer_keeps_its_words(language):
    assert stem(["Farasi", "horses"], language) == ["Farasi", "horses"]


def test_every_snowball_language_has_a_code_of_two_letters():
    variants = {"porter", "dutch_porter", "lovins", "kraaij_pohlmann", "german2"}
    codes = ("".join(letters) for letters in product(ascii_lowercase, repeat=2))
    assert sum(map(is_snowball, codes)) == len(set(Stemmer.algorithms()) - variants)


def is_snowball(code):
    try:
        return bool(Stemmer.Stemmer(code))
    except KeyError:
        return False


@settings(deadline=None, max_examples=66)
@given(st.text(), st.sampled_from(["ar", "bn", "de", "el", "en", "fr", "he", "hi", "ko", "ne", "ru", "tr"]))
def test_every_token_has_a_stem_that_is_not_empty(text, language):
    words = tokenize(text)
    stems = stem(words, language)
    assert len(stems) == len(words)
    assert all(stems)


@pytest.mark.parametrize(("language", "word"), [("ar", "ـ"), ("ne", "छ")])
def test_a_word_of_which_snowball_leaves_nothing_stays(language, word):
    assert stem([word], language) == [word]
