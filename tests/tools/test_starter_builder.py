"""The builder of starter tables, on catalogues that the test writes."""

import importlib
import json
import struct
import sys
from pathlib import Path

import pytest

from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.starter import load_starter
from isogloss.translation.word_tables import pack_table

ROOT = Path(__file__).parents[2]
MODULES = ("build", "choosing", "messages", "notice", "sources", "tables")
ANIMALS = {"horse": "cheval", "cow": "vache", "sheep": "mouton", "goose": "oie", "bee": "abeille"}
VERBS = {"see": "voir", "feed": "nourrir", "sell": "vendre", "find": "trouver", "count": "compter"}


@pytest.fixture
def tools(monkeypatch):
    """The modules of tools/starter by name; they are forgotten after the test."""
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "starter"))
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield {name: importlib.import_module(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name, None)


def write_mo(path, messages):
    entries = sorted((a.encode(), b.encode()) for a, b in messages.items())
    start, tables, texts = 28 + 16 * len(entries), [], b""
    for side in (0, 1):
        for entry in entries:
            tables += [len(entry[side]), start + len(texts)]
            texts += entry[side] + b"\0"
    numbers = [0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0, *tables]
    path.parent.mkdir(parents=True)
    path.write_bytes(struct.pack(f"<{len(numbers)}I", *numbers) + texts)


@pytest.fixture
def work(tmp_path, tools, monkeypatch):
    """A folder in which everything is downloaded: one package, three names of CLDR, two verses."""
    messages = {
        f"{verb} the _{animal} %s": f"{VERBS[verb]} %s _{ANIMALS[animal]}" for verb in VERBS for animal in ANIMALS
    }
    folder = tmp_path / "work"
    write_mo(folder / "mo" / "farm" / "usr/share/locale/fr/LC_MESSAGES/farm.mo", messages | {"once only": "une fois"})
    (folder / "mo" / "farm" / "ARCHIVE").write_text("farm_1.0_all.deb")
    for code, names in {"en": ["tiger", "bee"], "fr": ["tigre", "abeille"]}.items():
        cldr = folder / "npm" / "cldr-annotations-full" / "package" / "annotations" / code / "annotations.json"
        cldr.parent.mkdir(parents=True)
        annotations = {sign: {"tts": [name]} for sign, name in zip("🐅🐝", names, strict=True)}
        cldr.write_text(json.dumps({"annotations": {"identity": {"language": code}, "annotations": annotations}}))
    sources = {"debian": {"games": {"farm": "GPL-2+"}}, "npm": {"cldr-annotations-full": "Unicode-3.0"}, "bible": {}}
    monkeypatch.setattr(tools["sources"], "listed", lambda: sources)
    monkeypatch.setattr(tools["build"], "_FEWEST", 5)
    return folder


def run(tools, monkeypatch, work, output, *more):
    monkeypatch.setattr(sys, "argv", ["build.py", "--work", str(work), "-o", str(output), *more])
    tools["build"].main()


def test_a_table_from_messages_and_names(tools, monkeypatch, work, tmp_path, capsys):
    output = tmp_path / "tables"
    run(tools, monkeypatch, work, output)
    assert capsys.readouterr().out.startswith("fr {'cldr': 2, 'messages': 25}")
    table = load_starter("en", "fr", output)
    for word, translation in (ANIMALS | VERBS | {"tiger": "tigre"}).items():
        (stem,), (other,) = Tokenizer("en", stems=True)(word), Tokenizer("fr", stems=True)(translation)
        row = table.query_numbers == table.query_words.index(stem)
        assert table.document_words[table.document_numbers[row][table.query_probabilities[row].argmax()]] == other
    assert "onc" not in table.query_words  # it was seen in one message
    record = json.loads((output / "tables.json").read_text())
    assert record["languages"]["fr"]["texts"] == {"cldr": 2, "messages": 25}
    assert record["inputs"] == {"farm": "farm_1.0_all.deb"}


def test_the_same_inputs_give_the_same_bytes(tools, monkeypatch, work, tmp_path):
    for name in ("one", "two"):
        run(tools, monkeypatch, work, tmp_path / name)
        (work / "pairs" / "fr.tsv").unlink()
    files = [sorted((tmp_path / name).iterdir()) for name in ("one", "two")]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]
    assert [path.name for path in files[0]] == ["fr.words.xz", "tables.json"]


def test_tables_that_are_there_are_kept(tools, monkeypatch, work, tmp_path):
    run(tools, monkeypatch, work, tmp_path)
    before = (tmp_path / "fr.words.xz").stat()
    run(tools, monkeypatch, work, tmp_path)
    assert (tmp_path / "fr.words.xz").stat().st_ino == before.st_ino
    run(tools, monkeypatch, work, tmp_path, "--overwrite")
    assert (tmp_path / "fr.words.xz").stat().st_ino != before.st_ino


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("_File", "File"),
        ("Save &amp; E&xit", "Save Exit"),
        ("ファイル(_F)", "ファイル"),
        ("<b>%1$s</b> of {count} files", "of files"),
        ("%(name)s is at https://example.org/x", "is at"),
        ("50%% full", "50 full"),
        ("%d", ""),
        ("a_long_key_name", ""),
        ("x" * 601, ""),
    ],
)
def test_messages_become_words(tools, message, words):
    assert tools["messages"].clean(message) == words


def test_locales(tools):
    found = {name: tools["sources"].language_of(name) for name in ("pt_BR", "zh_CN", "zh_TW", "nb", "no", "sr@latin")}
    assert found == {"pt_BR": "pt", "zh_CN": "zh", "zh_TW": None, "nb": "nb", "no": "nb", "sr@latin": "sr"}


def test_a_table_keeps_to_its_size(tools, work):
    pairs = [tools["sources"].Pair("cldr", f"word{n} thing{n % 7}", f"mot{n} chose{n % 5}") for n in range(300)]
    large = tools["tables"].make_table(pairs, "fr")
    small = tools["tables"].make_table(pairs, "fr", len(pack_table(large)) - 100)
    assert 0 < len(small.query_numbers) < len(large.query_numbers)


def test_the_notice_names_every_source(tools):
    notice = (ROOT / "packages" / "starter" / "NOTICE").read_text(encoding="utf-8")
    sources = tools["sources"].listed()
    assert notice == tools["notice"].notice()
    names = [name for part in sources["debian"].values() for name in part]
    assert len(names) > 400
    for name in (*names, *sources["npm"], *sources["bible"].values()):
        assert name in notice
    assert not [name for name in names if name.startswith(("libreoffice", "manpages")) or name.endswith("-doc")]
