"""What every store does, in tests: a backend subclasses ``EngineConformance`` and says how it is made and reopened.

class TestMine(EngineConformance):
    @pytest.fixture
    def opener(self, tmp_path):
        return MyOpener(tmp_path)
"""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.engines.inputs import (
    DIMENSION,
    FAULTS,
    HOSTILE,
    Opener,
    best_points,
    exact,
    faulty_batch,
    ids_of,
    page,
    random_sparse,
    sparse,
    unit,
)

from isogloss.data.documents import Document
from isogloss.engines.base import EngineHit, Points
from isogloss.storage.errors import InputError
from isogloss.systems.sparse import SparseVector

MISFITS = [np.ones((1, DIMENSION + 1)), np.full((1, DIMENSION), np.nan), np.ones(DIMENSION)]


class EngineConformance:
    """Subclass this; the subclass has a fixture ``opener``."""

    @pytest.fixture
    def opener(self) -> Opener:
        raise NotImplementedError("a backend says how it is made and reopened")

    @pytest.fixture
    def store(self, opener):
        made = opener.create()
        yield made
        made.close()

    def search(self, store, query, k=10, language="fr", filters=None) -> list[EngineHit]:
        (answer,) = store.search(language, query, k, filters)
        return answer

    # an empty store

    def test_an_empty_store_answers_that_it_has_nothing(self, store):
        assert store.search("fr", np.ones((2, DIMENSION), np.float32), 5) == [[], []]
        assert store.get("fr", ["a"]) == [None]
        assert store.delete("fr", ["a"]) == 0
        assert store.counts() == {}

    def test_no_documents_can_be_added_and_no_queries_asked(self, store):
        store.add([], np.zeros((0, DIMENSION), np.float32))
        store.add([page("a")], unit(0))
        assert store.search("fr", np.zeros((0, DIMENSION), np.float32), 5) == []
        assert store.get("fr", []) == []
        assert store.delete("fr", []) == 0

    # adding, replacing, deleting

    def test_what_was_added_is_there_with_all_that_is_known_of_it(self, store):
        whole = Document(
            "a", "Le texte.", "Le titre", "fr", "https://example.org/a", ("b", "c"), {"en": "a-en"},
            {"kind": "guide", "years": [2023, 2024], "free": True, "nested": {"deep": [1.5, None]}},
        )  # fmt: skip
        store.add([whole, page("b")], np.concatenate([unit(0), unit(1)]))
        assert store.get("fr", ["b", "nobody", "a", "b"]) == [page("b"), None, whole, page("b")]
        assert store.counts() == {"fr": 2}

    def test_replaced_documents_are_found_as_they_are_now(self, store):
        store.add([page("a", kind="old"), page("b")], np.concatenate([unit(0), unit(1)]))
        store.add([page("a", text="another", kind="new")], unit(2))
        assert store.counts() == {"fr": 2}
        assert store.get("fr", ["a"]) == [page("a", text="another", kind="new")]
        assert ids_of(self.search(store, unit(2), 1)) == ["a"]
        assert self.search(store, unit(0), 1)[0].score == 0
        assert self.search(store, unit(2), filters={"kind": "old"}) == []
        assert ids_of(self.search(store, unit(2), filters={"kind": "new"})) == ["a"]

    def test_deleted_documents_are_gone_and_counted_once(self, store):
        store.add([page(id_) for id_ in "abc"], np.concatenate([unit(0), unit(1), unit(2)]))
        assert store.delete("fr", ["a", "nobody", "c", "a"]) == 2
        assert store.delete("fr", ["a", "c"]) == 0
        assert store.delete("it", ["b"]) == 0
        assert store.get("fr", list("abc")) == [None, page("b"), None]
        assert ids_of(self.search(store, unit(0))) == ["b"]
        assert store.counts() == {"fr": 1}
        store.add([page("a")], unit(3))
        assert ids_of(self.search(store, unit(3))) == ["a", "b"]
        assert store.delete("fr", ["a", "b"]) == 2
        assert store.counts() == {}

    def test_many_changes_leave_what_they_should(self, store):
        """Twelve batches that overlap, and deletions in between, against a dictionary."""
        rng, kept = np.random.default_rng(0), {}
        for number in range(12):
            chosen = rng.choice(60, size=15, replace=False)
            vectors = rng.integers(-3, 4, (15, DIMENSION)).astype(np.float32)
            documents = [page(f"d{i}", text=f"version {number}") for i in chosen]
            store.add(documents, vectors)
            kept |= {document.id: (document, vector) for document, vector in zip(documents, vectors, strict=True)}
            gone = [f"d{i}" for i in rng.choice(60, size=4, replace=False)]
            assert store.delete("fr", gone) == sum(kept.pop(id_, None) is not None for id_ in gone)
        assert store.counts() == {"fr": len(kept)}
        ids = list(kept)
        assert store.get("fr", ids) == [document for document, _ in kept.values()]
        matrix = np.stack([vector for _, vector in kept.values()])
        query = rng.integers(-3, 4, (1, DIMENSION)).astype(np.float32)
        assert list(self.search(store, query, 30)) == exact(ids, matrix, query[0], 30)

    # languages

    def test_languages_are_kept_apart(self, store):
        documents = [page("a", "fr", "le sel"), page("a", "it", "il sale"), page("b", "zh-Hant", "鹽")]
        store.add(documents, np.concatenate([unit(0), unit(0, 2), unit(0, 3)]))
        assert store.counts() == {"fr": 1, "it": 1, "zh-Hant": 1}
        assert self.search(store, unit(0)) == [EngineHit("a", 1.0)]
        assert self.search(store, unit(0), language="it") == [EngineHit("a", 2.0)]
        assert self.search(store, unit(0), language="zh-Hant") == [EngineHit("b", 3.0)]
        assert self.search(store, unit(0), language="sw") == []
        assert store.delete("it", ["a"]) == 1
        assert store.counts() == {"fr": 1, "zh-Hant": 1}
        assert store.get("fr", ["a"]) == [documents[0]]
        assert store.get("it", ["a"]) == [None]

    # the ranking

    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_the_best_are_those_of_an_exact_search_with_ties_by_id(self, store, seed):
        """Small whole numbers: sums are exact in any order, and many scores are equal."""
        rng = np.random.default_rng(seed)
        ids = rng.permutation([*HOSTILE, *(f"d{i}" for i in range(90))]).tolist()
        vectors = rng.integers(-2, 3, (len(ids), DIMENSION)).astype(np.float32)
        for start in range(0, len(ids), 50):
            rows = slice(start, start + 50)
            store.add([page(id_) for id_ in ids[rows]], vectors[rows])
        queries = rng.integers(-2, 3, (6, DIMENSION)).astype(np.float32)
        queries[0] = 0
        for k in (1, 7, 40, len(ids), len(ids) + 100):
            answers = store.search("fr", queries, k)
            assert [list(answer) for answer in answers] == [exact(ids, vectors, query, k) for query in queries]

    def test_scores_are_inner_products_whatever_the_lengths(self, store):
        rng = np.random.default_rng(3)
        vectors = (rng.standard_normal((200, DIMENSION)) * rng.uniform(0.01, 100, (200, 1))).astype(np.float32)
        ids = [f"d{i}" for i in range(200)]
        store.add([page(id_) for id_ in ids], vectors)
        query = rng.standard_normal((1, DIMENSION)).astype(np.float32)
        found, wanted = self.search(store, query, 20), exact(ids, vectors, query[0], 20)
        assert ids_of(found) == [id_ for id_, _ in wanted]
        assert [hit.score for hit in found] == pytest.approx([score for _, score in wanted], rel=1e-5)

    def test_of_equals_the_first_ids_are_found(self, store):
        ids = np.random.default_rng(4).permutation([f"d{i:02}" for i in range(50)]).tolist()
        store.add([page(id_) for id_ in ids], np.repeat(unit(1), 50, axis=0))
        assert ids_of(self.search(store, unit(1), 5)) == ["d00", "d01", "d02", "d03", "d04"]
        assert store.delete("fr", ["d01"]) == 1
        assert ids_of(self.search(store, unit(1), 3)) == ["d00", "d02", "d03"]

    def test_none_are_found_if_none_are_wanted(self, store):
        store.add([page("a")], unit(0))
        assert self.search(store, unit(0), 0) == []

    # sparse vectors, passages, and a choice of documents

    @pytest.fixture
    def both(self, opener):
        """A store of points with dense and sparse vectors."""
        made = opener.create(sparse=True)
        yield made
        made.close()

    @pytest.fixture
    def sparse_store(self, opener):
        """A store of sparse vectors only."""
        made = opener.create(dimension=0, sparse=True)
        yield made
        made.close()

    @pytest.mark.parametrize("seed", [0, 1])
    def test_the_best_by_sparse_products_are_found_with_ties_by_id(self, sparse_store, seed):
        rng = np.random.default_rng(seed)
        ids = rng.permutation([*HOSTILE, *(f"d{i}" for i in range(60))]).tolist()
        vectors, queries = random_sparse(rng, len(ids)), random_sparse(rng, 6)
        sparse_store.add([page(id_) for id_ in ids], Points(np.ones(len(ids), np.int64), sparse=vectors))
        for query in queries:
            scores = np.asarray([vector.product(query) for vector in vectors])
            for k in (1, 7, len(ids) + 5):
                wanted = best_points(ids, [1] * len(ids), scores, k, scores > 0)
                assert [list(hits) for hits in sparse_store.search("fr", [query], k)] == [wanted]
        assert sparse_store.search("fr", [sparse({})], 5) == [[]]
        assert sparse_store.search("it", queries[:1], 5) == [[]]

    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_document_scores_like_its_best_passage(self, both, seed):
        rng = np.random.default_rng(seed)
        ids = [f"d{i:02}" for i in rng.permutation(50)]
        counts = rng.integers(1, 9, 50)
        counts[0] = 60  # more of the best points are of one document than are fetched at first
        dense = rng.integers(-2, 3, (counts.sum(), DIMENSION)).astype(np.float32)
        dense[: counts[0]] = 2
        vectors = random_sparse(rng, int(counts.sum()))
        both.add([page(id_) for id_ in ids], Points(counts, dense, vectors))
        assert both.counts() == {"fr": 50}
        query = np.full((1, DIMENSION), 1, np.float32)
        for k in (1, 10, 60):
            wanted = best_points(ids, counts.tolist(), dense.astype(np.float64) @ query[0], k)
            assert list(both.search("fr", query, k)[0]) == wanted
            for asked in random_sparse(rng, 3):
                scores = np.asarray([vector.product(asked) for vector in vectors])
                wanted = best_points(ids, counts.tolist(), scores, k, scores > 0)
                assert list(both.search("fr", [asked], k)[0]) == wanted

    def test_a_replaced_document_loses_the_passages_it_has_no_more(self, both):
        three = Points(np.array([3, 1]), np.concatenate([unit(0), unit(1), unit(2), unit(3)]), [sparse({7: 1.0})] * 4)
        both.add([page("a"), page("b")], three)
        both.add([page("a", text="shorter")], Points(np.array([1]), unit(4), [sparse({8: 2.0})]))
        assert both.counts() == {"fr": 2}
        assert both.get("fr", ["a"]) == [page("a", text="shorter")]
        assert self.search(both, unit(2), 1) == [EngineHit("a", 0.0)]
        assert both.search("fr", [sparse({7: 1.0})], 5) == [[EngineHit("b", 1.0)]]
        assert both.search("fr", [sparse({8: 1.0})], 5) == [[EngineHit("a", 2.0)]]
        assert both.delete("fr", ["a", "b"]) == 2
        assert both.counts() == {}
        assert both.search("fr", [sparse({7: 1.0, 8: 1.0})], 5) == [[]]
        assert self.search(both, unit(3)) == []

    def test_some_documents_alone_can_be_scored(self, both):
        documents = [page(id_, kind="x") for id_ in "abcd"]
        weights = [sparse({3: float(weight)}) for weight in (1, 2, 3)] + [sparse({9: 1.0})]
        both.add(documents, Points(np.ones(4, np.int64), np.concatenate([unit(0, n) for n in (4, 3, 2, 1)]), weights))
        chosen = ["c", "a", "nobody", "d"]
        dense = [EngineHit("a", 4.0), EngineHit("c", 2.0), EngineHit("d", 1.0)]
        assert both.search("fr", unit(0), 9, None, chosen) == [dense]
        assert both.search("fr", [sparse({3: 1.0})], 9, None, chosen) == [[EngineHit("c", 3.0), EngineHit("a", 1.0)]]
        assert both.search("fr", unit(0), 1, {"kind": "x"}, chosen) == [dense[:1]]
        assert both.search("fr", unit(0), 9, {"kind": "y"}, chosen) == [[]]
        assert both.search("fr", unit(0), 9, None, []) == [[]]

    def test_sparse_searches_take_filters(self, both):
        documents = [page(f"d{i:03}", rare="yes" if i % 100 == 99 else "no") for i in range(300)]
        weights = [sparse({5: float(300 - i), 4_294_967_295: 1.0}) for i in range(300)]
        both.add(documents, Points(np.ones(300, np.int64), np.repeat(unit(0), 300, axis=0), weights))
        (found,) = both.search("fr", [sparse({5: 1.0})], 2, {"rare": "yes"})
        assert found == [EngineHit("d099", 201.0), EngineHit("d199", 101.0)]
        (found,) = both.search("fr", [sparse({4_294_967_295: 2.0})], 2)
        assert found == [EngineHit("d000", 2.0), EngineHit("d001", 2.0)]

    def test_languages_may_have_vectors_of_different_kinds(self, both):
        both.add([page("a", "fr")], Points(np.array([1]), unit(0)))
        both.add([page("a", "it"), page("b", "it")], Points(np.array([1, 1]), sparse=[sparse({1: 1.0})] * 2))
        assert both.counts() == {"fr": 1, "it": 2}
        assert self.search(both, unit(0)) == [EngineHit("a", 1.0)]
        assert self.search(both, unit(0), language="it") == []
        assert both.search("it", [sparse({1: 1.0})], 1) == [[EngineHit("a", 1.0)]]
        assert both.search("fr", [sparse({1: 1.0})], 1) == [[]]

    def test_vectors_of_a_kind_that_it_does_not_have_are_refused(self, store, sparse_store):
        with pytest.raises(InputError, match="sparse vector in an engine index without"):
            store.add([page("a")], Points(np.array([1]), unit(0), [sparse({1: 1.0})]))
        with pytest.raises(InputError, match="dense vector in an engine index without"):
            sparse_store.add([page("a")], unit(0))
        with pytest.raises(InputError, match="points without vectors"):
            store.add([page("a")], Points(np.array([1])))
        with pytest.raises(InputError, match="sparse vector in an engine index without"):
            store.search("fr", [sparse({1: 1.0})], 1)
        with pytest.raises(InputError, match="dense vector in an engine index without"):
            sparse_store.search("fr", unit(0), 1)
        with pytest.raises(InputError, match="not finite"):
            sparse_store.add([page("a")], Points(np.array([1]), sparse=[sparse({1: np.nan})]))
        with pytest.raises(InputError, match="do not ascend"):
            sparse_store.search("fr", [SparseVector(np.array([2, 1], np.uint32), np.ones(2, np.float32))], 1)

    def test_sparse_vectors_are_there_again_after_a_restart(self, opener):
        store = opener.create(sparse=True)
        store.add([page("a")], Points(np.array([2]), np.concatenate([unit(0), unit(1)]), [sparse({1: 1.0})] * 2))
        store = opener.reopen(store)
        try:
            assert store.search("fr", [sparse({1: 3.0})], 1) == [[EngineHit("a", 3.0)]]
            store.add([page("b")], Points(np.array([1]), unit(0), [sparse({1: 2.0})]))
            assert ids_of(store.search("fr", [sparse({1: 1.0})], 5)[0]) == ["b", "a"]
        finally:
            store.close()

    # filters

    def test_filters_find_fields_with_their_values(self, store):
        documents = [
            page("a", kind="guide", year=2023, free=True),
            page("b", kind=["guide", "manual"], year=2024, free=False),
            page("c", kind="manual", price=1.5),
            page("d"),
        ]
        store.add(documents, np.concatenate([unit(0, length) for length in (4, 3, 2, 1)]))
        wanted = {
            ("kind", "guide"): ["a", "b"], ("kind", "manual"): ["b", "c"], ("kind", "Guide"): [], ("kind", "gui"): [],
            ("year", "2024"): ["b"], ("free", "true"): ["a"], ("free", "false"): ["b"], ("price", "1.5"): ["c"],
            ("nothing", "guide"): [], ("kind", ""): [],
        }  # fmt: skip
        for (name, value), ids in wanted.items():
            assert ids_of(self.search(store, unit(0), filters={name: value})) == ids
        assert ids_of(self.search(store, unit(0), filters={"kind": "guide", "year": "2024"})) == ["b"]
        assert self.search(store, unit(0), filters={"kind": "guide", "price": "1.5"}) == []
        assert ids_of(self.search(store, unit(0), filters={})) == ["a", "b", "c", "d"]

    def test_what_a_filter_lets_pass_is_found_however_low_it_ranks(self, store):
        documents = [page(f"d{i:03}", rare="yes" if i == 299 else "no") for i in range(300)]
        store.add(documents, np.arange(300, 0, -1, dtype=np.float32)[:, None] * unit(0))
        assert self.search(store, unit(0), 1, filters={"rare": "yes"}) == [EngineHit("d299", 1.0)]

    def test_filters_take_any_text(self, store):
        documents = [page(f"d{number}", **{name: name}) for number, name in enumerate(HOSTILE) if len(name) < 100]
        store.add(documents, np.repeat(unit(0), len(documents), axis=0))
        for document in documents:
            ((name, value),) = document.fields.items()
            assert ids_of(self.search(store, unit(0), filters={name: str(value)})) == [document.id]

    # all or nothing

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_batch_that_fails_leaves_nothing(self, store, fault):
        store.add([page("a", text="old"), page("x", "it")], np.concatenate([unit(0), unit(1)]))
        documents, vectors, expected = faulty_batch(fault)
        with pytest.raises(expected):
            store.add(documents, vectors)
        assert store.counts() == {"fr": 1, "it": 1}
        assert store.get("fr", list("abd")) == [page("a", text="old"), None, None]
        assert self.search(store, unit(0)) == [EngineHit("a", 1.0)]
        assert self.search(store, unit(1), language="it") == [EngineHit("x", 1.0)]
        store.add([page("b")], unit(0, 2))
        assert ids_of(self.search(store, unit(0))) == ["b", "a"]

    @pytest.mark.parametrize("wrong", MISFITS)
    def test_a_query_that_does_not_fit_is_refused(self, store, wrong):
        store.add([page("a")], unit(0))
        with pytest.raises(InputError):
            store.search("fr", wrong.astype(np.float32), 5)

    def test_readers_see_a_batch_whole_or_not_at_all(self, store):
        """Each batch gives all documents another score, so an answer with two scores would be half a batch."""
        documents = [page(f"d{i:02}") for i in range(20)]
        store.add(documents, np.repeat(unit(0), 20, axis=0))
        begun, done = threading.Barrier(4), threading.Event()

        def read() -> list[tuple[EngineHit, ...]]:
            answers = [self.search(store, unit(0), 30)]
            begun.wait(30)
            while not done.is_set():
                answers.append(self.search(store, unit(0), 30))
            return [*answers, self.search(store, unit(0), 30)]

        with ThreadPoolExecutor(3) as threads:
            readers = [threads.submit(read) for _ in range(3)]
            try:
                begun.wait(30)
                for version in range(2, 12):
                    store.add(documents, np.repeat(unit(0, version), 20, axis=0))
            finally:
                done.set()
            answers = [answer for reader in readers for answer in reader.result()]
        assert {len(answer) for answer in answers} == {20}
        assert all(len({hit.score for hit in answer}) == 1 for answer in answers)
        assert answers[-1][0].score == 11

    # staying

    def test_everything_is_there_again_after_a_restart(self, opener):
        store = opener.create()
        store.add(
            [page("a", text="old"), page("b", kind="guide"), page("c", "it")],
            np.concatenate([unit(0), unit(1), unit(2)]),
        )
        store.add([page("a", text="new", kind="guide")], unit(3))
        store.delete("it", ["c"])
        store = opener.reopen(store)
        try:
            assert store.counts() == {"fr": 2}
            assert store.get("fr", ["a", "b"]) == [page("a", text="new", kind="guide"), page("b", kind="guide")]
            assert ids_of(self.search(store, unit(3), filters={"kind": "guide"})) == ["a", "b"]
            store.add([page("c", "it")], unit(4))
            assert store.counts() == {"fr": 2, "it": 1}
        finally:
            store.close()

    def test_an_empty_store_can_be_reopened(self, opener):
        store = opener.reopen(opener.create())
        try:
            assert store.counts() == {}
            store.add([page("a")], unit(0))
            assert ids_of(self.search(store, unit(0))) == ["a"]
        finally:
            store.close()

    # whatever text

    def test_ids_and_texts_of_any_kind_come_back_as_they_were(self, store):
        documents = [page(id_, text=id_, odd=id_) for id_ in HOSTILE]
        store.add(documents, np.repeat(unit(0), len(HOSTILE), axis=0))
        assert store.get("fr", HOSTILE) == documents
        assert ids_of(self.search(store, unit(0), 100)) == sorted(HOSTILE)
        assert store.delete("fr", HOSTILE[::2]) == len(HOSTILE[::2])
        assert ids_of(self.search(store, unit(0), 100)) == sorted(HOSTILE[1::2])

    @pytest.mark.parametrize("document", [page("nul\0id"), page("a", text="nul\0text"), page("a", nul="\0")])
    def test_a_nul_is_kept_or_refused_with_its_batch(self, store, document):
        try:
            store.add([page("b"), document], np.concatenate([unit(0), unit(1)]))
        except InputError:
            assert store.counts() == {}
        else:
            assert store.get("fr", [document.id]) == [document]

    def test_long_texts_are_kept(self, store):
        long = page("a", text="mot é " * 200_000)
        store.add([long], unit(0))
        assert store.get("fr", ["a"]) == [long]

    def test_it_tells_of_itself_in_plain_values(self, store):
        store.add([page("a")], unit(0))
        about = store.about()
        assert json.loads(json.dumps(about)) == about
        assert about["engine"]
