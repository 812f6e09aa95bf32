"""The lexical systems: what they find, what they explain, and that translating pays on the bundled collection."""

import math

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.evaluation.protocols import make_task
from isogloss.retrieval.bm25 import BM25
from isogloss.search.snippets import surface_words
from isogloss.systems import bm25 as lexical
from isogloss.systems.evaluate import evaluate_system
from isogloss.systems.registry import make_system
from isogloss.text.tokenizer import tokenize

LANGUAGES = ("fr", "it", "es", "sw", "tl", "zh")
DATASETS = {}

LEXICAL = ("bm25", "bm25-dict", "psq")


def dataset(language):
    """Read once a language."""
    if language not in DATASETS:
        DATASETS[language] = load_dataset(Demo(), ("en", language))
    return DATASETS[language]


def indexed(name, language, **settings):
    system = make_system(name, ("en", language), settings, Demo())
    system.index(dataset(language).documents, ("title", "text"))
    return system


@pytest.mark.parametrize("language", LANGUAGES)
def test_translating_the_query_beats_the_floor(language):
    task = make_task(dataset(language), "dev", "full")
    mrr = {
        name: evaluate_system(make_system(name, ("en", language), source=Demo()), task, ("text",)).means()["MRR_mr"]
        for name in LEXICAL
    }
    assert min(mrr["bm25-dict"], mrr["psq"]) > mrr["bm25"]


@pytest.mark.parametrize("name", LEXICAL)
@pytest.mark.parametrize("language", LANGUAGES)
def test_contributions_sum_to_the_score_on_every_query(name, language):
    system = indexed(name, language)
    for query in dataset(language).queries.values():
        ranking = system.search(query.text, 3)
        for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
            parts = system.explain(query.text, row, "")
            assert sum(part.score for part in parts) == pytest.approx(score, rel=1e-5)
            assert parts == sorted(parts, key=lambda part: -part.score)
            assert {word for part in parts for word in part.query_word.split()} <= set(tokenize(query.text))


@pytest.mark.parametrize("name", LEXICAL)
@pytest.mark.parametrize("language", ["fr", "zh"])
def test_the_words_of_an_explanation_stand_in_the_document_as_it_is_written(name, language):
    system, documents = indexed(name, language), dataset(language).documents
    for query in list(dataset(language).queries.values())[:40]:
        for row in system.search(query.text, 2).rows.tolist():
            text = f"{documents[row].title} {documents[row].text}"
            for part in system.explain(query.text, row, ""):
                words = surface_words(text, set(part.document_words), system.term_of)
                assert words and all(word in text for word in words)
                assert {system.term_of(tokenize(word)[0]) for word in words} == set(part.document_words)


@pytest.mark.parametrize("name", LEXICAL)
def test_hits_are_explained_together_as_they_are_alone(name, monkeypatch):
    searched, other = indexed(name, "fr"), indexed(name, "fr")
    monkeypatch.setattr(lexical, "_SHOWN", 4)
    monkeypatch.setattr(lexical, "_SHOWN_QUERIES", 3)
    queries = [query.text for query in list(dataset("fr").queries.values())[:10]]
    for live in (None, np.arange(len(dataset("fr").documents)) % 3 > 0):
        for system in (searched, other):
            if live is not None:
                system.count_only(live)
        for query in queries:
            for row in [*searched.search(query, 6, live).rows.tolist(), 0]:
                assert searched.explain(query, row, "") == other.explain(query, row, "")


def test_a_document_without_the_words_has_nothing_to_explain():
    system = indexed("bm25", "fr")
    assert system.explain("zebu xylophone", 0, "") == []
    assert not system.scores("zebu xylophone").any()
    assert len(system.search("zebu xylophone", 10).rows) == 0


@pytest.mark.parametrize("name", LEXICAL)
def test_no_document_scores_above_the_best_possible(name):
    system = indexed(name, "sw")
    for query in dataset("sw").queries.values():
        assert system.scores(query.text).max() <= system.best_possible(query.text) * (1 + 1e-6)


@pytest.mark.parametrize("name", LEXICAL)
def test_few_documents_are_scored_and_explained_without_looking_at_the_others(name, monkeypatch):
    system, rows = indexed(name, "fr"), np.asarray([7, 3])
    queries = [query.text for query in list(dataset("fr").queries.values())[:20]]
    wanted = [(system.scores(query)[rows].tolist(), system.explain(query, 3, "")) for query in queries]
    monkeypatch.setattr(BM25, "contributions", None)
    monkeypatch.setattr(BM25, "scores", None)
    assert [(system.score(query, rows).tolist(), system.explain(query, 3, "")) for query in queries] == wanted


def test_scoring_few_documents_is_scoring_all_and_choosing():
    system, rows = indexed("psq", "it"), np.asarray([5, 0, 7])
    assert system.score("why is the sea salty", rows).tolist() == system.scores("why is the sea salty")[rows].tolist()


def test_stems_join_the_forms_of_a_word_and_stop_words_can_be_left_out():
    documents = ["les chevaux courent", "le cheval"]
    found = {}
    for stems in ("true", "false"):
        system = make_system("bm25", ("fr", "fr"), {"stems": stems, "drop_stop_words": "true"})
        system.index_texts(documents)
        found[stems] = np.flatnonzero(system.scores("le cheval")).tolist()
        assert not system.scores("les").any()
    assert found == {"true": [0, 1], "false": [1]}


def test_psq_weighs_a_word_by_the_documents_its_translations_are_expected_in(tmp_path):
    lexicon = tmp_path / "lexicon.tsv"
    lexicon.write_text("sea\tmer\nsea\tocéan\n", encoding="utf-8")
    system = make_system("psq", ("en", "fr"), {"lexicon": str(lexicon), "decay": "0.5", "k1": "1.5"})
    system.index_texts(["mer", "océan", "océan", "pain"])
    df = 2 / 3 * 1 + 1 / 3 * 2
    idf = math.log(1 + (4 - df + 0.5) / (df + 0.5))
    weights = np.asarray([2 / 3, 1 / 3, 1 / 3, 0])
    assert system.scores("sea") == pytest.approx(idf * weights / (weights + 1.5), rel=1e-5)


def test_synonyms_and_independent_translations_rank_differently(tmp_path):
    """A document with every translation of one word, against one with both words of the query."""
    lexicon = tmp_path / "lexicon.tsv"
    lexicon.write_text("horse\tcheval\nhorse\tjument\nhorse\tmonture\nred\trouge\n", encoding="utf-8")
    texts = ["cheval jument monture", "cheval rouge noir", "rouge", "rouge vin", "jument grise", "monture grise"]
    best = {}
    for structure in ("synonym", "independent"):
        system = make_system("bm25-dict", ("en", "fr"), {"lexicon": str(lexicon), "structure": structure})
        system.index_texts(texts)
        best[structure] = int(system.scores("red horse").argmax())
    assert best == {"synonym": 1, "independent": 0}


@pytest.mark.parametrize("name", LEXICAL)
def test_a_batch_on_all_cores_is_answered_like_each_query_alone(name, monkeypatch):
    system, queries = indexed(name, "fr"), ["bees and honey", "sea", "zebra", "", "mer et pain"]
    allowed = np.arange(len(dataset("fr").documents)) % 3 > 0
    alone = [system.search(query, 5, allowed) for query in queries]
    monkeypatch.setattr("isogloss.systems.bm25._MANY_DOCUMENTS", 0)
    for found, wanted in zip(system.search_texts(queries, 5, allowed), alone, strict=True):
        assert found.rows.tolist() == wanted.rows.tolist()
        assert found.scores.tolist() == wanted.scores.tolist()
    assert allowed[[row for ranking in alone for row in ranking.rows.tolist()]].all()
