"""`isogloss add`, `isogloss delete`, and `isogloss index` looking after an index."""

import json

import pytest

from isogloss.index.lock import WriteLock


@pytest.fixture
def more(here):
    """A page to add, and one in place of another."""
    path = here / "more.jsonl"
    pages = [
        {"id": "f9", "text": "Le moulin Orlane est vieux.", "lang": "fr", "fields": {"kind": "old"}},
        {"id": "f1", "text": "Le moulin moud le seigle.", "title": "Moulin", "lang": "fr"},
        {"id": "d1", "text": "Die Mühle mahlt Weizen.", "lang": "de"},
    ]
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    return f"jsonl:{path.name}"


def ids(run, index, *query):
    done = run("search", index, *query, "--json", "-")
    assert done.code == 0, done.err
    return [hit["id"] for hit in json.loads(done.out)["hits"]]


def test_documents_are_added_and_replaced_and_counted(run, tiny_index, more):
    assert sorted(ids(run, tiny_index, "Orlane")) == ["f1", "f2"]
    done = run("add", "index", more)
    assert (done.code, done.out) == (0, "")
    what = "3 documents added, 1 of them in place of older ones; now 8 documents: 7 in fr, 1 in de"
    assert done.err == f"index: {what}\n"
    assert sorted(ids(run, tiny_index, "Orlane")) == ["f2", "f9"]
    assert ids(run, tiny_index, "seigle") == ["f1"]


@pytest.mark.parametrize("named", [(), ("--language", "de")])
def test_a_language_is_added(run, tiny_index, more, named):
    assert run("add", "index", more, *named).code == 0
    assert ids(run, tiny_index, "Mühle") == ["d1"]
    assert ids(run, tiny_index, "Mühle", "--language", "de") == ["d1"]


def test_hits_are_filtered_by_field(run, tiny_index, more):
    run("add", "index", more)
    assert ids(run, tiny_index, "Orlane", "--filter", "kind=old") == ["f9"]
    assert ids(run, tiny_index, "Orlane", "--filter", "kind=new") == []


@pytest.mark.parametrize("wrong", ["kind", "=old"])
def test_a_filter_that_is_none_is_an_error(fails, tiny_index, wrong):
    assert f"--filter: '{wrong}' is not written NAME=VALUE" in fails("search", "index", "Orlane", "--filter", wrong)
    assert "name each field once" in fails("search", "index", "x", "--filter", "a=1", "--filter", "a=2")


def test_documents_are_deleted_by_id_on_the_command_line_and_from_a_file(run, tiny_index, here):
    done = run("delete", "index", "f2", "nobody")
    assert done.err == "index: 1 document deleted, 5 left\nnot in the index: 1 id\n"
    (here / "ids.txt").write_text("f1\n\nf3\n", encoding="utf-8")
    assert run("delete", "index", "--file", "ids.txt", "--language", "fr").err == "index: 2 documents deleted, 3 left\n"
    assert ids(run, tiny_index, "Orlane") == []


def test_what_cannot_be_changed_is_one_line(fails, run, tiny_index, more, here):
    assert "has no document 'nobody'" in fails("delete", "index", "nobody")
    assert "name the documents by their ids" in fails("delete", "index")
    assert "'xx' is not in this index" in fails("delete", "index", "f1", "--language", "xx")
    assert "has no documents in 'sw'" in fails("add", "index", more, "--language", "sw")
    assert "no such index" in fails("add", "nowhere", more)
    (here / "bad.jsonl").write_text('{"id": "a", "text": "x", "lang": "fr"}\n{"id"\n', encoding="utf-8")
    for named in ((), ("--language", "fr")):
        assert "bad.jsonl:2: not JSON" in fails("add", "index", "jsonl:bad.jsonl", *named)
    assert run("add", "index", "jsonl:bad.jsonl", "--skip-bad").err.splitlines() == [
        "index: 1 document added; now 7 documents in fr",
        "1 x malformed line, the first: bad.jsonl:2: not JSON (Expecting ':' delimiter at column 6)",
    ]  # fmt: skip


def test_a_second_writer_is_told_who_the_first_is(run, tiny_index, more):
    with WriteLock(tiny_index):
        for command in (("add", "index", more), ("delete", "index", "f1")):
            code, _, err = run(*command)
            assert (code, len(err.splitlines())) == (2, 1)
            assert "index: is being changed by process " in err


def test_a_full_disk_leaves_the_index_as_it_was(spawn, run, tiny_index, more):
    before = run("search", tiny_index, "Orlane").out
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))"
    code, _, err = spawn("add", tiny_index, more, script=limit)
    assert (code, len(err.splitlines())) == (2, 1)
    assert run("search", tiny_index, "Orlane").out == before
    assert run("check", tiny_index).code == 0
    assert run("add", "index", more).code == 0


def test_a_check_names_what_is_damaged_and_the_rest_can_be_searched(run, tiny_index, more, here):
    assert run("add", "index", more).code == 0
    done = run("check", "index")
    assert (done.code, done.out) == (0, "")
    assert "files are what was written" in done.err
    (hurt,) = (path for path in here.glob("index/segments/*/arrays.bin") if b"f9" in path.read_bytes())
    hurt.write_bytes(hurt.read_bytes().replace(b"vieux", b"VIEUX"))
    code, _, err = run("check", "index")
    assert code == 2
    assert f"{hurt.relative_to(here)} is not what was written" in err
    hurt.write_bytes(b"cut off")
    assert "--skip-damaged" in run("search", "index", "Orlane").err
    done = run("search", "index", "Orlane", "--skip-damaged", "--json", "-")
    assert [hit["id"] for hit in json.loads(done.out)["hits"]] == ["f2"]
    assert done.err.startswith("left out: fr-")


def test_an_index_that_is_damaged_is_mended_and_says_what_has_to_be_added_again(
    run, tiny_index, more, here, damage_array
):
    assert run("add", "index", more).code == 0
    assert run("check", "index", "--repair") == (0, "", "index: all files are what was written\n")
    before = run("search", "index", "Orlane").out
    (hurt,) = (path.parent for path in here.glob("index/segments/*/arrays.bin") if b"f9" in path.read_bytes())
    damage_array(hurt, "system/en/documents.npy")
    assert "mend it with 'isogloss check index --repair'" in run("check", "index").err
    done = run("check", "index", "--repair")
    assert (done.code, done.out) == (0, "")
    assert "index: mended; documents indexed anew: 2" in done.err
    assert run("search", "index", "Orlane").out == before
    (hurt,) = (path.parent for path in here.glob("index/segments/*/arrays.bin") if b"f9" in path.read_bytes())
    damage_array(hurt, "pages.bytes.npy")
    done = run("check", "index", "--repair")
    assert done.code == 0
    assert "to be added again, unless they were deleted: 2" in done.err
    assert "fr\tf9\n" in done.out
    assert run("add", "index", more).code == 0
    assert run("search", "index", "Orlane").out == before
    assert run("check", "index").code == 0


def test_another_model_is_refused_unless_all_is_encoded_anew(run, tiny_index, lexicon, more):
    by_dictionary = ("--system", "psq", "--set", f"lexicon={lexicon}")
    code, _, err = run("add", "index", more, *by_dictionary)
    assert code == 2
    assert "encoded by another model; encode all of them anew with 'isogloss re-encode'" in err
    done = run("re-encode", "index", *by_dictionary)
    assert (done.code, done.err) == (0, "index: 6 documents in fr; search with: isogloss search index 'your query'\n")
    assert ids(run, tiny_index, "wheat") == ["f1"]
    assert "3 documents added" in run("add", "index", more, *by_dictionary).err


def test_the_output_of_an_index_is_required(fails):
    assert "required: DOCUMENTS, -o/--output" in fails("index")
    assert "required: -o/--output" in fails("index", "demo")
    assert "give --system SYSTEM_OR_RUN, or --approximate" in fails("re-encode", "nowhere")
