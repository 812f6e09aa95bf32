"""Hits as programs and notebooks use them."""

import copy
import json
import pickle
import sys

import pytest

from isogloss import Document, Hits, Index, InputError, evaluate
from isogloss.search.hits import CLASSES, Hit

LONG = f"{'Nada de nada. ' * 50}Las abejas hacen miel en la colmena. {'Nada más. ' * 50}"
EVIL = "<script>alert('miel')</script>"


@pytest.fixture(scope="module")
def index():
    documents = [
        Document("long", LONG, title="Miel & cera", url="https://example.org/a?b=1&c=2", fields={"kind": "food"}),
        Document(EVIL, f"La miel {EVIL} es dulce.", title=EVIL, url="javascript:alert('miel')"),
    ]
    return Index.make(documents, "es", system="psq", lexicon={"honey": "miel", "bees": "abejas"})


def test_a_snippet_shows_the_words_that_match_without_an_explanation(index):
    first = index.search("honey of bees", k=1)[0]
    assert "abejas hacen miel" in first.snippet
    assert len(first.snippet) < len(LONG) / 2
    explained = index.search("honey of bees", k=1, explain=True)[0]
    assert explained.snippet == first.snippet


def test_a_hit_is_shown_in_one_short_line(index):
    hit = index.search("honey of bees")[0]
    assert repr(hit) == f"<Hit 1: 'long' 'Miel & cera', es, {hit.score:.3f}>"
    assert (hit.id, hit.title, hit.text) == ("long", "Miel & cera", LONG)


def test_a_hit_as_a_dictionary_is_plain_json_without_the_text(index):
    plain = index.search("honey of bees")[0].to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["id"] == "long"
    assert plain["fields"] == {"kind": "food"}
    assert "text" not in plain and "explanation" not in plain
    explained = index.search("honey of bees", explain=True)[0].to_dict()
    assert {part["query_word"] for part in explained["explanation"]} == {"honey", "bees"}


@pytest.mark.parametrize("again", [lambda hit: pickle.loads(pickle.dumps(hit)), copy.copy, copy.deepcopy])
def test_a_hit_goes_to_other_processes_with_its_snippet(index, again):
    hit = index.search("honey of bees")[0]
    other = again(hit)
    assert other == hit
    assert other.snippet == hit.snippet


def test_a_hit_without_an_index_shows_the_beginning_of_its_text():
    assert Hit(1, 0.5, "es", Document("a", "Las abejas.")).snippet == "Las abejas."
    assert len(Hit(1, 0.5, "es", Document("a", LONG)).snippet) < len(LONG)


def test_some_hits_are_hits(index):
    hits = index.search("honey")
    assert isinstance(hits[:1], Hits)
    assert hits[:1][0] == hits[0]


def test_a_notebook_shows_hits_as_a_table_in_which_documents_cannot_write_html(index):
    shown = index.search("honey")._repr_html_()
    assert shown.count("<tr>") == 3
    assert "<mark>miel</mark>" in shown
    assert '<a href="https://example.org/a?b=1&amp;c=2"' in shown
    assert "Miel &amp; cera" in shown
    assert "<script" not in shown
    assert 'href="javascript' not in shown
    assert index.search("nothing here")._repr_html_() == "<p>nothing found</p>"


def test_a_gloss_is_shown_with_the_hit_and_cannot_write_html():
    documents = [Document("a", f"La miel {EVIL} es dulce."), Document("b", "El volcán arroja lava.")]
    with Index.make(documents, "es", lexicon={"honey": "miel", "sweet": "dulce"}) as index:
        hits = index.search("sweet honey", gloss=True)
    assert "honey" in hits[0].gloss.snippet_text
    assert hits[0].to_dict()["gloss"]["language"] == "en"
    assert json.dumps(hits[0].to_dict())
    shown = hits._repr_html_()
    assert "<small" in shown and "<script" not in shown
    assert pickle.loads(pickle.dumps(hits)) == hits
    pytest.importorskip("pandas")
    assert hits.to_pandas()["gloss"].tolist() == [hits[0].gloss.snippet_text]


def test_hits_without_an_answer_say_so_in_a_notebook():
    doubtful = Hits([Hit(1, 0.5, "es", Document("a", "Las abejas."), relevance=CLASSES[0])])
    assert "probably nothing relevant" in doubtful._repr_html_()


def test_hits_as_a_data_frame(index):
    pytest.importorskip("pandas")
    frame = index.search("honey").to_pandas()
    assert frame["id"].tolist() == [hit.id for hit in index.search("honey")]
    assert list(frame.columns[:6]) == ["rank", "score", "language", "id", "title", "snippet"]
    assert list(index.search("nothing here").to_pandas().columns)[:2] == ["rank", "score"]


def test_an_evaluation_as_a_table_and_as_a_data_frame():
    pytest.importorskip("pandas")
    made = evaluate(["bm25", "psq"], "demo", "en-sw")
    frame = made.to_pandas()
    assert frame.loc["psq", "MRR_mr"] == made.measures["psq"]["MRR_mr"]
    assert frame.index.name == "system"
    shown = made._repr_html_()
    assert shown.count("<tr>") == 3
    assert f"<b>{made.measures['psq']['MRR_mr']:.3f}</b>" in shown
    assert "demo en-sw" in shown
    assert repr(made).startswith("<Evaluation demo en-sw, ")


def test_without_pandas_one_sentence_says_what_to_install(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"to_pandas needs the package 'pandas': pip install"):
        index.search("honey").to_pandas()
