"""Catalogues of gettext, ``.po`` and ``.mo``, as parallel text."""

from __future__ import annotations

import gzip
import struct

import pytest

from isogloss.data.problems import Problems
from isogloss.data.readers.gettext import read_po
from isogloss.data.readers.messages import plain_message
from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {}\\n"\n\n'


def po(*entries, language="es"):
    return HEADER.format(language) + "".join(f'msgid "{message}"\nmsgstr "{text}"\n\n' for message, text in entries)


def mo(*entries):
    """A compiled catalogue, as msgfmt writes it."""
    entries = sorted((message.encode(), text.encode()) for message, text in entries)
    start = 28 + 16 * len(entries)
    tables, strings = [b"", b""], b""
    for side in (0, 1):
        for entry in entries:
            tables[side] += struct.pack("<2I", len(entry[side]), start + len(strings))
            strings += entry[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, start)
    return head + tables[0] + tables[1] + strings


@pytest.fixture
def texts(put):
    """The pairs of texts of some files, of the folder or of one of them."""

    def read(files, pair=("en", "es"), file="", problems=None):
        directory = put(files)
        source = open_source(f"po:{directory / file}")
        return [each for _, each in source.parallel(pair, problems or Problems())]

    return read


def messages(put, text, problems=None):
    return [each for _, each in read_po(put({"a.po": text}) / "a.po", problems or Problems())]


def test_messages_and_their_translations_are_pairs(texts):
    files = {"es.po": po(("Open the file", "Abrir el archivo"), ("Quit", "Salir"))}
    assert texts(files) == [("Open the file", "Abrir el archivo"), ("Quit", "Salir")]
    assert texts(files, ("es", "en")) == [("Abrir el archivo", "Open the file"), ("Salir", "Quit")]


def test_fuzzy_obsolete_untranslated_and_empty_entries_are_left_out(put):
    text = HEADER.format("es") + (
        '#, fuzzy, c-format\nmsgid "Maybe"\nmsgstr "No"\n\n# a comment\n#: main.c:1\nmsgid "Yes"\nmsgstr "Sí"\n'
        '#~ msgid "Old"\n#~ msgstr "Viejo"\n\n#| msgid "Before"\nmsgid "New"\nmsgstr "Nuevo"\n'
        'msgid "Nothing"\nmsgstr ""\n'
    )
    assert messages(put, text) == [("Yes", "Sí"), ("New", "Nuevo")]


def test_plural_forms_and_contexts(put):
    text = (
        'msgctxt "menu"\nmsgid "file"\nmsgid_plural "files"\nmsgstr[0] "archivo"\nmsgstr[1] "archivos"\n\n'
        'msgctxt "verb"\nmsgid "file"\nmsgstr "archivar"\n\n'
        'msgid "day"\nmsgid_plural "days"\nmsgstr[0] "日"\n'
    )
    assert messages(put, text) == [
        ("file", "archivo"), ("files", "archivos"), ("file", "archivar"), ("day", "日"), ("days", "日"),
    ]  # fmt: skip


def test_texts_of_several_lines_and_escapes(put):
    text = 'msgid ""\n"one \\"two\\"\\n"\n"three"\nmsgstr "uno\\t\\\\ dos \\x41\\101"\n'
    assert messages(put, text) == [('one "two"\nthree', "uno\t\\ dos AA")]


@pytest.mark.parametrize("change", [lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\xef\xbb\xbf" + b, gzip.compress])
def test_line_ends_a_mark_of_byte_order_and_gzip_make_no_difference(put, change):
    assert messages(put, change(po(("Yes", "Sí")).encode())) == [("Yes", "Sí")]


def test_the_header_names_the_character_set(put):
    text = po(("Yes", "Sí")).replace("UTF-8", "ISO-8859-1").encode("latin-1")
    assert messages(put, text) == [("Yes", "Sí")]
    with pytest.raises(InputError, match=r"a\.po: the character set 'klingon' is not known; convert the file"):
        messages(put, po(("Yes", "Sí")).replace("UTF-8", "klingon"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('msgid "a"\nmsgstr "b\n', r"a\.po:2: the text in quotes does not end"),
        ('msgid "a"\nmsgid "b"\nmsgstr "c"\n', r"a\.po:2: msgid where none is expected"),
        ('msgstr "c"\n', r"a\.po:1: msgstr where none is expected"),
        ("hello\n", r"a\.po:1: expected msgid, msgstr or a comment, got 'hello'"),
        ('"hello"\n', r"a\.po:1: expected msgid, msgstr or a comment"),
        ('\nmsgid "a"\n', r"a\.po:2: the file ends before the translation of this message"),
        (b'msgid "a"\nmsgstr "\xff"\n', r"a\.po:2: not UTF-8 \(byte 0xff"),
        (b"\x00\x01\x02\xff", r"a\.po:1: a binary file, text is needed"),
        (gzip.compress(b'msgid "a"\nmsgstr "b"\n', mtime=0)[:-9], r"a\.po: a damaged gzip archive"),
    ],
)
def test_a_damaged_catalogue_is_an_error_in_one_line(put, text, error):
    with pytest.raises(InputError, match=error) as raised:
        messages(put, text)
    assert "\n" not in str(raised.value)


def test_malformed_entries_can_be_skipped(put):
    problems = Problems(stop_at_errors=False)
    text = 'msgid "a"\nmsgstr "b\n\nmsgid "c"\nmsgstr "d"\nrubbish\nmsgid "e"\nmsgstr "f"\n'
    assert messages(put, text, problems) == [("c", "d"), ("e", "f")]
    assert problems.errors == {"malformed entry": 2}


def test_catalogues_of_two_languages_are_paired_by_their_messages(texts):
    files = {
        "app/fr.po": po(("Yes", "Oui"), ("No", "Non"), language="fr"),
        "app/es.po": po(("No", "No"), ("Quit", "Salir"), ("Yes", "Sí")),
    }
    assert texts(files, ("fr", "es")) == [("Non", "No"), ("Oui", "Sí")]


def test_an_english_catalogue_says_what_keys_mean(texts):
    files = {
        "en.po": po(("button.ok", "All right"), language="en"),
        "es.po": po(("button.ok", "De acuerdo"), ("Quit", "Salir")),
    }
    assert texts(files) == [("All right", "De acuerdo"), ("Quit", "Salir")]


def test_compiled_catalogues_are_of_the_language_of_their_folder(texts):
    files = {
        "es/LC_MESSAGES/app.mo": mo(("", "Content-Type: text/plain; charset=UTF-8\n"), ("Quit", "Salir")),
        "fr/LC_MESSAGES/app.mo": mo(("Quit", "Quitter")),
    }
    assert texts(files) == [("Quit", "Salir")]
    assert texts(files, ("en", "fr")) == [("Quit", "Quitter")]


def test_a_compiled_catalogue_beside_its_source_is_not_read_twice(texts):
    files = {"es.po": po(("Quit", "Salir")), "es.mo": mo(("Quit", "Otra vez"))}
    assert texts(files) == [("Quit", "Salir")]


@pytest.mark.parametrize("name", ["app.es.po", "app_es.po", "es.po", "es/app.po", "app.es_MX.po"])
def test_without_a_header_the_path_tells_the_language(texts, name):
    assert texts({name: 'msgid "Quit"\nmsgstr "Salir"\n', "app.fr.po": po(language="fr")}) == [("Quit", "Salir")]


def test_a_catalogue_that_the_user_names_may_leave_its_language_out(texts):
    files = {"messages.po": 'msgid "Quit"\nmsgstr "Salir"\n'}
    assert texts(files, file="messages.po") == [("Quit", "Salir")]
    assert texts(files, ("es", "en"), file="messages.po") == [("Salir", "Quit")]


def test_a_region_does_not_matter(texts):
    assert texts({"a.po": po(("Quit", "Sair"), language="pt_BR")}, ("en", "pt")) == [("Quit", "Sair")]


def test_another_language_is_an_error_that_says_which_there_are(texts):
    with pytest.raises(InputError, match=r"es\.po: has no catalogue in 'fr'; languages here: es"):
        texts({"es.po": po(("Quit", "Salir"))}, ("en", "fr"), "es.po")
    with pytest.raises(InputError, match=r"data: has no catalogue in 'fr'; languages here: es"):
        texts({}, ("fr", "es"))


@pytest.mark.parametrize("content", [b"", b"not a catalogue", mo(("a", "b"))[:40], mo(("a", "b"))[:-6]])
def test_a_damaged_compiled_catalogue_is_an_error_in_one_line(texts, content):
    with pytest.raises(InputError, match=r"es\.mo: ") as raised:
        texts({"es.mo": content})
    assert "\n" not in str(raised.value)


def test_marks_of_programs_are_taken_out_of_messages():
    assert plain_message("_Open %s of <b>%2$d</b> files…") == "Open of files…"
    assert plain_message("ファイル(&F)") == "ファイル"
    assert plain_message("{name} &amp; %(count)d others: 100% done") == "& others: 100% done"
    assert plain_message("snake_case_name stays") == "snake_case_name stays"


def test_texts_of_one_language_are_documents_each_once(put, read):
    put({"es.po": po(("Quit", "Salir"), ("Exit", "Salir"), ("Open", "Abrir"))})
    data = read(f"po:{put({})}", "en-es")
    assert [(document.id, document.text) for document in data.documents] == [("1", "Salir"), ("2", "Abrir")]
    assert data.parallel == [("Quit", "Salir"), ("Exit", "Salir"), ("Open", "Abrir")]
    assert data.splits == {"train": []}
    assert [document.text for document in read(f"po:{put({})}", "es-en").documents] == ["Quit", "Exit", "Open"]
