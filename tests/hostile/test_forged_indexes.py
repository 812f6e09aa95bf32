"""A stranger's index: it connects to nobody, sends nobody a key, runs nothing, and reaches no file outside itself."""

import json
import os
import pickle
import random
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from tests.engines.inputs import few_pages
from tests.hostile.forging import COUNT, forged, listening

from isogloss import Index
from isogloss.cli.main import main
from isogloss.data.documents import Document
from isogloss.engines import addresses
from isogloss.engines.registry import ENGINES
from isogloss.index import commit as commits
from isogloss.index.checking import check_index
from isogloss.index.making import make_index, re_encode
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
NAME = "pages_0123abcd"
URLS = {
    "qdrant": ["qdrant+http://127.0.0.1:{port}", "qdrant+https://me@127.0.0.1:{port}/x", "qdrant:{folder}"],
    "postgresql": [
        "postgresql://u@127.0.0.1:{port}/x?sslmode=disable",
        "postgresql:///x?host=127.0.0.1&port={port}&passfile=/etc/passwd",
        "postgresql://db.example.org/x?hostaddr=127.0.0.1&port={port}&sslkey=/etc/passwd&options=-csearch_path%3Dx",
        "postgresql:///x?service=evil",
    ],
}
SECRETS = {"QDRANT_API_KEY": "s3cret", "PGPASSWORD": "s3cret", "PGUSER": "s3cret", "PGCONNECT_TIMEOUT": "2"}
NOT_NAMED = "which you have not named on this machine"


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An index in files, in two languages."""
    folder = tmp_path_factory.mktemp("honest")
    make_index(folder / "index", "bm25", few_pages(folder), ["fr", "sw"])
    return folder / "index"


@pytest.fixture
def copied(honest, tmp_path):
    shutil.copytree(honest, tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def secrets(monkeypatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("ISOGLOSS_ENGINE", raising=False)


@pytest.fixture
def forge(copied):
    """Say in index.json that the documents are in an engine."""

    def write(url, name=NAME, dimension=8):
        content = json.loads((copied / "index.json").read_text())
        content["engine"] = {"url": url, "name": name, "dimension": dimension}
        rewrite(copied / "index.json", content)
        return copied

    return write


def rewrite(path, content):
    """Write a file of an index with all that vouches for it, as somebody would who knows how."""
    if path.name == "commit.json":
        content = {**content, "checksum": commits._hash(content)} if isinstance(content, dict) else content
        path.write_text(json.dumps(content))
    else:
        path.write_text(json.dumps(content))
        commit = json.loads((path.parent / "commit.json").read_text())
        commit.pop("checksum")
        from isogloss.storage.checksums import note_of

        commit["files"]["index.json"] = list(note_of(path))
        rewrite(path.parent / "commit.json", commit)
    for name in ("index", "commit"):
        shutil.copy(path.parent / f"{name}.json", path.parent / f"{name}.copy.json")


def refused(use, *arguments):
    with pytest.raises(InputError, match=NOT_NAMED):
        use(*arguments)


@pytest.mark.parametrize("url", [url for urls in URLS.values() for url in urls])
def test_its_engine_is_not_connected_to(forge, url, secrets, tmp_path, capsys):
    assert set(URLS) == set(ENGINES.names()), "an engine without forged addresses"
    (tmp_path / "theirs").mkdir()
    with listening() as (port, arrived):
        index = forge(url.format(port=port, folder=tmp_path / "theirs"))
        refused(open_index, index)
        refused(Index.open, index)
        refused(lambda: IndexWriter(index).__enter__())
        refused(re_encode, index, "bm25")
        for command in (
            ("search", index, "tea"),
            ("delete", index, "fr-tea"),
            ("add", index, "demo", "--language", "fr"),
            ("re-encode", index, "--approximate", "yes"),
        ):
            assert main([str(part) for part in command]) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert NOT_NAMED in line
            assert "--engine URL" in line
        make_index(index, "bm25", few_pages(tmp_path), ["fr"], overwrite=True)  # drops nothing that was not named
        assert len(open_index(index).languages) == 1
    assert arrived == []
    assert list((tmp_path / "theirs").iterdir()) == []


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("qdrant+http://127.0.0.1:{port}", "option"),
        ("qdrant+http://127.0.0.1:{port}", "environment"),
        ("postgresql://u@127.0.0.1:{port}/x?sslmode=disable", "python"),
    ],
)
def test_only_the_address_that_the_user_names_is_connected_to(forge, url, how, secrets, monkeypatch):
    pytest.importorskip("qdrant_client" if url.startswith("qdrant") else "psycopg_pool")
    asks_for_a_password = b"R\x00\x00\x00\x08\x00\x00\x00\x03"
    answer = asks_for_a_password if url.startswith("p") else b"HTTP/1.1 404 no\r\ncontent-length: 0\r\n\r\n"
    with listening(answer) as (theirs, stolen), listening(answer) as (own, arrived):
        index, named = forge(url.format(port=theirs)), url.format(port=own)
        if how == "environment":
            monkeypatch.setenv("ISOGLOSS_ENGINE", named)
        if how == "option":
            assert main(["search", str(index), "tea", "--engine", named]) == 2
            assert "ISOGLOSS_ENGINE" not in os.environ
        else:
            with pytest.raises(InputError):
                Index.open(index, engine=named if how == "python" else "")
    assert stolen == []
    assert any(b"s3cret" in each for each in arrived)
    addresses.forget(url.format(port=theirs), NAME)


def test_a_redirect_gets_no_key(forge, secrets):
    pytest.importorskip("qdrant_client")
    with listening(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n") as (port, stolen):
        elsewhere = f"HTTP/1.1 307 go\r\nlocation: http://127.0.0.1:{port}/\r\ncontent-length: 0\r\n\r\n".encode()
        with listening(elsewhere) as (own, arrived), pytest.raises(InputError):
            open_index(forge("qdrant+http://x"), engine=f"qdrant+http://127.0.0.1:{own}")
    assert any(b"s3cret" in each for each in arrived)
    assert stolen == []


@pytest.mark.parametrize("url", ["qdrant:x", "qdrant+ftp://127.0.0.1/", "qdrant+file:///etc", "qdrant+://x"])
def test_the_engine_of_the_user_is_of_the_kind_of_the_index(forge, url, secrets):
    pytest.importorskip("qdrant_client")
    with pytest.raises(InputError, match="no address of postgresql"):
        open_index(forge("postgresql://u@127.0.0.1:1/x"), engine=url)
    with pytest.raises(InputError, match=r"no address of a Qdrant server|there is no such index"):
        open_index(forge("qdrant+http://127.0.0.1:1"), engine=url)


@pytest.mark.parametrize("name", ["../theirs", "/etc", "", ".", "..", "a/b", "Pages", "x" * 64, "pages;drop", "p\n"])
def test_a_name_in_an_engine_is_plain(forge, name, tmp_path):
    (tmp_path / "theirs").mkdir()
    with pytest.raises(InputError, match="names no index in an engine"):
        open_index(forge(f"qdrant:{tmp_path}", name), engine=f"qdrant:{tmp_path}")
    assert (tmp_path / "theirs").is_dir()


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """An index that the user made in a folder of Qdrant, and the state directory that knows it."""
    pytest.importorskip("qdrant_edge")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(addresses, "_confirmed", {})
    make_index(tmp_path / "mine", "bm25", few_pages(tmp_path), ["fr"], engine="qdrant:")
    addresses._confirmed.clear()  # another process
    return tmp_path / "mine"


def found(index, **options):
    with closing(Index.open(index, **options)) as opened:
        return len(opened)


def test_what_was_made_on_this_machine_is_known_there(stored, tmp_path, monkeypatch):
    assert found(stored) == 10
    stored.rename(tmp_path / "moved")
    assert found(tmp_path / "moved") == 10
    (entry,) = (tmp_path / "state" / "isogloss" / "engines").iterdir()
    assert stat.S_IMODE(entry.parent.stat().st_mode) == 0o700
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state of another machine"))
    addresses._confirmed.clear()
    refused(Index.open, tmp_path / "moved")
    assert found(tmp_path / "moved", engine=f"qdrant:{stored}.engine") == 10
    addresses._confirmed.clear()
    assert found(tmp_path / "moved") == 10, "an address that was named once is known"


def test_another_name_at_a_known_address_is_not_known(stored):
    content = json.loads((stored / "index.json").read_text())
    (stored.parent / "mine.engine" / NAME).mkdir()
    content["engine"]["name"] = NAME
    rewrite(stored / "index.json", content)
    refused(open_index, stored)
    make_index(stored, "bm25", few_pages(stored.parent), ["fr"], overwrite=True)
    assert (stored.parent / "mine.engine" / NAME).is_dir()


def test_what_is_dropped_is_forgotten(stored, tmp_path):
    make_index(stored, "bm25", few_pages(tmp_path), ["fr"], overwrite=True)
    assert list((tmp_path / "state" / "isogloss" / "engines").iterdir()) == []
    assert not (tmp_path / "mine.engine").exists()


def test_an_address_that_cannot_be_remembered_is_a_warning(tmp_path, monkeypatch, caplog):
    pytest.importorskip("qdrant_edge")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    make_index(tmp_path / "mine", "bm25", few_pages(tmp_path), ["fr"], engine="qdrant:")
    assert "cannot be remembered" in caplog.text
    assert found(tmp_path / "mine") == 10


class Program:
    """Pickled, it is a program that makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_in_the_folder_of_an_engine_is_not_run(forge, tmp_path):
    """Where the local mode of Qdrant's Python client keeps its points, and runs what it finds."""
    pytest.importorskip("qdrant_edge")
    theirs = tmp_path / "theirs"
    for folder in (theirs / NAME, theirs / "collection" / NAME):
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(folder / "storage.sqlite")) as database:
            database.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
            database.execute("INSERT INTO points VALUES ('1', ?)", (pickle.dumps(Program(tmp_path / "ran")),))
            database.commit()
    (theirs / "meta.json").write_text(json.dumps({"collections": {NAME: {"vectors": {}}}, "aliases": {}}))
    with pytest.raises(InputError, match="Qdrant cannot read it"):
        open_index(forge(f"qdrant:{theirs}"), engine=f"qdrant:{theirs}")
    assert not (tmp_path / "ran").exists()


def test_a_damaged_folder_of_qdrant_is_a_sentence(stored):
    """Its engine is a program in Rust: some damage makes it panic, which is no Exception of Python."""
    files = [path for path in (stored.parent / "mine.engine").rglob("*") if path.is_file()]
    rng, whole = random.Random(0), {path: path.read_bytes() for path in files}
    trackers = [path for path in files if path.name == "tracker.dat"]
    for path in trackers[:2] + rng.sample(files, min(len(files), 2 + COUNT)):
        content = bytearray(whole[path])
        content[: len(content) // 2] = b"\xff" * (len(content) // 2)
        path.write_bytes(content[: rng.randrange(len(content) + 1)])
        try:
            found(stored)
        except InputError as error:
            assert "\n" not in str(error)
        shutil.rmtree(stored.parent / "mine.engine")
        for each, content in whole.items():
            each.parent.mkdir(parents=True, exist_ok=True)
            each.write_bytes(content)


def test_an_unfinished_index_with_an_odd_name_is_not_swept(tmp_path):
    """``...making`` would be the mark of ``..``."""
    pytest.importorskip("qdrant_edge")
    (tmp_path / "kept").write_text("mine")
    (tmp_path / "mine.engine").mkdir()
    for odd in ("...making", "..making", "Kept.making"):
        (tmp_path / "mine.engine" / odd).touch()
    make_index(tmp_path / "mine", "bm25", few_pages(tmp_path), ["fr"], engine="qdrant:")
    assert (tmp_path / "kept").read_text() == "mine"


@pytest.mark.parametrize("what", ["segments", "shared", "write.lock", "commit.json", "index.json", "deleted"])
def test_a_link_out_of_an_index_is_not_followed(copied, what, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("dear")
    target = tmp_path / "mine" / what
    if (copied / what).exists():
        (copied / what).rename(target)
    else:
        target.mkdir()
    (copied / what).symlink_to(target)
    (target / "letter" if target.is_dir() else tmp_path / "mine" / "letter").write_text("dear")
    before = sorted(path for path in (tmp_path / "mine").rglob("*"))
    uses = (open_index, check_index, lambda path: IndexWriter(path).__enter__(), lambda path: re_encode(path, "bm25"))
    for use in uses:
        with pytest.raises(InputError, match="is a link"):
            use(copied)
    content = target.read_bytes() if target.is_file() else b""
    if what == "write.lock":
        with pytest.raises(OSError, match="symbolic links"):
            make_index(copied, "bm25", few_pages(tmp_path), ["fr"], overwrite=True)
    else:
        make_index(copied, "bm25", few_pages(tmp_path), ["fr"], overwrite=True)
    assert sorted(path for path in (tmp_path / "mine").rglob("*")) == before
    assert (target.read_bytes() if target.is_file() else b"") == content


def test_a_pipe_in_an_index_is_not_waited_for(copied):
    (copied / "commit.json").unlink()
    os.mkfifo(copied / "commit.json")
    with pytest.raises(InputError, match="no file at all"):
        open_index(copied)


@pytest.mark.parametrize("kind", ["language", "segment", "file", "order_file", "deleted_file"])
@pytest.mark.parametrize("name", ["../theirs", "/etc", "a/../../theirs"])
def test_a_commit_names_only_files_of_the_index(copied, kind, name):
    content = json.loads((copied / "commit.json").read_text())
    content.pop("checksum")
    language = content["languages"]["fr"]
    if kind == "language":
        content["languages"][name] = content["languages"].pop("fr")
    elif kind == "segment":
        language["segments"][0]["name"] = name
    elif kind == "file":
        content["files"][name] = content["files"]["index.json"]
    else:
        (language if kind == "order_file" else language["segments"][0])[kind] = name
        content["files"][name] = content["files"]["index.json"]
    rewrite(copied / "commit.json", content)
    for use in (open_index, check_index, lambda path: IndexWriter(path).__enter__()):
        with pytest.raises(InputError):
            use(copied)


def test_options_of_an_index_read_no_files_of_the_user(tmp_path):
    """``translator=file:FILE`` is in index.json; what it reads is a copy in the index."""
    (tmp_path / "ready.tsv").write_text("tea\tthé\n")
    (tmp_path / "private.tsv").write_text("tea\tmon secret\n")
    index, options = tmp_path / "index", {"translator": f"file:{tmp_path / 'ready.tsv'}"}
    make_index(index, "bm25-mt", few_pages(tmp_path), ["fr"], settings=options)
    content = json.loads((index / "index.json").read_text())
    for translator in (f"file:{tmp_path / 'private.tsv'}", "file:/etc/passwd"):
        content["options"]["translator"] = translator
        rewrite(index / "index.json", content)
        (line,) = Searcher(open_index(index)).languages["fr"].system.translations("tea")
        assert line == ("tea", ["thé"])
    content["options"]["lexicon"] = "/etc/passwd"
    rewrite(index / "index.json", content)
    with pytest.raises(InputError, match="name files"):
        open_index(index)


def test_forged_values_are_sentences(honest, tmp_path):
    """An index whose files vouch for each other, and say something odd, is searched, changed, or refused."""
    rng, outcomes = random.Random(0), {"refused": 0, "used": 0}
    for number in range(40 + COUNT):
        index = tmp_path / f"{number}"
        shutil.copytree(honest, index)
        path = index / rng.choice(["index.json", "commit.json"])
        content = json.loads(path.read_text())
        content.pop("checksum", None)
        rewrite_as_bytes(path, forged(content, rng))
        try:
            with closing(open_index(index)) as opened:
                Searcher(opened).search("miel")
                opened.about()
            with IndexWriter(index, background=False) as writer:
                writer.add([Document("new", "le miel", language="fr")])
                writer.commit()
            outcomes["used"] += 1
        except InputError as error:
            assert "\n" not in str(error)
            outcomes["refused"] += 1
        shutil.rmtree(index)
    assert outcomes["refused"] > outcomes["used"] > 0
    assert list(tmp_path.iterdir()) == []


def rewrite_as_bytes(path: Path, content: object) -> None:
    """``rewrite``, also where the content is not an object at all."""
    if path.name == "commit.json" or isinstance(content, dict):
        rewrite(path, content)
    else:
        path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", ["index.json", "commit.json"])
@pytest.mark.parametrize("content", ["[" * 100_000, "{", "", "\0", "9" * 10_000, '{"format": ' + "[" * 100_000])
def test_json_that_is_none_is_a_sentence(copied, name, content):
    for file in (name, name.replace(".json", ".copy.json")):
        (copied / file).write_text(content)
    with pytest.raises(InputError, match=name):
        open_index(copied)
