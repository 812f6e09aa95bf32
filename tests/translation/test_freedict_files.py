"""FreeDict dictionaries, made here as dictd lays them out: a dictionary, and an index with numbers in base 64."""

import gzip
import string

import pytest

from isogloss.storage.errors import InputError
from isogloss.translation.lexicon import Lexicon, read_freedict

DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"


def base64(number):
    digits = DIGITS[number % 64]
    while number := number // 64:
        digits = DIGITS[number % 64] + digits
    return digits


@pytest.fixture
def dictionary(tmp_path):
    """Writes entries as ``NAME.dict.dz`` and ``NAME.index``; gives the path without ending."""

    def write(*entries, packed=True, about="A tiny dictionary\nthis is: no translation\n"):
        content, lines = about.encode(), [f"00databaseinfo\tA\t{base64(len(about.encode()))}"]
        for entry in entries:
            data = entry.encode()
            lines.append(f"{entry.split(maxsplit=1)[0].lower()}\t{base64(len(content))}\t{base64(len(data))}")
            content += data
        name = tmp_path / "eng-fra"
        ending = ".dict.dz" if packed else ".dict"
        name.with_name(name.name + ending).write_bytes(gzip.compress(content) if packed else content)
        name.with_name(name.name + ".index").write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")
        return name

    return write


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ("bee /biː/\nabeille\n", [("bee", "abeille")]),
        ("tie /tai/\n1. nouer, s'attacher\n2. cravate; lien\n",
         [("tie", "nouer"), ("tie", "s'attacher"), ("tie", "cravate"), ("tie", "lien")]),
        ("honey /hʌni/ <n>\n\nasali\n", [("honey", "asali")]),
        ("harbour <n>\nHafen <masc>, Zuflucht <fem> [naut.]\n", [("harbour", "Hafen"), ("harbour", "Zuflucht")]),
        ("sing /siŋ/ <v>\nsingen <v, intr>\n", [("sing", "singen")]),
        ("boat\nBoot <neut>\n      \"a red boat\"  - ein rotes Boot\n         Note: small\n   on water\n"
         " see: {ship}, {raft}\n   Synonym: {vessel}\n\n", [("boat", "Boot")]),
        ("where\noù?\n", [("where", "où")]),
        ("ice cream /ais kriːm/\nglace (dessert), crème  glacée\n",
         [("ice cream", "glace"), ("ice cream", "crème glacée")]),
        ("cats/dogs /kd/\nKatzen/Hunde\n", [("cats/dogs", "Katzen/Hunde")]),
        ("fog / mist /fɔg/ <n>\nNebel\n", [("fog / mist", "Nebel")]),
        ("number /n/ (no. /en/)\nNummer <fem>Nr.,  /nr/ , Zahl <fem>\n",
         [("number", "Nummer Nr"), ("number", "Zahl")]),
        ("/only sound/\nrien\n", []),
        ("empty\n", []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [True, False])
def test_entries_give_their_translations_and_nothing_else(dictionary, entry, wanted, packed):
    assert list(read_freedict(dictionary(entry, packed=packed))) == wanted


@pytest.mark.parametrize("ending", ["", ".index", ".dict.dz"])
def test_any_of_its_files_or_their_common_name_names_a_dictionary(dictionary, ending):
    name = dictionary("bee /biː/\nabeille\n", "horse\n1. cheval\n2. monture\n")
    lexicon = Lexicon.read(f"{name}{ending}")
    assert [phrase for phrase, _ in lexicon["horse",]] == [("cheval",), ("monture",)]
    assert list(lexicon) == [("bee",), ("horse",)]


def test_entries_far_into_a_long_dictionary_are_found(dictionary):
    """Numbers of several base 64 digits, and letters of several bytes."""
    entries = [f"word{number} /ø/\nété{number}\n" for number in range(2000)]
    assert len(Lexicon.read(dictionary(*entries))) == 2000


def test_an_entry_that_several_headwords_point_to_is_read_once(dictionary):
    name = dictionary("bee\nabeille\n")
    index = name.with_name(name.name + ".index")
    line = index.read_text().splitlines()[-1]
    index.write_text(f"{line}\nhoneybee\t{line.split(chr(9), 1)[1]}\n")
    assert list(read_freedict(name)) == [("bee", "abeille")]


@pytest.mark.parametrize(
    ("line", "place", "what"),
    [
        ("bee", ":3", "expected a headword and two numbers in base 64, got 'bee'"),
        ("bee\tA", ":3", "expected a headword"),
        ("bee\tA\t", ":3", "expected a headword"),
        ("bee\t(\tB", ":3", "expected a headword"),
        ("bee\tZZZ\tB", "", "speaks of byte 104026, but eng-fra.dict.dz ends at "),
    ],
)
def test_a_damaged_index_is_an_error_that_names_it(dictionary, line, place, what):
    name = dictionary("ant\nfourmi\n")
    index = name.with_name(name.name + ".index")
    index.write_text(index.read_text() + line + "\n")
    with pytest.raises(InputError) as caught:
        list(read_freedict(name))
    assert str(caught.value).startswith(f"{index}{place}: {what}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", [".index", ".dict.dz"])
def test_a_missing_half_is_an_error_that_names_it(dictionary, missing):
    name = dictionary("ant\nfourmi\n")
    name.with_name(name.name + missing).unlink()
    with pytest.raises(InputError, match=r"no such file; a FreeDict dictionary is NAME\.dict\.dz with NAME\.index"):
        Lexicon.read(f"{name}.index")


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:20] + b"\xff" * 20 + data[40:]])
def test_a_damaged_archive_is_an_error_that_names_it(dictionary, damage):
    name = dictionary(*(f"word{number}\nmot{number}\n" for number in range(50)))
    archive = name.with_name(name.name + ".dict.dz")
    archive.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(InputError, match=r"eng-fra\.dict\.dz: a damaged gzip archive"):
        Lexicon.read(name)


def test_a_plain_lexicon_is_not_taken_for_a_dictionary(tmp_path):
    path = tmp_path / "eng-fra.txt"
    path.write_text("bee\tabeille\n", encoding="utf-8")
    assert len(Lexicon.read(path)) == 1
