"""Apertium: what is asked of its command line (with a stand-in for it), and the real one where it is installed."""

import re
import shutil
import stat

import pytest

from isogloss.storage.errors import InputError
from isogloss.translation import translators as apertium
from isogloss.translation.translators import Apertium, installed_modes, mode_names

STAND_IN = """\
#!/bin/sh
if [ "$1" = -l ]; then printf '  eng-spa\\n  spa-eng\\n'; exit 0; fi
echo "$*" >> "$(dirname "$0")/calls"
if [ -e "$(dirname "$0")/broken" ]; then echo 'out of order' >&2; exit 3; fi
if [ -e "$(dirname "$0")/joins" ]; then exec tr -s '\\n' | tr a-z A-Z; fi
exec tr a-z A-Z
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A command that shouts, in place of Apertium; and the calls it has had."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "apertium"
    command.write_text(STAND_IN)
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def calls(folder):
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_many_texts_are_one_call_and_come_back_apart(stand_in, tmp_path):
    made = Apertium("eng-spa", tmp_path / "cache")
    texts = ["the sea", "a\nb\r\n\n\nc", "", "?!", "the sea", " spaces  between\x00 "]
    assert made.translate(texts) == ["THE SEA", "A B C", "", "?!", "THE SEA", "SPACES BETWEEN"]
    assert calls(stand_in) == ["-u -f txt eng-spa"]


def test_nothing_is_translated_twice(stand_in, tmp_path):
    Apertium("eng-spa", tmp_path / "cache").translate(["sea", "salt"])
    again = Apertium("eng-spa", tmp_path / "cache")
    assert again.translate(["salt", "sea"]) == ["SALT", "SEA"]
    assert len(calls(stand_in)) == 1
    assert again.translate(["salt", "bee"]) == ["SALT", "BEE"]
    assert len(calls(stand_in)) == 2


def test_each_batch_is_kept_as_soon_as_it_is_translated(stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(apertium, "_BATCH", 2)
    made = Apertium("eng-spa", tmp_path / "cache")
    assert made.translate(list("abcde")) == list("ABCDE")
    assert len(calls(stand_in)) == 3
    (stand_in / "broken").touch()
    with pytest.raises(InputError, match=re.escape("apertium -u -f txt eng-spa: failed (out of order)")):
        made.translate(list("defg"))
    assert Apertium("eng-spa", tmp_path / "cache").translate(list("abcde")) == list("ABCDE")


def test_texts_that_run_together_are_translated_one_by_one(stand_in, tmp_path):
    (stand_in / "joins").touch()
    assert Apertium("eng-spa", tmp_path / "cache").translate(["sea", "salt", "bee"]) == ["SEA", "SALT", "BEE"]


def test_a_mode_is_found_by_its_languages(stand_in, tmp_path):
    assert Apertium.of("en", "es", tmp_path / "cache").mode == "eng-spa"
    assert Apertium.of("spa", "en", tmp_path / "cache").mode == "spa-eng"
    assert mode_names("en", "xx") == ["eng-xx", "en-xx"]


def test_a_pair_that_is_not_installed_is_named_with_its_package(stand_in, tmp_path):
    with pytest.raises(InputError, match=r"does not translate fr to ca; .*apertium-fra-cat \(or apertium-cat-fra\)"):
        Apertium.of("fr", "ca")
    with pytest.raises(InputError, match=r"has no mode 'en-es', only eng-spa, spa-eng; install .*apertium-en-es"):
        Apertium("en-es")


def test_without_apertium_the_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed_modes() == []
    said = "apertium: is not installed; install the Debian packages apertium and apertium-eng-spa"
    with pytest.raises(InputError, match=said):
        Apertium.of("en", "es")
    with pytest.raises(InputError, match=said):
        Apertium("eng-spa")


REAL = pytest.mark.skipif(
    not shutil.which("apertium") or "eng-spa" not in installed_modes(), reason="apertium-eng-spa is not installed"
)


@REAL
def test_the_real_one_translates_and_keeps_texts_apart(tmp_path):
    made = Apertium.of("en", "es", tmp_path / "cache")
    texts = ["the big", "house", "the white cats", "Xyzzy [x] ^a$ \\ / {b} <i> @ * #", "中文 \u2028 é 😀", "a\n\nb"]
    translated = made.translate(texts)
    assert len(translated) == len(texts)
    assert translated[1].lower() == "casa"
    assert "gatos" in translated[2]
    assert "Xyzzy" in translated[3]
    assert not any(text.startswith("*") for text in translated)


@REAL
def test_the_real_one_gives_a_text_for_each(tmp_path, monkeypatch):
    monkeypatch.setattr(apertium, "_BATCH", 25)
    texts = [f"{word} number {i}{end}" for i in range(8) for word in ("The cat", "big", "?") for end in ("", ".", " [")]
    translated = Apertium("eng-spa", tmp_path / "cache").translate(texts)
    assert [re.findall(r"\d", text) for text in translated] == [re.findall(r"\d", text) for text in texts]
