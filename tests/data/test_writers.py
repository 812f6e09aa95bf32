"""What is written can be read again, whole."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.data.dataset import Dataset, load_collection, load_dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.readers.registry import find_writer, open_source
from isogloss.data.splits import SPLITS
from isogloss.storage.errors import InputError

PAIR = ("en", "fr")
IDS = st.text("abZ09-_.:é中", min_size=1, max_size=6)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)


def one_line(text):
    return " ".join(text.replace("\0", " ").split())


@st.composite
def datasets(draw, highest=2):
    documents = [
        Document(id_, draw(TEXTS), draw(TEXTS), "fr")
        for id_ in draw(st.lists(IDS, unique=True, min_size=1, max_size=5))
    ]
    queries = {
        id_: Query(id_, draw(TEXTS), draw(TEXTS), "en")
        for id_ in draw(st.lists(IDS, unique=True, min_size=1, max_size=5))
    }
    pairs = st.tuples(st.sampled_from(list(queries)), st.sampled_from([d.id for d in documents]))
    grades = draw(st.dictionaries(pairs, st.integers(0, highest), max_size=8))
    judgments = Judgments([Judgment(*pair, grade) for pair, grade in grades.items()], top_grade=highest)
    split_of = {query: draw(st.sampled_from((*SPLITS, "none"))) for query in queries}
    splits = {name: [query for query, split in split_of.items() if split == name] for name in SPLITS}
    return Dataset(open_source("demo"), PAIR, Collection(documents, "fr"), queries, judgments, splits)


def written_and_read(dataset, format_):
    with tempfile.TemporaryDirectory() as directory:
        target = f"{format_}:{Path(directory) / 'out'}"
        find_writer(target)(dataset, False)
        return load_dataset(open_source(target), PAIR)


@settings(max_examples=20, deadline=None)
@given(datasets())
def test_wikiclir_gives_back_all_but_the_line_breaks(dataset):
    found = written_and_read(dataset, "wikiclir")
    assert [(d.id, d.title, d.text) for d in found.documents] == [
        (d.id, one_line(d.title), one_line(d.text)) for d in dataset.documents
    ]
    assert [(q.id, q.title, q.text) for q in found.queries.values()] == [
        (q.id, one_line(q.title), one_line(q.text)) for q in dataset.queries.values()
    ]
    assert found.judgments == dataset.judgments
    assert found.splits == dataset.splits


@settings(max_examples=20, deadline=None)
@given(datasets(highest=5))
def test_beir_gives_back_everything(dataset):
    found = written_and_read(dataset, "beir")
    assert list(found.documents) == list(dataset.documents)
    assert found.queries == dataset.queries
    assert found.judgments == dataset.judgments
    assert found.splits == {
        name: [query for query in queries if query in dataset.judgments] for name, queries in dataset.splits.items()
    }


@settings(max_examples=20, deadline=None)
@given(datasets(highest=5))
def test_trec_gives_back_everything_but_the_line_breaks_of_queries_and_the_splits(dataset):
    found = written_and_read(dataset, "trec")
    assert list(found.documents) == list(dataset.documents)
    assert {q.id: q.text for q in found.queries.values()} == {q.id: one_line(q.text) for q in dataset.queries.values()}
    assert found.judgments == dataset.judgments


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.builds(
            Document, st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1), TEXTS, TEXTS,
            st.just("fr"), TEXTS,
            st.lists(IDS).map(tuple), st.dictionaries(st.sampled_from(["en", "es"]), IDS),
            st.dictionaries(TEXTS, st.integers(-(2**63) + 1, 2**63 - 1) | TEXTS),
        ),
        unique_by=lambda document: document.id, min_size=1, max_size=4,
    )
)  # fmt: skip
def test_jsonl_gives_back_everything(documents):
    with tempfile.TemporaryDirectory() as directory:
        target = f"jsonl:{directory}/out.jsonl"
        dataset = Dataset(open_source("demo"), PAIR, Collection(documents), {}, Judgments(), {})
        find_writer(target)(dataset, False)
        assert list(load_collection(open_source(target), "fr")) == documents


def tiny_dataset(query="q", document="d", grade=1, top_grade=None):
    judgments = Judgments([Judgment(query, document, grade)], top_grade)
    return Dataset(
        open_source("demo"), PAIR, Collection([Document(document, "texte", "titre", "fr")], "fr"),
        {query: Query(query, "text", "title", "en")}, judgments, {"dev": [query]},
    )  # fmt: skip


def test_the_files_of_each_format_are_these(tmp_path):
    dataset = tiny_dataset(grade=1, top_grade=2)
    for format_ in ("wikiclir", "beir", "trec"):
        find_writer(f"{format_}:{tmp_path / format_}")(dataset, False)
    files = {p.relative_to(tmp_path).as_posix(): p.read_text("utf-8") for p in tmp_path.rglob("*") if p.is_file()}
    assert files == {
        "wikiclir/wiki_en.queries": "q\ttitle\ttext\n",
        "wikiclir/wiki_fr.documents": "d\ttitre\ttexte\n",
        "wikiclir/en2fr.rel": "q\td\t1\n",
        "wikiclir/splits/en.dev": "q\n",
        "beir/corpus.jsonl": '{"_id": "d", "title": "titre", "text": "texte"}\n',
        "beir/queries.jsonl": '{"_id": "q", "title": "title", "text": "text"}\n',
        "beir/qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq\td\t1\n",
        "trec/documents.jsonl": '{"id": "d", "lang": "fr", "title": "titre", "text": "texte"}\n',
        "trec/topics.tsv": "q\ttext\n",
        "trec/qrels": "q 0 d 1\n",
    }


def test_where_1_is_the_highest_grade_wikiclir_calls_it_relevant():
    assert list(written_and_read(tiny_dataset(grade=1), "wikiclir").judgments) == [("q", "d", 2)]


def test_wikiclir_has_no_place_for_higher_grades_and_nothing_is_written(tmp_path):
    with pytest.raises(
        InputError, match=r"grade 3 of query 'q' and document 'd' does not exist .* write beir: or trec:"
    ):
        find_writer(f"wikiclir:{tmp_path / 'out'}")(tiny_dataset(grade=3), False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("format_", "names"),
    [
        ("wikiclir", {"document": "a\tb"}), ("wikiclir", {"query": " a"}), ("beir", {"document": "a\nb"}),
        ("beir", {"query": "a\tb"}), ("trec", {"document": "a b"}), ("trec", {"query": "a\u3000b"}),
    ],
)  # fmt: skip
def test_an_id_that_a_table_cannot_hold_is_refused_and_nothing_is_written(tmp_path, format_, names):
    with pytest.raises(InputError, match=r"id '.*': has white space, which this format cannot have"):
        find_writer(f"{format_}:{tmp_path / 'out'}")(tiny_dataset(**names), False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format_", ["wikiclir", "beir", "trec", "jsonl"])
def test_an_existing_output_is_replaced_only_when_asked(tmp_path, format_):
    path = tmp_path / "out"
    write = find_writer(f"{format_}:{path}")
    write(tiny_dataset(), False)
    (path if format_ == "jsonl" else path / "old").write_text("old")
    with pytest.raises(InputError, match=r"out: exists and is not empty; choose another output or add overwrite=True"):
        write(tiny_dataset(), False)
    write(tiny_dataset(), True)
    assert path.read_text() != "old" if format_ == "jsonl" else not (path / "old").exists()


@pytest.mark.parametrize("target", ["folder:x", "x", "beir:", "demo"])
def test_an_unknown_output_is_answered_with_the_known_ones(target):
    with pytest.raises(InputError, match=r"output: .* is not one of wikiclir:…, beir:…, trec:…, jsonl:…"):
        find_writer(target)
