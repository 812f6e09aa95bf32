"""``lexicon=auto``: what is found on this machine; and what a run records of the files it has read."""

import tomllib

import pytest

from isogloss import Index
from isogloss.cli.main import main
from isogloss.data.documents import Collection, Document
from isogloss.data.readers.demo import Demo
from isogloss.storage.checksums import note_of
from isogloss.storage.errors import InputError
from isogloss.systems.base import AUTO
from isogloss.systems.lexicons import fill_languages, knowledge_note
from isogloss.systems.registry import make_system
from isogloss.systems.training_runs import resume_training, train
from isogloss.translation.dictionaries import VARIABLE

FEW = {"epochs": 1, "dimension": 4, "without": "characters,vectors,weights"}


def collection(*texts):
    return Collection(Document(str(number), text) for number, text in enumerate(texts))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr("isogloss.translation.dictionaries._SYSTEM_FOLDERS", ())
    monkeypatch.setattr("isogloss.systems.lexicons.starter_file", lambda language: None)
    return tmp_path


@pytest.fixture
def dictionary(folder):
    path = folder / "en-de.txt"
    path.write_text("cat Katze\ndog Hund\n")
    return path


def test_the_dictionary_that_is_found_is_used(dictionary):
    system = make_system("psq", ("en", "de"), {"lexicon": AUTO})
    assert system.options.lexicon == str(dictionary)
    system.index(collection("Der Hund bellt.", "Die Katze schläft."), ("text",))
    assert system.search("cat", 1).rows.tolist() == [1]
    assert fill_languages(AUTO, "en", "de") == str(dictionary)
    assert knowledge_note(("en", "de")) == f"the dictionary {dictionary} (2 lines)"


def test_one_of_the_other_direction_is_read_backwards(dictionary):
    system = make_system("psq", ("de", "en"), {"lexicon": AUTO})
    system.index(collection("The dog barks.", "The cat sleeps."), ("text",))
    assert system.search("Katze", 1).rows.tolist() == [1]
    assert knowledge_note(("de", "en")).endswith("(2 lines, read backwards)")


def test_none_is_as_if_none_were_named(folder):
    system = make_system("psq", ("en", "de"), {"lexicon": AUTO})
    assert system.options.lexicon == ""
    with pytest.raises(InputError, match="psq: needs a bilingual lexicon"):
        system.index_texts(["Der Hund bellt."])
    assert knowledge_note(("en", "de")) == ""


def test_the_lexicon_of_the_data_comes_first(folder):
    (folder / "en-fr.txt").write_text("cat chat\n")
    assert make_system("psq", ("en", "fr"), {"lexicon": AUTO}, Demo()).options.lexicon.endswith("en-fr.tsv")
    assert knowledge_note(("en", "fr"), source=Demo()) == "the lexicon of the data"


def test_the_starter_table_is_named_where_the_system_uses_it(dictionary, monkeypatch):
    monkeypatch.setattr("isogloss.systems.lexicons.starter_file", lambda language: dictionary)
    assert knowledge_note(("en", "de")).startswith("the starter table and the dictionary")
    assert "starter table" not in knowledge_note(("en", "de"), uses_starter=False)


def test_a_run_records_the_hashes_of_its_files_and_is_not_resumed_with_others(folder):
    lexicon = folder / "en-fr.tsv"
    lexicon.write_text("cat\tchat\nvolcano\tvolcan\n")
    options = {**FEW, "lexicon": str(lexicon)}
    run = train("bridge", "demo", "en-fr", folder / "run", **options)
    recorded = tomllib.loads((run.path / "config.toml").read_text())["files"]
    assert recorded["lexicon"] == note_of(lexicon).hash
    assert resume_training(run.path).results == run.results  # finished: nothing to do
    (run.path / "finished.json").unlink()
    lexicon.write_text("cat\tchien\n")
    with pytest.raises(InputError, match="the file of lexicon is not the one that the run was begun with"):
        resume_training(run.path)


def test_an_index_takes_what_is_found_and_says_so(dictionary, folder, capsys):
    documents = folder / "documents"
    documents.mkdir()
    (documents / "hund.txt").write_text("Der Hund bellt.")
    (documents / "katze.txt").write_text("Die Katze schläft.")
    command = ["index", str(documents), "--system", "psq", "--language", "de", "-o", str(folder / "index")]
    assert main(command) == 0
    assert capsys.readouterr().err.splitlines()[0] == f"en-de: uses the dictionary {dictionary} (2 lines)"
    assert main([*command, "--overwrite", "--set", f"lexicon={dictionary}"]) == 0
    assert "dictionary" not in capsys.readouterr().err
    index = Index.make(["Der Hund bellt.", "Die Katze schläft."], "de", system="psq")
    assert [hit.document.id for hit in index.search("cat")] == ["2"]


def test_what_is_measured_does_not_depend_on_the_machine(dictionary):
    """Neither training nor evaluation looks for dictionaries unless it is told to."""
    assert make_system("psq", ("en", "de"), {}).options.lexicon == ""
