"""Translations of the user's own: ``index --translations`` and ``train --parallel``."""

import json
import tomllib

import pytest

import isogloss
from isogloss.data.readers.demo import DEMO_PAGES

QUICK = ("--set", "epochs=2", "--set", "dimension=16")
CATALOGUE = 'msgid "Make an atlas"\nmsgstr "Hacer un atlas"\n\nmsgid "Elephant"\nmsgstr "Elefante"\n'


@pytest.fixture
def folders(here):
    """Pages of the bundled collection as files of two folders, with the same names; returns English first sentences."""
    pages = [json.loads(line) for line in DEMO_PAGES.read_text(encoding="utf-8").splitlines()]
    asked = {}
    for page in pages:
        language, _, name = page["id"].partition("-")
        if language in ("es", "en") and name < "f":
            path = here / "docs" / language / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {page['title']}\n\n{page['text']}\n", encoding="utf-8")
            if language == "en":
                asked[name] = page["text"].partition(".")[0]
    return asked


def test_pages_in_two_folders_are_paired_and_trained_on(run, here, folders):
    (here / "docs" / "es" / "solo.md").write_text("# Solo\n\nNadie me ha traducido.", encoding="utf-8")
    done = run("index", "docs/es", "-o", "index", "--language", "es", "--translations", "docs/en", *QUICK)
    assert done.code == 0, done.err
    count = len(folders)
    assert done.err.splitlines()[0] == f"{count} of {count + 1} documents have a translation in docs/en"
    assert f" in es, and {count} in en to search with" in done.err
    index = isogloss.Index.open("index")
    first = [index.search(sentence, k=1)[0].document.id == f"{name}.md" for name, sentence in folders.items()]
    assert sum(first) > 0.8 * count


def test_one_folder_may_have_both(run, here, folders):
    done = run("index", "docs", "-o", "index", "--language", "es", "--translations", "docs", *QUICK)
    assert done.code == 0, done.err
    assert done.err.startswith(f"{len(folders)} of {len(folders)} documents have a translation in docs\n")


def test_no_pair_is_an_error_in_one_line_before_anything_is_made(run, here, folders):
    (here / "other").mkdir()
    (here / "other" / "x.md").write_text("x", encoding="utf-8")
    done = run("index", "docs/es", "-o", "index", "--language", "es", "--translations", "other")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "other: no page is the translation of a document of docs/es: compared paths or ids" in done.err
    assert not (here / "index").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--translations", "nowhere"), "source: 'nowhere' is neither a folder, a file"),
        (("--translation-key", "slug"), "--translation-key: is for folders and JSON lines"),
        (("--translations", "es.po", "--query-language", "fr"), "es.po: has no catalogue in 'fr'; languages here: es"),
        (("--translations", "broken.tmx"), "broken.tmx:1: not well-formed XML"),
    ],
)
def test_what_cannot_be_used_is_an_error_in_one_line(run, here, folders, arguments, error):
    (here / "es.po").write_text('msgid ""\nmsgstr "Language: es\\n"\n\n' + CATALOGUE, encoding="utf-8")
    (here / "broken.tmx").write_text("broken", encoding="utf-8")
    done = run("index", "docs/es", "-o", "index", "--language", "es", *arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(f"isogloss: {error}")


def test_messages_of_a_program_are_trained_on(run, here, folders):
    (here / "es.po").write_text(CATALOGUE, encoding="utf-8")
    arguments = ("--language", "es", "--system", "psq", "--set", "lexicon=induced", "--translations", "es.po")
    done = run("index", "docs/es", "-o", "index", *arguments)
    assert (done.code, done.err.splitlines()[0]) == (0, "2 translated texts (en-es) in es.po")
    assert isogloss.Index.open("index").search("elephant")[0].document.id == "elephant.md"


def test_a_run_remembers_its_parallel_text(run, here, folders):
    (here / "es.po").write_text(CATALOGUE, encoding="utf-8")
    common = ("--pair", "en-es", "-o", "run", *QUICK)
    done = run("train", "bridge", "--data", "docs/es", "--parallel", "es.po", *common)
    assert done.code == 0, done.err
    assert "use it: isogloss index DOCUMENTS --system run --language es -o INDEX" in done.err
    assert tomllib.loads((here / "run" / "config.toml").read_text(encoding="utf-8"))["parallel"] == ["es.po"]
    done = run("index", "docs/es", "-o", "index", "--language", "es", "--system", "run", "--translations", "es.po")
    assert (done.code, done.err) == (
        2, "isogloss: translations: run is trained already; leave them out, or train it with --parallel\n",
    )  # fmt: skip
    assert run("train", "--resume", "-o", "run", "--parallel", "es.po").code == 2
    done = run("train", "bridge", "--data", "docs/es", "--parallel", "docs/en", *common, "--overwrite")
    assert (done.code, done.err.partition(" (")[0]) == (2, "isogloss: docs/en: is no parallel text")


@pytest.mark.parametrize("data", ["moses:corpus", "corpus", "po:messages", "tmx:memory.tmx", "tsv:table.tsv"])
def test_parallel_text_alone_can_be_trained_on(run, here, data):
    (here / "messages").mkdir()
    (here / "messages" / "es.po").write_text(CATALOGUE, encoding="utf-8")
    (here / "corpus.en").write_text("the bees make honey\nhoney bees\n", encoding="utf-8")
    (here / "corpus.es").write_text("las abejas hacen miel\nabejas de miel\n", encoding="utf-8")
    (here / "table.tsv").write_text("the bees make honey\tlas abejas hacen miel\nhoney\tmiel\n", encoding="utf-8")
    unit = (
        '<tu><tuv xml:lang="en"><seg>bees make honey</seg></tuv><tuv xml:lang="es"><seg>abejas, miel</seg></tuv></tu>'
    )
    (here / "memory.tmx").write_text(f"<tmx>{unit}{unit.replace('bees', 'all bees')}</tmx>", encoding="utf-8")
    done = run("train", "bridge", "--data", data, "--pair", "en-es", "-o", "run", *QUICK)
    assert done.code == 0, done.err
    assert (here / "run" / "finished.json").is_file()


def test_programs_give_translations_too():
    documents = ["Las abejas hacen miel.", "El volcán arroja lava.", "La miel es dulce.", "La lava es roja."]
    translations = ["The bees make honey.", "The volcano throws lava.", "Honey is sweet.", "Lava is red."]
    index = isogloss.Index.make(documents, "es", translations=translations, system="psq", lexicon="induced")
    assert {hit.document.id for hit in index.search("honey", k=2)} == {"1", "3"}
    pairs = list(zip(translations, documents, strict=True))
    index = isogloss.Index.make(documents, "es", translations=pairs, system="psq", lexicon="induced")
    assert {hit.document.id for hit in index.search("lava volcano", k=2)} == {"2", "4"}
