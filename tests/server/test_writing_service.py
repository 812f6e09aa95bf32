"""Changing the index over HTTP."""

import errno
import json
import threading
from pathlib import Path

import pytest

from isogloss.data.documents import Document
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.searcher import Searcher
from isogloss.server.limits import Limits
from isogloss.server.log import flush
from isogloss.storage.errors import DamagedFileError, DamagedIndexError, InputError, OpenFilesError

TOKEN = "a-token-of-tests-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
DOCUMENTS = "/api/v1/documents"
NEW = {"id": "f9", "lang": "fr", "title": "Phare", "text": "Le vent, la mer et le phare.", "fields": {"topic": "light"}}


@pytest.fixture
def writable(serving, index):
    return serving(index, token=TOKEN)


def damage_commit(index):
    for name in ("commit.json", "commit.copy.json"):
        (index / name).write_text("{}", encoding="utf-8")


def ids(client, query, **params):
    answer = client.get("/api/v1/search", params={"q": query, **params})
    assert answer.status_code == 200, answer.text
    return {hit["id"] for hit in answer.json()["hits"]}


def test_a_document_is_added_found_replaced_and_deleted(writable, index):
    added = writable.put(DOCUMENTS, json=NEW, headers=BEARER)
    assert (added.status_code, added.json()["added"]) == (200, 1)
    assert "f9" in ids(writable, "wind")
    assert ids(writable, "wind", filter="topic:light") == {"f9"}
    assert writable.get(f"{DOCUMENTS}/fr/f9").json() == NEW
    on_disk = open_index(index)
    assert on_disk.generation == added.json()["generation"]
    assert Searcher(on_disk).get("f9", "fr").title == "Phare"

    replaced = writable.post(DOCUMENTS, json={**NEW, "text": "Du pain."}, headers=BEARER)
    assert replaced.json()["generation"] > added.json()["generation"]
    assert "f9" not in ids(writable, "wind")
    assert "f9" in ids(writable, "bread")
    assert writable.get("/api/v1/status").json()["index"]["documents"] == {"fr": 5, "it": 2}

    deleted = writable.delete(f"{DOCUMENTS}/fr/f9", headers=BEARER)
    assert (deleted.status_code, deleted.json()["deleted"]) == (200, 1)
    assert "f9" not in ids(writable, "bread")
    assert writable.get(f"{DOCUMENTS}/fr/f9").status_code == 404
    assert writable.delete(f"{DOCUMENTS}/fr/f9", headers=BEARER).status_code == 404
    assert writable.delete(f"{DOCUMENTS}/xx/f9", headers=BEARER).status_code == 404


def test_many_documents_in_one_commit(writable, index):
    many = [{**NEW, "id": f"new/{number}"} for number in range(50)]
    first = writable.put(DOCUMENTS, json={"documents": many[:25]}, headers=BEARER).json()
    lines = "\n".join(json.dumps(one) for one in many[25:]) + "\n\n"
    headers = {**BEARER, "Content-Type": "application/x-ndjson"}
    second = writable.put(DOCUMENTS, content=lines.encode(), headers=headers).json()
    assert (first["added"], second["added"]) == (25, 25)
    assert second["generation"] == first["generation"] + 1
    assert len(ids(writable, "wind", k=100, lang="fr")) == 51
    assert writable.delete(f"{DOCUMENTS}/fr/new%2F7", headers=BEARER).json()["deleted"] == 1
    assert len(ids(writable, "wind", k=100, lang="fr")) == 50


def test_a_document_that_does_not_say_its_language_gets_one(writable):
    text = "Il vento e il mare portano il sale nella città vecchia."
    assert writable.put(DOCUMENTS, json={"id": "n1", "text": text}, headers=BEARER).status_code == 200
    assert "n1" in ids(writable, "wind", lang="it")


def test_without_a_token_nobody_writes(client):
    for answer in (client.put(DOCUMENTS, json=NEW), client.delete(f"{DOCUMENTS}/fr/f1", headers=BEARER)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer"}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Basic {TOKEN}"},
     {"Authorization": TOKEN}, {"Authorization": b"Bearer \xff\xfe"}, {"Authorization": "Bearer "}],
)  # fmt: skip
def test_a_wrong_token_writes_nothing(writable, headers):
    answer = writable.put(DOCUMENTS, json=NEW, headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert writable.delete(f"{DOCUMENTS}/fr/f1", headers=headers).status_code == 401
    assert writable.get(f"{DOCUMENTS}/fr/f9").status_code == 404
    assert writable.get(f"{DOCUMENTS}/fr/f1").status_code == 200


@pytest.mark.parametrize(
    "body",
    [{}, {"id": "x"}, {"id": "", "text": "x"}, {"id": 5, "text": "x"}, {"documents": []}, {"id": "x", "text": None},
     {"documents": [NEW, {"id": "y"}]}, {**NEW, "lang": "../../fr"}, {**NEW, "lang": "fr\n"}, {**NEW, "colour": "red"},
     {**NEW, "links": "f1"}, {**NEW, "fields": []}, {"documents": NEW}, [NEW], "x"],
)  # fmt: skip
def test_one_wrong_document_stops_all_of_a_request(writable, body):
    answer = writable.put(DOCUMENTS, json=body, headers=BEARER)
    assert answer.status_code == 422, answer.text
    assert writable.get(f"{DOCUMENTS}/fr/f9").status_code == 404
    assert writable.get("/api/v1/status").json()["index"]["documents"] == {"fr": 4, "it": 2}


def test_a_failed_change_is_not_made_by_the_next(writable, monkeypatch):
    commit = IndexWriter.commit

    def full(self):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IndexWriter, "commit", full)
    answer = writable.put(DOCUMENTS, json=NEW, headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "disk_full")
    monkeypatch.setattr(IndexWriter, "commit", commit)
    assert writable.put(DOCUMENTS, json={**NEW, "id": "other"}, headers=BEARER).status_code == 200
    assert writable.get(f"{DOCUMENTS}/fr/f9").status_code == 404
    assert writable.get(f"{DOCUMENTS}/fr/other").status_code == 200


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [(errno.EDQUOT, 507, "disk_full"), (errno.EROFS, 503, "read_only"), (errno.ENOENT, 503, "damaged")],
)
def test_each_fault_of_the_disk_has_its_own_answer(writable, index, monkeypatch, fault, status, code):
    def faulty(self):
        raise OSError(fault, "a fault", str(index))

    monkeypatch.setattr(IndexWriter, "commit", faulty)
    answer = writable.put(DOCUMENTS, json=NEW, headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert str(index) not in answer.text


def test_a_damaged_index_is_not_the_fault_of_the_request(writable, index):
    damage_commit(index)
    answer = writable.put(DOCUMENTS, json=NEW, headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "damaged")
    assert str(index) not in answer.text
    assert ids(writable, "salt"), "what was open is still searched"


def test_where_commit_json_is_gone_its_copy_is_used(writable, serving, index):
    (index / "commit.json").unlink()
    assert ids(writable, "salt")
    assert serving(index).get("/api/v1/search", params={"q": "salt"}).json()["hits"]
    assert writable.put(DOCUMENTS, json=NEW, headers=BEARER).status_code == 200
    assert ids(writable, "wind", filter="topic:light") == {"f9"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (OSError(errno.EIO, "Input/output error", "/srv/secret/arrays.bin"), "unavailable"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/srv/secret/arrays.bin"), "damaged"),
        (DamagedFileError(Path("/srv/secret/arrays.bin"), "is cut"), "damaged"),
        (DamagedIndexError("/srv/secret: the index is damaged"), "damaged"),
        (OpenFilesError("too many open files: /srv/secret"), "busy"),
        (MemoryError(), "busy"),
    ],
)
def test_each_fault_of_a_search_has_its_own_answer(client, monkeypatch, fault, code):
    def faulty(*arguments):
        raise fault

    monkeypatch.setattr("isogloss.server.service.Service.search", faulty)
    answer = client.get("/api/v1/search", params={"q": "salt"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, code)
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("cause", "status", "code"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), 503, "read_only"),
        (OSError(errno.EROFS, "Read-only file system"), 503, "read_only"),
        (OSError(errno.ENOSPC, "No space left on device"), 507, "disk_full"),
        (OSError(errno.EIO, "Input/output error"), 503, "unavailable"),
        (None, 503, "damaged"),
    ],
)
def test_an_index_that_cannot_be_opened_for_writing_says_why(writable, monkeypatch, cause, status, code):
    def refuse(self):
        raise InputError("/srv/secret: it cannot be opened") from cause

    monkeypatch.setattr(IndexWriter, "__enter__", refuse)
    answer = writable.put(DOCUMENTS, json=NEW, headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert "secret" not in answer.text


def test_a_document_of_any_size_is_given(writable):
    text = "Le vent souffle. " * 40_000
    assert writable.put(DOCUMENTS, json={**NEW, "text": text}, headers=BEARER).status_code == 200
    answer = writable.get(f"{DOCUMENTS}/fr/f9")
    assert answer.json()["text"] == text
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_body_of_many_small_things_is_refused_before_it_takes_memory(writable):
    lines = {**BEARER, "Content-Type": "application/x-ndjson"}
    line = json.dumps({"id": "x", "text": "", "lang": "fr"}).encode() + b"\n"
    answer = writable.put(DOCUMENTS, content=line * 10_001, headers=lines)
    assert (answer.status_code, "10000" in answer.json()["error"]["message"]) == (422, True)
    answer = writable.put(DOCUMENTS, content=b'{"documents":[' + b"{}," * 2_000_001, headers={**BEARER})
    assert (answer.status_code, "brackets" in answer.json()["error"]["message"]) == (413, True)
    answer = writable.put(DOCUMENTS, content=line + b'{"id": 1}\n', headers=lines)
    assert answer.json()["error"]["message"].startswith("line 2: id: ")


def test_segments_are_merged_behind_the_back_of_the_requests(writable, index):
    for number in range(12):
        assert writable.put(DOCUMENTS, json={**NEW, "id": f"new{number}"}, headers=BEARER).status_code == 200
    while writable.app.state.backend.writer.busy:
        pass
    with IndexWriter(index) as writer:  # the lock is free again
        assert len(writer.index.commit.segments) < 12
    assert len(ids(writable, "wind", k=100, filter="topic:light")) == 12


def test_a_lock_of_another_process_is_reported(serving, index, monkeypatch):
    monkeypatch.setattr("isogloss.server.service._PATIENCE", 0.05)
    client = serving(index, token=TOKEN)
    with IndexWriter(index):
        answer = client.put(DOCUMENTS, json=NEW, headers=BEARER)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "locked")
        assert "is being changed by another process" in answer.json()["error"]["message"]
        assert str(index) not in answer.text
        assert ids(client, "salt")
    assert client.put(DOCUMENTS, json=NEW, headers=BEARER).status_code == 200


def test_what_others_commit_is_picked_up(serving, index, monkeypatch):
    monkeypatch.setattr("isogloss.server.service._REFRESH_SECONDS", 0.0)
    client = serving(index)
    before = client.get("/api/v1/status").json()["index"]["generation"]
    with IndexWriter(index) as writer:
        writer.add([Document("f9", "Le vent souffle.", language="fr")])
        assert "f9" not in ids(client, "wind")
        writer.commit()
        assert "f9" in ids(client, "wind")
    assert client.get("/api/v1/status").json()["index"]["generation"] > before


def test_an_index_that_becomes_unreadable_leaves_what_was_open(serving, index, monkeypatch, capfd):
    monkeypatch.setattr("isogloss.server.service._REFRESH_SECONDS", 0.0)
    client = serving(index)
    damage_commit(index)
    assert ids(client, "salt")
    assert ids(client, "sea")
    flush()
    stale = [line for line in capfd.readouterr().err.splitlines() if '"stale"' in line]
    assert len(stale) == 1
    assert "commit.json" in stale[0]


def test_readers_go_on_while_many_write(serving, index):
    client = serving(index, token=TOKEN, limits=Limits(in_flight=1000))
    problems = []

    def write(name):
        for number in range(4):
            answer = client.put(DOCUMENTS, json={**NEW, "id": f"{name}-{number}"}, headers=BEARER)
            if answer.status_code != 200:
                problems.append(answer.text)
            if f"{name}-{number}" not in ids(client, "wind", k=100):
                problems.append(f"{name}-{number} is not found")

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(ids(client, "wind", k=100, filter="topic:light")) == 8
