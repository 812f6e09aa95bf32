"""Finding dictionaries in folders, and reading EDICT and dictionaries of the other direction."""

import gzip

import pytest

from isogloss.storage.errors import InputError
from isogloss.translation.dictionaries import VARIABLE, find_dictionaries
from isogloss.translation.lexicon import Lexicon

EDICT = """\
　？？？ /EDICT, a Japanese-English dictionary/
猫 [ねこ] /(n) cat (esp. the domestic cat)/pussycat/(P)/
食べる [たべる] /(v1,vt) to eat/(P)/EntL1358280X/
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of dictionaries, the only one that is searched besides those of the system."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr("isogloss.translation.dictionaries._SYSTEM_FOLDERS", ())
    return tmp_path


def write_freedict(folder, name, entries):
    """The index lists one entry a line; what stands in the dictionary does not matter for finding it."""
    (folder / f"{name}.index").write_text("".join(f"word{n}\tA\tB\n" for n in range(entries)))
    (folder / f"{name}.dict.dz").write_bytes(gzip.compress(b"word0\n"))


def test_nothing_is_found_where_nothing_is(folder):
    assert find_dictionaries("en", "de") == []
    assert find_dictionaries("en", "de", [folder / "missing"]) == []


def test_the_larger_of_this_direction_comes_first_then_the_other_direction(folder):
    write_freedict(folder, "freedict-eng-deu", 3)
    write_freedict(folder, "freedict-deu-eng", 9)
    (folder / "en-de.txt").write_text("cat Katze\ndog Hund\n" * 2)
    (folder / "en-de.top4000.gz").write_bytes(gzip.compress(b"cat Katze\n"))  # not a name of the pair
    found = find_dictionaries("en", "de")
    assert [(each.path.name, each.kind, each.entries, each.reverse) for each in found] == [
        ("en-de.txt", "word pairs", 4, False),
        ("freedict-eng-deu", "FreeDict", 3, False),
        ("freedict-deu-eng", "FreeDict", 9, True),
    ]
    assert found[-1].lexicon == f"reversed:{folder / 'freedict-deu-eng'}"
    assert [each.reverse for each in find_dictionaries("de", "en")] == [False, True, True]
    assert find_dictionaries("en", "fr") == find_dictionaries("de", "de") == []


@pytest.mark.parametrize("name", ["en-fr", "en-fr.gz", "en-fr.txt", "en-fr.tsv.gz"])
def test_every_ending_of_a_file_of_pairs_is_found(folder, name):
    content = b"cat\tchat\n"
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (found,) = find_dictionaries("en", "fr")
    assert (found.path.name, found.entries) == (name, 1)
    assert [" ".join(each.phrase) for each in Lexicon.read(found.lexicon)[("cat",)]] == ["chat"]


@pytest.mark.parametrize("encoding", ["euc-jp", "utf-8"])
def test_edict_translates_both_ways(folder, encoding):
    (folder / "edict").write_bytes(EDICT.encode(encoding))
    (found,) = find_dictionaries("en", "ja")
    assert (found.kind, found.reverse) == ("EDICT", True)
    lexicon = Lexicon.read(found.lexicon)
    assert [each.phrase for each in lexicon[("cat",)]] == [("猫",)]
    assert [" ".join(each.phrase) for each in lexicon[("eat",)]] == ["食べる"]
    assert sorted(lexicon) == [("cat",), ("eat",), ("pussycat",)]
    (other,) = find_dictionaries("ja", "en")
    assert [each.phrase for each in Lexicon.read(other.lexicon)[("猫",)]] == [("cat",), ("pussycat",)]


def test_a_lexicon_read_backwards_has_no_probabilities(tmp_path):
    (tmp_path / "fr-en.tsv").write_text("chat\tcat\t0.9\nminou\tcat\t0.1\n")
    translations = Lexicon.read(f"reversed:{tmp_path / 'fr-en.tsv'}")[("cat",)]
    assert [(each.phrase, each.probability) for each in translations] == [(("chat",), 0.0), (("minou",), 0.0)]
    with pytest.raises(InputError, match="no such file"):
        Lexicon.read(f"reversed:{tmp_path / 'missing.tsv'}")
