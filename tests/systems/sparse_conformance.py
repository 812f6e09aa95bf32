"""What every sparse system does, in tests: a subclass of ``SparseConformance`` says how the system is made.

class TestMine(SparseConformance):
    @pytest.fixture
    def make(self):
        return lambda: make_system("mine", ("en", "fr"))   # fitted, without documents; each time the same
"""

import numpy as np
import pytest

from isogloss.data.documents import Collection, Document

TEXTS = (
    "Le volcan entre en éruption quand le magma monte.",
    "Les abeilles font le miel ; le miel est doux, le miel se garde.",
    "Le sel de mer vient des marais salants.",
    "",
    "Un tremblement de terre secoue la terre près du volcan Etna.",
    "Du pain, du sel et du miel : le repas du berger. " * 5,
)
QUERIES = ("volcano volcan", "honey miel bees", "salt of the sea sel mer", "Etna", "nothing zyx")


class SparseConformance:
    """Subclass this; the subclass has a fixture ``make``, and may have others than these texts and queries."""

    texts, queries = TEXTS, QUERIES

    @pytest.fixture
    def frozen(self, make):
        system = make()
        system.observe(self.texts)
        system.freeze()
        return system

    def in_files(self, system):
        """The system with all texts indexed, as in files."""
        system.index(Collection(Document(str(row), text) for row, text in enumerate(self.texts)), ("text",))
        return system

    def test_vectors_are_sorted_finite_and_without_zeros(self, frozen):
        found = [*frozen.sparse_documents(self.texts), *map(frozen.sparse_query, self.queries)]
        assert len(found) == len(self.texts) + len(self.queries)
        assert any(len(vector.dimensions) for vector in found)
        for dimensions, weights in found:
            assert dimensions.dtype == np.uint32
            assert weights.dtype == np.float32
            assert len(dimensions) == len(weights)
            assert (np.diff(dimensions.astype(np.int64)) > 0).all()
            assert np.isfinite(weights).all()
            assert (weights != 0).all()

    def test_a_text_has_one_vector_whatever_comes_with_it(self, frozen):
        together = frozen.sparse_documents(self.texts)
        for text, vector in zip(self.texts, together, strict=True):
            (alone,) = frozen.sparse_documents([text])
            assert_same(alone, vector)
        assert frozen.sparse_documents([]) == []

    def test_texts_can_be_observed_a_few_at_a_time(self, make, frozen):
        other = make()
        for text in self.texts[::-1]:
            other.observe([text])
        other.freeze()
        for query in self.queries:
            assert_same(other.sparse_query(query), frozen.sparse_query(query))
        for vectors in zip(other.sparse_documents(self.texts), frozen.sparse_documents(self.texts), strict=True):
            assert_same(*vectors)

    def test_frozen_statistics_are_saved(self, make, frozen, tmp_path):
        frozen.save_shared(tmp_path)
        loaded = make().load_shared(tmp_path)
        for query in self.queries:
            assert_same(loaded.sparse_query(query), frozen.sparse_query(query))
        for vectors in zip(loaded.sparse_documents(self.texts), frozen.sparse_documents(self.texts), strict=True):
            assert_same(*vectors)

    def test_scores_are_those_of_an_index_in_files(self, make, frozen):
        """Of documents that share a dimension with the query; all others score nothing."""
        files = self.in_files(make())
        vectors = frozen.sparse_documents(self.texts)
        for query in self.queries:
            wanted = files.search(query, len(self.texts))
            products = np.asarray([vector.product(frozen.sparse_query(query)) for vector in vectors])
            rows = np.flatnonzero(products) if frozen.candidates == 0 else wanted.rows
            scores = products[rows]
            if frozen.candidates:
                scores = frozen.rescore(query, [self.texts[row] for row in rows.tolist()])
            expected = files.score(query, rows)
            assert scores == pytest.approx(expected, rel=1e-5, abs=1e-6)
            if not frozen.candidates:
                assert set(wanted.rows.tolist()) == set(rows.tolist())

    def test_one_document_alone_is_explained_by_the_frozen_statistics(self, make, frozen):
        """The parts of an explanation add up to the score in the whole collection."""
        files = self.in_files(make())
        for query in self.queries:
            for row in files.search(query, 3).rows.tolist():
                frozen.index_texts([self.texts[row]])
                parts = frozen.explain(query, 0, self.texts[row])
                assert sum(part.score for part in parts) == pytest.approx(
                    float(files.score(query, np.asarray([row]))[0]), rel=1e-5, abs=1e-6
                )


def assert_same(one, other):
    assert one.dimensions.tolist() == other.dimensions.tolist()
    assert one.weights.tolist() == other.weights.tolist()
