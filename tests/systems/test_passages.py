"""Documents searched by their passages: what any inner system then scores, finds, keeps and explains."""

import random
from copy import copy

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection, Document, Query, id_order
from isogloss.data.readers.demo import Demo
from isogloss.systems.passages import Passages, by_passages
from isogloss.systems.registry import build_system, make_system, system_type
from isogloss.text.passages import passage_spans

PAIR = ("fr", "fr")
WORDS = ["eau", "mer", "sel", "vent", "nuit", "pain", "blé", "roi"]


def collection(seed=0, count=30):
    rng = random.Random(seed)
    texts = [" ".join(rng.choices(WORDS, k=rng.choice([0, 2, 9, 25]))) for _ in range(count)]
    return Collection([Document(f"d{rng.random()}", text) for text in texts], "fr")


def system(words=6, name="bm25"):
    return make_system(name, PAIR, {"passages": str(words)})


@pytest.fixture(scope="module")
def indexed():
    documents, made = collection(), system()
    made.index(documents, ("text",))
    return documents, made


def best_by_hand(documents, query, words=6):
    """The score of each document and the span of its first best passage, from an index of all passages."""
    spans = [passage_spans(document.text, words) for document in documents]
    whole = make_system("bm25", PAIR)
    whole.index_texts([d.text[b:e] for d, own in zip(documents, spans, strict=True) for b, e in own])
    scores = iter(whole.scores(query).tolist())
    own_scores = [[next(scores) for _ in own] for own in spans]
    return [max(each) for each in own_scores], [
        own[each.index(max(each))] for own, each in zip(spans, own_scores, strict=True)
    ]


@pytest.mark.parametrize("query", ["eau mer", "pain", "roi roi sel vent", "zzz"])
def test_a_document_scores_what_its_best_passage_does(indexed, query):
    documents, made = indexed
    scores, spans = best_by_hand(documents, query)
    np.testing.assert_allclose(made.scores(query), scores, rtol=1e-6)
    rows = np.array([7, 3, 3, 11])
    np.testing.assert_array_equal(made.score(query, rows), made.scores(query)[rows])
    assert len(made.score(query, rows[:0])) == 0
    for row in range(len(documents)):
        assert made.passage(query, row) == spans[row]
        parts = made.explain(query, row, documents[row].text)
        assert sum(part.score for part in parts) == pytest.approx(scores[row], rel=1e-5)


@pytest.mark.parametrize("k", [0, 1, 5, 100])
@pytest.mark.parametrize("query", ["eau mer", "pain", "zzz"])
def test_search_is_the_order_of_the_scores_and_then_of_the_ids(indexed, query, k):
    documents, made = indexed
    scores = made.scores(query)
    wanted = [row for row in np.lexsort((documents.id_order, -scores)).tolist() if scores[row] > 0][:k]
    assert made.search(query, k).rows.tolist() == wanted
    (found,) = made.search_texts([query], k)
    assert found.rows.tolist() == wanted
    np.testing.assert_array_equal(found.scores, scores[wanted])
    (listed,) = made.search_all([Query("q", query)], k)
    assert listed.rows.tolist() == wanted
    allowed = np.arange(len(documents)) % 2 == 0
    assert made.search(query, len(documents), allowed).rows.tolist() == [
        row for row in np.lexsort((documents.id_order, -scores)).tolist() if scores[row] > 0 and allowed[row]
    ]


def test_a_document_with_all_the_best_passages_leaves_room_for_others():
    texts = ["mer " * 400, "mer sel", "sel", "mer eau"]
    made = system(words=2)
    made.index(Collection([Document(f"d{i}", text) for i, text in enumerate(texts)], "fr"), ("text",))
    assert sorted(made.search("mer", 3).rows.tolist()) == [0, 1, 3]
    assert [len(ranking.rows) for ranking in made.search_texts(["mer", "sel"], 3)] == [3, 2]


def test_equal_documents_go_by_id():
    made = system(words=2)
    made.index(Collection([Document(id_, "mer sel mer sel eau") for id_ in ("b", "c", "a")], "fr"), ("text",))
    assert made.search("mer sel", 2).rows.tolist() == [2, 0]


@pytest.mark.parametrize("name", ["bm25", "bm25-dict"])
def test_what_is_kept_scores_the_same_in_one_part_or_in_several(tmp_path, name):
    (tmp_path / "lexicon").write_text("eau\teau\nmer\tmer\n")
    settings = {"passages": "6"} | ({"lexicon": str(tmp_path / "lexicon")} if name != "bm25" else {})
    documents = collection()
    made = make_system(name, PAIR, settings)
    made.index(documents, ("text",))
    (tmp_path / "whole").mkdir()
    made.save(tmp_path / "whole")
    loaded = build_system(name, made.options, PAIR).load(tmp_path / "whole")
    for query in ("eau mer", "pain"):
        np.testing.assert_array_equal(loaded.scores(query), made.scores(query))
        assert loaded.search(query, 9).rows.tolist() == made.search(query, 9).rows.tolist()
    (tmp_path / "shared").mkdir()
    made.save_shared(tmp_path / "shared")
    keep = np.arange(30) < 12
    for number, part in enumerate((keep, ~keep)):
        (tmp_path / str(number)).mkdir()
        made.save_part(tmp_path / str(number), part)
    both = build_system(name, made.options, PAIR).load_shared(tmp_path / "shared")
    both.load_parts([tmp_path / "0", tmp_path / "1"], documents.id_order)
    assert both.joins
    for query in ("eau mer", "pain"):
        np.testing.assert_allclose(both.scores(query), made.scores(query), rtol=1e-6)
        assert [both.passage(query, row) for row in range(30)] == [made.passage(query, row) for row in range(30)]
        assert both.search(query, 9).rows.tolist() == made.search(query, 9).rows.tolist()


def test_deleted_documents_stop_counting():
    documents, made = collection(), system()
    made.index(documents, ("text",))
    live = np.arange(len(documents)) % 3 > 0
    made.count_only(live)
    fresh = system()
    fresh.index(Collection([d for d, kept in zip(documents, live, strict=True) if kept], "fr"), ("text",))
    np.testing.assert_allclose(made.scores("eau pain")[live], fresh.scores("eau pain"), rtol=1e-5)


def test_a_damaged_part_is_an_error(indexed, tmp_path):
    _, made = indexed
    made.save(tmp_path)
    np.save(tmp_path / "passages.counts.npy", np.array([1, 2]))
    with pytest.raises(ValueError, match="does not fit"):
        system().load(tmp_path)


def test_a_copy_is_given_other_documents_without_touching_the_first(indexed):
    documents, made = indexed
    before = made.scores("eau")
    other = copy(made)
    other.index(collection(1, 5), ("text",))
    assert len(other.scores("eau")) == 5
    np.testing.assert_array_equal(made.scores("eau"), before)
    assert id_order(documents.ids).tolist() == made.id_order.tolist()


def test_to_all_who_ask_it_is_the_inner_system(indexed):
    _, made = indexed
    inner = made.inner
    assert (made.name, made.options, made.learns, made.joins) == ("bm25", inner.options, False, inner.joins)
    assert made.best_possible("eau") == inner.best_possible("eau")
    assert made.term_of("eaux") == inner.term_of("eaux")
    assert (made.unknown_words("eau"), made.translations("eau"), made.thresholds()) == ([], [], ())
    assert made.comparable is inner.comparable is False
    inner.comparable = True  # a calibration can be loaded after the wrapper was made
    assert made.comparable
    inner.comparable = False


def test_facts_about_the_inner_system_come_with_the_number_of_passages():
    texts = ["mer sel eau vent", "roi", ""]
    aligned = make_system("aligned", ("en", "fr"), {"passages": "2", "dimension": "4", "pairs": "50"}, Demo())
    aligned.fit(load_dataset(Demo(), ("en", "fr")))
    aligned.index(Collection([Document(str(number), text) for number, text in enumerate(texts)], "fr"), ("text",))
    passages = sum(len(passage_spans(text, 2)) for text in texts)
    assert aligned.about() == {**aligned.inner.about(), "passages": passages}
    assert aligned.about()["rows"] == passages > len(texts)


def test_the_option_puts_it_around_any_system_and_only_then():
    options = system_type("bm25").options_type
    assert isinstance(build_system("bm25", options(passages=5), PAIR), Passages)
    assert not isinstance(build_system("bm25", options(), PAIR), Passages)
    assert not isinstance(make_system("bm25", PAIR, {"passages": "5"}, bare=True), Passages)
    made = system()
    assert by_passages(made) is made
