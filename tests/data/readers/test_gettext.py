"""Compiled message catalogues: both byte orders, contexts, plurals, character sets; damage is said."""

import struct

import pytest

from isogloss.data.readers.gettext import read_mo
from isogloss.storage.errors import InputError


def mo_file(path, messages, order="<", charset="utf-8"):
    """Write a catalogue as msgfmt does, without the hash table."""
    header = f"Content-Type: text/plain; charset={charset}\n"
    entries = sorted((a.encode(charset), b.encode(charset)) for a, b in {"": header, **messages}.items())
    start = 28 + 16 * len(entries)
    tables, texts = [], b""
    for side in (0, 1):
        for entry in entries:
            tables += [len(entry[side]), start + len(texts)]
            texts += entry[side] + b"\0"
    numbers = [0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0, *tables]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack(f"{order}{len(numbers)}I", *numbers) + texts)
    return path


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
def test_messages_of_both_byte_orders(tmp_path, order, charset):
    path = mo_file(tmp_path / "fr.mo", {"horse": "cheval", "summer": "été"}, order, charset)
    assert list(read_mo(path)) == [("horse", "cheval"), ("summer", "été")]


def test_a_context_is_left_out_and_a_plural_is_one_more_message(tmp_path):
    path = mo_file(tmp_path / "pl.mo", {"menu\x04file": "plik", "%d day\0%d days": "%d dzień\0%d dni\0%d dnia"})
    assert list(read_mo(path)) == [("%d day", "%d dzień"), ("%d days", "%d dnia"), ("file", "plik")]


def test_what_has_no_translation_is_left_out(tmp_path):
    assert list(read_mo(mo_file(tmp_path / "fr.mo", {"horse": "", "sea": "mer"}))) == [("sea", "mer")]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "fr.mo").write_text('msgid "horse"\nmsgstr "cheval"\n')
    with pytest.raises(InputError, match="not a compiled message catalogue"):
        list(read_mo(tmp_path / "fr.mo"))


def test_every_cut_is_noticed_or_harmless(tmp_path):
    path = mo_file(tmp_path / "fr.mo", {"horse": "cheval", "sea": "mer"})
    content = path.read_bytes()
    for length in range(len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match=r"fr\.mo"):
            list(read_mo(path))


def test_an_unknown_character_set(tmp_path):
    path = mo_file(tmp_path / "fr.mo", {"horse": "cheval"})
    path.write_bytes(path.read_bytes().replace(b"charset=utf-8", b"charset=utf-9"))
    with pytest.raises(InputError, match="'utf-9' is not known"):
        list(read_mo(path))
