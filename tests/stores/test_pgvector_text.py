"""Full-text search in PostgreSQL for queries that a lexicon has translated, and both searches as one."""

import numpy as np
import pytest
from tests.stores import postgres
from tests.stores.given import DIMENSION, HOSTILE, ids_of, page, unit

from isogloss.base.errors import InputError
from isogloss.corpus.records import Document
from isogloss.lexical.bm25 import Concept
from isogloss.lexical.translation import QueryTranslator
from isogloss.stores.pgvector import PgVectorStore
from isogloss.text.tokenizer import Tokenizer
from isogloss.vectors.lexicon import Lexicon

server, administrator, name, store = postgres.server, postgres.administrator, postgres.name, postgres.store

PAGES = {
    "abeilles": "Les abeilles fabriquent le miel dans la ruche avec le nectar des fleurs.",
    "mer": "La mer est salée parce que les rivières y apportent le sel des roches.",
    "pain": "Le boulanger prépare le pain avec de la farine, de l'eau et du sel.",
    "ours": "L'ours aime le miel, le miel et encore le miel.",
    "roi": "Le roi a un cheval et deux chevaux blancs.",
}
LEXICON = [("honey", "miel", 0.0), ("bee", "abeille", 0.0), ("salt", "sel", 0.0), ("horse", "cheval", 0.0),
           ("river", "rivière", 0.0), ("river", "fleuve", 0.0)]  # fmt: skip


@pytest.fixture
def shelf(store):
    pages = [Document(id_, text, language="fr", fields={"letter": id_[0]}) for id_, text in PAGES.items()]
    store.add(pages, np.eye(len(pages), DIMENSION, dtype=np.float32))
    return store


@pytest.fixture
def concepts():
    translator = QueryTranslator(Lexicon(LEXICON), "en", Tokenizer("fr"), drop_stop_words=True)
    return lambda *queries: [translator(query) for query in queries]


def asked(*terms):
    return [[Concept(term, ((term, 1.0),)) for term in terms]]


def test_a_translated_query_finds_words_by_their_stems(shelf, concepts):
    honey, horses, rivers, nothing = shelf.search_words("fr", concepts("honey bees", "horses", "the rivers", "ufo"), 10)
    assert ids_of(honey.found) == ["abeilles", "ours"]
    assert ids_of(horses.found) == ["roi"]
    assert ids_of(rivers.found) == ["mer"]
    assert nothing.found == ()


def test_rare_concepts_and_heavy_terms_count_more(shelf):
    (rare,) = shelf.search_words("fr", asked("sel", "rivières"), 10)
    assert ids_of(rare.found) == ["mer", "pain"]
    both = [[Concept("q", (("miel", 0.1), ("sel", 1.0)))]]
    assert set(ids_of(shelf.search_words("fr", both, 2)[0].found)) == {"mer", "pain"}
    twice = [[Concept("a", (("nectar", 1.0),), 1.0), Concept("b", (("farine", 1.0),), 3.0)]]
    assert ids_of(shelf.search_words("fr", twice, 10)[0].found) == ["pain", "abeilles"]


def test_translations_of_one_word_are_one_piece_of_evidence(shelf):
    """Many names for what one document has must not outweigh another thing that a second document has."""
    synonyms = Concept("a", (("miel", 1.0), ("nectar", 1.0), ("fleurs", 1.0), ("ruche", 1.0)))
    (answer,) = shelf.search_words(
        "fr", [[synonyms, Concept("b", (("cheval", 1.0),)), Concept("c", (("roi", 1.0),))]], 10
    )
    assert ids_of(answer.found)[0] == "roi"


def test_scores_fall_and_equal_ones_are_ordered_by_id(store):
    store.add([page(id_, text="du sel") for id_ in "cab"], np.repeat(unit(0), 3, axis=0))
    (answer,) = store.search_words("fr", asked("sel"), 2)
    assert ids_of(answer.found) == ["a", "b"]
    assert answer.found[0].score == answer.found[1].score > 0


def test_filters_leave_scores_as_they_are(shelf):
    (whole,) = shelf.search_words("fr", asked("miel"), 10)
    (filtered,) = shelf.search_words("fr", asked("miel"), 10, {"letter": "a"})
    assert filtered.found == tuple(hit for hit in whole.found if hit.id == "abeilles") != ()
    assert shelf.search_words("fr", asked("miel"), 10, {"letter": "\0"})[0].found == ()


def test_replaced_and_deleted_documents_are_found_as_they_are(shelf):
    shelf.add([page("ours", text="L'ours dort.")], unit(0))
    shelf.delete("fr", ["abeilles"])
    assert shelf.search_words("fr", asked("miel"), 10)[0].found == ()
    assert ids_of(shelf.search_words("fr", asked("dormir", "dort"), 10)[0].found) == ["ours"]


@pytest.mark.parametrize(("language", "text", "term", "found"), [
    ("zh", "大海里有盐，河水没有盐。", "河水", True), ("sw", "Nyuki hutengeneza asali.", "asali", True),
    ("sw", "Nyuki hutengeneza asali.", "asal", False), ("pt-BR", "Os cavalos brancos", "cavalo", True),
    ("en", "The bees are making honey", "bee", True),
])  # fmt: skip
def test_languages_have_their_configurations_and_those_without_the_simple_one(store, language, text, term, found):
    store.add([page("a", language, text)], unit(0))
    assert ids_of(store.search_words(language, asked(term), 5)[0].found) == (["a"] if found else [])


def test_a_configuration_can_be_chosen(server, name):
    with PgVectorStore.create(server.url, DIMENSION, name=name, languages={"fr": "pg_catalog.simple"}) as made:
        made.add([page("a", text="les chevaux")], unit(0))
        assert made.search_words("fr", asked("cheval"), 5)[0].found == ()
        assert ids_of(made.search_words("fr", asked("les"), 5)[0].found) == ["a"]


def test_a_configuration_that_is_not_there_is_refused(server, name):
    with pytest.raises(InputError, match="languages: 'klingon' is no text search configuration"):
        PgVectorStore.create(server.url, DIMENSION, name=name, languages={"fr": "klingon"})


@pytest.mark.parametrize("term", [*HOSTILE, "a & !b", "'", ":*", "(", "nul\0", "\ud800", ""])
def test_terms_may_be_anything(shelf, term):
    (answer,) = shelf.search_words("fr", asked(term, "miel"), 10)
    assert set(ids_of(answer.found)) >= {"abeilles", "ours"}


def test_very_long_documents_keep_their_first_words(store):
    text = "début " + " ".join(f"mot{number}" for number in range(200_000))
    store.add([page("a", text=text)], unit(0))
    assert ids_of(store.search_words("fr", asked("mot77"), 5)[0].found) == ["a"]
    assert store.get("fr", ["a"]) == [page("a", text=text)]


def test_a_store_without_words_says_so(server, name):
    with PgVectorStore.create(server.url, DIMENSION, name=name, full_text=False) as made:
        made.add([page("a")], unit(0))
        with pytest.raises(InputError, match="keeps no words; make it again with full_text=True"):
            made.search_words("fr", asked("sel"), 5)


# both searches as one


def test_the_hybrid_search_puts_both_lists_together(shelf, concepts):
    vectors = np.eye(1, DIMENSION, k=2, dtype=np.float32)  # that of "pain"
    (only_vectors,), (only_words,), (both,) = (
        shelf.search_hybrid("fr", vectors, concepts("honey"), 5, weight=weight) for weight in (1.0, 0.0, 0.5)
    )
    assert ids_of(only_vectors.found)[0] == "pain"
    assert ids_of(only_words.found)[:2] == ["ours", "abeilles"]
    assert set(ids_of(both.found)[:3]) == {"pain", "ours", "abeilles"}
    (filtered,) = shelf.search_hybrid("fr", vectors, concepts("honey"), 5, {"letter": "o"})
    assert ids_of(filtered.found) == ["ours"]


def test_the_score_of_the_hybrid_search_is_the_sum_of_reciprocal_ranks(shelf, concepts):
    vectors = np.asarray([[0, 0, 4, 3, 2, 0, 0, 0]], dtype=np.float32)
    (answer,) = shelf.search_hybrid("fr", vectors, concepts("honey"), 5, weight=0.75)
    scores = dict(answer.found)
    assert scores["ours"] == pytest.approx(0.75 / 62 + 0.25 / 61)
    assert scores["pain"] == pytest.approx(0.75 / 61 + 0.25 / 63)


def test_a_hybrid_search_that_does_not_fit_together_is_refused(shelf, concepts):
    with pytest.raises(InputError, match="1 vectors for 2 queries"):
        shelf.search_hybrid("fr", unit(0), concepts("honey", "salt"), 5)
    with pytest.raises(InputError, match=r"a weight of 1\.5"):
        shelf.search_hybrid("fr", unit(0), concepts("honey"), 5, weight=1.5)
    assert shelf.search_hybrid("fr", unit(0), concepts("honey"), 0)[0].found == ()
    assert shelf.search_hybrid("xx", unit(0), concepts("honey"), 5)[0].found == ()
