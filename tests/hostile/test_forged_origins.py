"""A stranger's index says what it was made of: nothing of that is read, looked at or watched unless you name it."""

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from tests.hostile.forging import COUNT, forged

from isogloss import Index
from isogloss.cli.main import main
from isogloss.data.readers.registry import open_source
from isogloss.index import named_origins
from isogloss.index.commit import Commit
from isogloss.index.making import make_index
from isogloss.index.manifest import Manifest
from isogloss.index.origins import FOLDER, Key, Origin, OriginRecord, load_origins, records_in
from isogloss.index.syncing import folder_of, sync_index
from isogloss.index.writer import IndexWriter
from isogloss.storage.checksums import write_checksums
from isogloss.storage.errors import InputError
from isogloss.storage.file_states import UNKNOWN, FileState, Status

NOT_NAMED = "which you have not named for it"
STATE = FileState(Status(), UNKNOWN)


@pytest.fixture
def secrets(tmp_path):
    """What a stranger would like to have in their index."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "key.txt").write_text("the secret key", encoding="utf-8")
    return folder


@pytest.fixture
def index(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "one.txt").write_text("le pain du matin", encoding="utf-8")
    make_index(tmp_path / "index", "bm25", open_source(str(docs)), ["fr"])
    return tmp_path / "index"


def forge(index, source, states=None, claims=None):
    """Say that the index was made of a source."""
    with IndexWriter(index) as writer:
        name = next(iter(records_in(writer.index.commit)))
        writer.set_origin(name, OriginRecord.of(Origin(source), states or {"one.txt": STATE}, claims or {}))
        writer.commit()


@pytest.mark.parametrize("source", ["folder:{}", "folder+links:{}", "file:{}/key.txt", "jsonl:{}/key.txt"])
def test_what_it_names_is_not_read(index, secrets, source, capsys, monkeypatch):
    source = source.format(secrets)
    forge(index, source)
    touched = []
    for name in ("open", "scandir", "stat", "lstat"):
        original = getattr(os, name)

        def spy(path=".", *arguments, original=original, **options):
            touched.append(str(path))
            return original(path, *arguments, **options)

        monkeypatch.setattr(os, name, spy)
    for use in (sync_index, lambda path: Index.open(path).sync()):
        with pytest.raises(InputError, match=NOT_NAMED):
            use(index)
    for command in (("sync",), ("sync", "--watch"), ("sync", "--force")):
        assert main([command[0], str(index), *command[1:]]) == 2
    assert main(["info", str(index)]) == main(["list", str(index)]) == 0
    assert folder_of(index, Path("elsewhere.txt")) is None
    monkeypatch.undo()
    assert "you have not named it on this machine" in capsys.readouterr().out
    assert not [path for path in touched if "secrets" in path]
    assert "secret key" not in json.dumps([hit.document.text for hit in Index.open(index).search("secret key")])


def test_the_folder_of_another_index_is_not_read_either(index, secrets, tmp_path):
    make_index(tmp_path / "mine", "bm25", open_source(str(secrets)), ["en"])
    forge(index, f"folder:{secrets}")
    with pytest.raises(InputError, match=NOT_NAMED):
        sync_index(index)


def test_links_out_of_the_folder_are_not_followed_because_the_index_says_so(index, tmp_path, secrets):
    (tmp_path / "docs" / "link.txt").symlink_to(secrets / "key.txt")
    forge(index, f"folder+links:{tmp_path / 'docs'}")
    with pytest.raises(InputError, match=NOT_NAMED):
        sync_index(index)
    sync_index(index, moved=str(tmp_path / "docs"))
    assert [document.id for document in Index.open(index).search("secret key")] == []


@pytest.mark.parametrize("path", ["/etc/passwd", "../secrets/key.txt", "a/../../b", "x\0"])
def test_paths_of_files_stay_inside(index, path):
    key = Key("fr", "one.txt")
    forge(index, next(iter(load_origins(index, Commit.load(index)).values())).origin.source, {path: STATE}, {key: path})
    for use in (sync_index, lambda index: main(["list", str(index), "--debug"])):
        try:
            assert use(index) == 2
        except InputError as error:
            assert "is no path in what the index was made of" in str(error)
    source = next(iter(load_origins(index, Commit.load(index)).values())).origin.source
    assert main(["sync", str(index), "--forget", source]) == 0
    assert main(["list", str(index)]) == 0


def test_a_source_without_a_whole_path_is_no_origin(index):
    for source in ("folder:docs", "folder:", "", "folder:~/x", "folder:/x\0"):
        forge(index, source)
        with pytest.raises(InputError, match="what it was made of is damaged"):
            sync_index(index)


def test_whatever_is_in_its_record_is_one_sentence(index, tmp_path, secrets):
    """Every value in turn is another; the forger has computed all checksums."""
    rng, honest = random.Random(0), tmp_path / "honest"
    shutil.copytree(index, honest)
    for _ in range(40 + COUNT):
        shutil.rmtree(index)
        shutil.copytree(honest, index)
        commit = Commit.load(index)
        (record,) = records_in(commit).values()
        folder = index / FOLDER / record
        content = forged(json.loads((folder / "origin.json").read_text()), rng)
        (folder / "origin.json").write_text(json.dumps(content))
        files = {**commit.files, f"{FOLDER}/{record}/checksums.json": write_checksums(folder)}
        Commit(commit.identity, commit.generation, commit.languages, files).save(index)
        try:
            sync_index(index)
        except InputError as error:
            assert str(error)
        assert main(["info", str(index)]) in (0, 2)


def test_what_was_named_is_in_the_state_of_the_user_alone(index, tmp_path):
    source = f"folder:{tmp_path / 'docs'}"
    identity = Manifest.load(index).identity
    assert named_origins.is_named(identity, source)
    assert not named_origins.is_named("0" * 16, source)
    file = named_origins._file(identity, source)
    assert file.is_relative_to(os.environ["XDG_STATE_HOME"])
    assert file.parent.stat().st_mode & 0o077 == 0
