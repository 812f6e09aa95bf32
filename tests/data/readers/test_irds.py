"""``irds:`` over small files laid out as ir_datasets keeps them, in a process of its own without a network."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pytest

from isogloss.data.readers.registry import open_source
from isogloss.storage.errors import InputError

SCRIPT = """
import json, socket, sys

def no_network(*arguments, **options):
    raise OSError("no network in tests")

socket.socket.connect = socket.getaddrinfo = no_network

from isogloss.storage.errors import InputError
from isogloss.data.dataset import load_dataset
from isogloss.data.readers.registry import open_source
from isogloss.data.problems import Problems

def outcome(source, pair):
    try:
        data = load_dataset(open_source(source), tuple(pair.split("-")), problems=Problems(stop_at_errors=False))
    except InputError as error:
        return {"error": str(error)}
    return {
        "documents": [(d.id, d.title, d.text, d.language) for d in data.documents],
        "queries": [(q.id, q.title, q.text, q.language) for q in data.queries.values()],
        "judgments": sorted(data.judgments),
        "splits": data.splits,
        "problems": {kind: n for kinds in (data.problems.errors, data.problems.warnings) for kind, n in kinds.items()},
    }

print(json.dumps({f"{source} {pair}": outcome(source, pair) for source, pair in json.loads(sys.argv[1])}))
"""

CASES = [
    ("irds:wikiclir/fr", "en-fr"), ("irds:wikiclir/fr", "en-sw"), ("irds:wikiclir/it", "en-it"),
    ("irds:wikiclir/sw", "en-sw"), ("irds:wikiclir", "en-fr"), ("irds:no/such/set", "en-fr"),
    ("irds:clirmatrix/fr/bi139-base/en", "en-fr"), ("irds:clirmatrix/fr/bi139-base/en/dev", "en-fr"),
    ("irds:clirmatrix/fr/bi139-base/zh", "zh-fr"), ("irds:clirmatrix/fr", "en-fr"), ("irds:beir/scifact", "en-en"),
]  # fmt: skip


def _lay_out_wikiclir(home):
    source = home / "wikiclir" / "source" / "wiki-clir"
    files = {
        "english/wiki_en.queries": "1\tCat\tan animal that purrs\n2\tTea\ta hot drink\n3\tBridge\ta road\n",
        "french/wiki_fr.documents": "11\tChat\tun félin\n12\tThé\tune boisson\n13\tVide\t\n",
        "french/en2fr.rel": "1\t11\t2\n1\t12\t1\n2\t12\t2\n",
        "italian/wiki_it.documents": "21\tGatto\tun felino\n22\tsoltanto due\n",
        "italian/en2it.rel": "1\t21\t2\n",
    }
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")


def _lay_out_clirmatrix(home):
    directory = home / "clirmatrix"
    parts = {
        "train": '{"src_id": "101", "src_query": "cat", "tgt_results": [["a", 6], ["b", 0]]}\n'
        '{"src_id": "102", "src_query": "tea", "tgt_results": [["b", 5]]}\n',
        "dev": '{"src_id": "103", "src_query": "bridge", "tgt_results": [["c", 6]]}\n',
        "test1": '{"src_id": "104", "src_query": "river", "tgt_results": [["c", 2], ["gone", 1]]}\n',
        "test2": '{"src_id": "105", "src_query": "sea", "tgt_results": [["c", 1]]}\n',
    }
    files = {"docs/fr.tsv.gz": "a\tle chat\nb\tle thé\nc\tle pont\n"}
    files |= {f"bi139/en_fr.{part}.jl.gz": lines for part, lines in parts.items()}
    entry = {name: {"url": "http://localhost:9/none", "cache_path": name} for name in files}
    downloads = {
        "clirmatrix_docs": {"docs/fr": entry["docs/fr.tsv.gz"]},
        "clirmatrix_bi139_base": {f"queries/en_fr/{part}": entry[f"bi139/en_fr.{part}.jl.gz"] for part in parts},
    }
    for name, text in (files | {"clirmatrix_downloads.json.gz": json.dumps(downloads)}).items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(gzip.compress(text.encode(), mtime=0))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What reading each of CASES gives."""
    pytest.importorskip("ir_datasets", reason="the extra 'data' is not installed")
    home = tmp_path_factory.mktemp("irds")
    _lay_out_wikiclir(home)
    _lay_out_clirmatrix(home)
    settings = {"IR_DATASETS_HOME": home, "IR_DATASETS_TMP": home / "tmp", "IR_DATASETS_DL_TRIES": "1"}
    environment = os.environ | {key: str(value) for key, value in settings.items()} | {"PYTHONUTF8": "1"}
    command = [sys.executable, "-c", SCRIPT, json.dumps(CASES)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_wikiclir_brings_the_sentences_as_queries_and_their_titles_beside(outcomes):
    found = outcomes["irds:wikiclir/fr en-fr"]
    assert found["documents"] == [
        ["11", "Chat", "un félin", "fr"], ["12", "Thé", "une boisson", "fr"], ["13", "Vide", "", "fr"],
    ]  # fmt: skip
    assert found["queries"] == [["1", "Cat", "an animal that purrs", "en"], ["2", "Tea", "a hot drink", "en"]]
    assert found["judgments"] == [["1", "11", 2], ["1", "12", 1], ["2", "12", 2]]
    assert found["problems"] == {"empty document text": 1}


def test_a_set_without_parts_is_split_by_the_seed(outcomes):
    splits = outcomes["irds:wikiclir/fr en-fr"]["splits"]
    assert sorted(query for queries in splits.values() for query in queries) == ["1", "2"]


def test_clirmatrix_parts_become_splits_of_one_set(outcomes):
    found = outcomes["irds:clirmatrix/fr/bi139-base/en en-fr"]
    assert [document[:3] for document in found["documents"]] == [
        ["a", "", "le chat"], ["b", "", "le thé"], ["c", "", "le pont"],
    ]  # fmt: skip
    assert [(id_, text) for id_, _, text, _ in found["queries"]] == [
        ("101", "cat"), ("102", "tea"), ("103", "bridge"), ("104", "river"),
    ]  # fmt: skip
    assert found["judgments"] == [
        ["101", "a", 6], ["101", "b", 0], ["102", "b", 5], ["103", "c", 6], ["104", "c", 2],
    ]  # fmt: skip
    assert found["splits"] == {"train": ["101", "102"], "dev": ["103"], "test": ["104"]}
    assert found["problems"] == {"unknown document id": 1}


def test_one_part_by_its_own_name_is_that_split_only(outcomes):
    found = outcomes["irds:clirmatrix/fr/bi139-base/en/dev en-fr"]
    assert found["splits"] == {"dev": ["103"]}
    assert found["judgments"] == [["103", "c", 6]]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("irds:no/such/set en-fr", "irds:no/such/set: ir_datasets knows no dataset of this name; see https://"),
        ("irds:clirmatrix/fr/bi139-base/zh zh-fr", "ir_datasets knows no dataset of this name"),
        ("irds:wikiclir/fr en-sw", "irds:wikiclir/fr: has no judgments for the pair en-sw; pairs here: en-fr"),
        (
            "irds:wikiclir/it en-it",
            "irds:wikiclir/it: ir_datasets cannot read its docs (RuntimeError: expected 3 fields",
        ),
        ("irds:wikiclir/sw en-sw", "irds:wikiclir/sw: ir_datasets cannot read its docs (FileNotFoundError: "),
        ("irds:wikiclir en-fr", "irds:wikiclir: has no judgments"),
        ("irds:clirmatrix/fr en-fr", "irds:clirmatrix/fr: has no judgments"),
        ("irds:beir/scifact en-en", "irds:beir/scifact: ir_datasets cannot read its docs ("),
    ],
)
def test_what_cannot_be_read_is_one_line(outcomes, case, words):
    assert words in outcomes[case]["error"]
    assert "\n" not in outcomes[case]["error"]


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(InputError, match=r"reading irds: sources needs the package 'ir_datasets': pip install"):
        open_source("irds:wikiclir/fr")
