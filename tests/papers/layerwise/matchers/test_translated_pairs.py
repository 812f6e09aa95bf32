"""Training pairs whose questions are translated ones of the documents' language."""

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.papers.layerwise.matchers.ranking_data import translated_pairs
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system


@pytest.fixture
def data(questions):
    return load_dataset(WikiClir(str(questions)), ("en", "fr"))


@pytest.fixture
def ready(data, tmp_path):
    french = load_dataset(data.source, ("fr", "fr"))
    lines = [f"{id_}\ttranslated {query.text}\n" for id_, query in french.queries.items()]
    (tmp_path / "fr-en.tsv").write_text("".join(lines), encoding="utf-8")
    return f"file:{tmp_path}/{{pair}}.tsv"


def test_questions_of_the_documents_language_are_translated(data, ready):
    made = translated_pairs(data, ready)
    french = load_dataset(data.source, ("fr", "fr"))
    assert made.pair == ("en", "fr")
    assert made.splits["train"] == french.splits["train"]
    for query in made.split("train"):
        assert query.text == f"translated {french.queries[query.id].text}"
        assert made.judgments[query.id] == french.judgments[query.id]


def test_other_splits_stay_and_are_not_learned_from(data, ready):
    made = translated_pairs(data, ready)
    assert made.splits["dev"] == data.splits["dev"]
    for query in data.split("dev"):
        assert made.queries[query.id] == query
        assert made.judgments[query.id] == data.judgments[query.id]
    assert not set(made.splits["train"]) & set(made.splits["dev"])


def test_the_model_learns_from_them(data, ready):
    pytest.importorskip("torch")
    small = {"dimension": "20", "kernels": "4", "layers": "1", "epochs": "1", "critic_steps": "0", "beta": "0"}
    system = make_system("layerwise", data.pair, {**small, "translated_pairs": ready}, data.source)
    read = system.read(data)
    assert "translated" in list(read.words["query"])
    assert len(read.triples) == len(data.splits["train"])


def test_a_source_without_such_questions_is_said(data, ready, monkeypatch):
    monkeypatch.setattr("isogloss.papers.layerwise.matchers.ranking_data.load_dataset", lambda *_, **__: data)
    everything = data.splits["train"] + data.splits["dev"]
    data.splits.update({"train": [], "dev": everything})
    with pytest.raises(InputError, match="has no train queries in 'fr' whose answers are known"):
        translated_pairs(data, ready)
