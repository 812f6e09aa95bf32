"""A missing or damaged commit.json or index.json: its copy is used, and the user is told, by every way in."""

import json
import subprocess
import sys

import pytest

from isogloss import Index
from isogloss.index.checking import check_index
from isogloss.index.making import make_index
from isogloss.server.models import SearchRequest
from isogloss.server.service import Service


@pytest.fixture
def index(tmp_path, pages, lexicons):
    make_index(tmp_path / "index", "bm25-dict", pages(), ["fr", "it"], settings=lexicons)
    Index.open(tmp_path / "index").add([{"id": "new", "text": "le miel"}], "fr")
    return tmp_path / "index"


def gone(path):
    path.unlink()


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-30])


def changed(path):
    path.write_bytes(path.read_bytes().replace(b"2", b"3", 1))


def another(path):
    path.unlink()
    path.mkdir()


def isogloss(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "isogloss", *map(str, arguments)], capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["commit.json", "index.json"])
@pytest.mark.parametrize("damage", [gone, cut_off, changed, another])
def test_searches_go_on_with_the_copy(index, name, damage, caplog):
    before = [hit.document.id for hit in Index.open(index).search("honey")]
    assert "new" in before
    damage(index / name)
    assert [hit.document.id for hit in Index.open(index).search("honey")] == before
    assert f"{index / name} is damaged, its copy is used; mend it" in caplog.text
    service = Service(index)
    assert [hit.id for hit in service.search(SearchRequest(q="honey")).hits] == before
    assert any(str(index / name) in problem for problem in check_index(index)[1])


def test_the_commands_tell_of_it_and_mend_it(index):
    gone(index / "commit.json")
    found = isogloss("search", index, "honey", "--json", "-")
    assert found.returncode == 0, found.stderr
    assert "commit.json is damaged, its copy is used" in found.stderr
    checked = isogloss("check", index)
    assert checked.returncode == 2
    assert "commit.json is missing" in checked.stderr
    assert isogloss("check", index, "--repair").returncode == 0
    assert check_index(index)[1] == []
    assert json.loads((index / "commit.json").read_bytes())["generation"] > 1


def test_a_copy_that_does_not_belong_is_refused(index, tmp_path, pages, lexicons):
    make_index(tmp_path / "other", "bm25-dict", pages(), ["fr", "it"], settings=lexicons)
    gone(index / "commit.json")
    (index / "commit.copy.json").write_bytes((tmp_path / "other" / "commit.json").read_bytes())
    found = isogloss("search", index, "honey")
    assert found.returncode == 2
    assert "commit.json does not belong to index.json" in found.stderr
    assert len([line for line in found.stderr.splitlines() if line.startswith("isogloss:")]) == 1
    assert "Traceback" not in found.stderr


def test_check_names_every_damaged_file_in_one_run(index):
    hurt = [index / "index.json", *index.glob("segments/*/arrays.bin"), *index.glob("shared/*/en/*.tsv")]
    for path in hurt:
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    lost = next(index.glob("orders/*"))
    lost.unlink()
    told = isogloss("check", index)
    assert told.returncode == 2
    assert [path for path in [*hurt, lost] if str(path) not in told.stderr] == []
