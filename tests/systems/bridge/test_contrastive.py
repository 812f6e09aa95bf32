"""The average model learned by softmax: loss, gradients and Adam against independent ones, what is left out, order."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.systems.bridge import contrastive
from isogloss.systems.bridge import text_vectors as unit_sums
from isogloss.systems.bridge.contrastive import SoftmaxAverage
from isogloss.systems.bridge.text_vectors import encode
from isogloss.text.ids import TextIds

WORDS, SIZE, TEMPERATURE = 12, 5, 0.3
LISTS = st.lists(st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=6), min_size=2, max_size=9)


def text_ids(texts):
    """Texts as lists of words."""
    return TextIds(np.array([word for text in texts for word in text], np.int32), np.cumsum([0, *map(len, texts)]))


def tables(words=WORDS, size=SIZE):
    rng = np.random.default_rng(1)
    return [rng.normal(size=(words, size)).astype(np.float32) for _ in range(2)]


def translated(number, words=WORDS, longest=6, seed=0):
    """Texts of random words and their translations: word w is word w + 1 of the other language, in another order."""
    rng = np.random.default_rng(seed)
    texts = [rng.integers(0, words, rng.integers(1, longest + 1)).tolist() for _ in range(number)]
    return texts, [[(word + 1) % words for word in reversed(text)] for text in texts]


def learner(queries, documents, words=WORDS, size=SIZE, **options):
    options = {"temperature": TEMPERATURE, "drop": 0.0} | options
    return SoftmaxAverage(*tables(words, size), text_ids(queries), text_ids(documents), **options)


def vectors_of(table, texts):
    sums = np.array([table[text].sum(axis=0) for text in texts])
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)


def loss_of(query_table, document_table, queries, documents):
    """Text by text, in double precision."""
    scores = vectors_of(query_table, queries) @ vectors_of(document_table, documents).T / TEMPERATURE
    total = 0.0
    for i, own in enumerate(documents):
        others = [j for j, other in enumerate(documents) if j == i or sorted(other) != sorted(own)]
        total += np.logaddexp.reduce(scores[i, others]) + np.logaddexp.reduce(scores[others, i]) - 2 * scores[i, i]
    return total / len(documents)


def numerical_gradient(function, table, step=1e-5):
    gradient = np.zeros_like(table)
    for place in np.ndindex(*table.shape):
        ends = []
        for sign in (1, -1):
            moved = table.copy()
            moved[place] += sign * step
            ends.append(function(moved))
        gradient[place] = (ends[0] - ends[1]) / (2 * step)
    return gradient


def spread_out(gradients, words=WORDS, size=SIZE):
    """Gradients of all rows, zero for those of words that do not occur."""
    full = np.zeros((2, words, size))
    for side, (touched, rows) in enumerate(gradients):
        assert len(np.unique(touched)) == len(touched)
        full[side, touched] = rows
    return full


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch


@settings(max_examples=30, deadline=None)
@given(LISTS, st.integers(0, 2**32))
def test_loss_and_gradients_are_those_of_the_definition(queries, seed):
    rng = np.random.default_rng(seed)
    documents = [rng.integers(0, WORDS, rng.integers(1, 5)).tolist() for _ in queries]
    documents[-1] = documents[0][::-1]  # equal but for the order
    loss, gradients = learner(queries, documents).gradients(np.arange(len(queries)))
    query_table, document_table = (table.astype(np.float64) for table in tables())
    expected = [
        numerical_gradient(lambda table: loss_of(table, document_table, queries, documents), query_table),
        numerical_gradient(lambda table: loss_of(query_table, table, queries, documents), document_table),
    ]
    assert loss == pytest.approx(loss_of(query_table, document_table, queries, documents), abs=1e-4)
    np.testing.assert_allclose(spread_out(gradients), expected, rtol=1e-3, atol=2e-4)


def test_gradients_are_those_of_torch(torch):
    queries, documents = translated(20)
    queries[3] = []
    batch = np.random.default_rng(2).permutation(20)[:15]
    loss, gradients = learner(queries, documents).gradients(batch)
    leaves = [torch.tensor(table, dtype=torch.float64, requires_grad=True) for table in tables()]
    expected = torch_loss(
        torch, [leaf.__getitem__ for leaf in leaves], [queries[i] for i in batch], [documents[i] for i in batch]
    )
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    np.testing.assert_allclose(spread_out(gradients), [leaf.grad.numpy() for leaf in leaves], rtol=1e-4, atol=1e-5)


def test_words_of_several_rows_move_them_all(torch):
    """A word's vector is the sum of its rows; the gradients are those of torch by the rows."""
    queries, documents = translated(20)
    spelt = [[word, WORDS + word % 3, *([WORDS + 3] if word > 5 else [])] for word in range(WORDS)]
    made = [table[: WORDS + 4] for table in tables(WORDS + 4)]
    average = SoftmaxAverage(
        *made, text_ids(queries), text_ids(documents), temperature=TEMPERATURE, drop=0.0,
        spelling=(text_ids(spelt), text_ids(spelt)),
    )  # fmt: skip
    loss, gradients = average.gradients(np.arange(20))
    leaves = [torch.tensor(table, dtype=torch.float64, requires_grad=True) for table in made]
    sums = torch.zeros(WORDS, WORDS + 4, dtype=torch.float64)
    for word, rows in enumerate(spelt):
        sums[word, rows] = 1
    expected = torch_loss(torch, [(sums @ leaf).__getitem__ for leaf in leaves], queries, documents)
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    found = spread_out(gradients, WORDS + 4)
    np.testing.assert_allclose(found, [leaf.grad.numpy() for leaf in leaves], rtol=1e-4, atol=1e-5)
    learned, _ = average.learn(epochs=0)
    np.testing.assert_allclose(learned, (sums.numpy() @ made[0]), atol=1e-6)


def test_words_of_one_row_each_learn_as_without_a_spelling():
    queries, documents = translated(30)
    own = text_ids([[word] for word in range(WORDS)])
    plain, spelt = (learner(queries, documents, spelling=each).learn(epochs=3) for each in (None, (own, own)))
    for one, other in zip(plain, spelt, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def torch_loss(torch, leaves, queries, documents):
    vectors = [
        torch.nn.functional.normalize(
            torch.stack([rows_of(torch.tensor(text, dtype=torch.int64)).sum(0) for text in texts]), dim=1, eps=1e-6
        )
        for rows_of, texts in zip(leaves, (queries, documents), strict=True)
    ]
    scores = vectors[0] @ vectors[1].T / TEMPERATURE
    same = torch.tensor([[sorted(one) == sorted(other) for one in documents] for other in documents])
    scores = scores.masked_fill(same & ~torch.eye(len(documents), dtype=torch.bool), -torch.inf)
    right = torch.arange(len(documents))
    return sum(torch.nn.functional.cross_entropy(side, right) for side in (scores, scores.T))


def test_learning_is_lazy_adam_with_a_rate_that_falls_to_zero(torch):
    queries, documents = translated(10)
    learned = learner(queries, documents).learn(epochs=6, batch=512, rate=0.05)
    leaves = [torch.nn.Embedding.from_pretrained(torch.tensor(table), freeze=False, sparse=True) for table in tables()]
    optimiser = torch.optim.SparseAdam([leaf.weight for leaf in leaves], lr=0.05)
    for step in range(6):
        optimiser.param_groups[0]["lr"] = 0.05 * (1 - step / 6)
        optimiser.zero_grad()
        torch_loss(torch, leaves, queries, documents).backward()
        optimiser.step()
    for table, leaf in zip(learned, leaves, strict=True):
        np.testing.assert_allclose(table, leaf.weight.detach().numpy(), atol=2e-4)


def test_translations_are_found_after_learning():
    queries, documents = translated(300, words=60, longest=8)
    taught = learner(queries[:200], documents[:200], words=60, size=32, temperature=0.07)
    learned = taught.learn(epochs=40, batch=64)
    assert np.mean(taught.losses[-10:]) < 0.2 * taught.losses[0]
    vectors = [encode(table, text_ids(side[200:])) for table, side in zip(learned, (queries, documents), strict=True)]
    bags = [sorted(document) for document in documents[200:]]
    found = (vectors[0] @ vectors[1].T).argmax(axis=1)
    assert np.mean([bags[place] == bag for place, bag in zip(found, bags, strict=True)]) > 0.9


def test_the_tables_given_stay_as_they_are():
    given_tables = tables()
    queries, documents = map(text_ids, translated(20))
    learned = SoftmaxAverage(*given_tables, queries, documents).learn(epochs=2)
    for table, before, after in zip(given_tables, tables(), learned, strict=True):
        np.testing.assert_array_equal(table, before)
        assert after.dtype == np.float32
        assert np.abs(after - before).max() > 0


def test_words_that_do_not_occur_keep_their_vectors():
    queries, documents = translated(20, words=8)
    for before, after in zip(tables(), learner(queries, documents).learn(epochs=3), strict=True):
        np.testing.assert_array_equal(before[8:], after[8:])
        assert (before[:8] != after[:8]).any(axis=1).all()


@pytest.mark.parametrize("texts", [([], []), ([[1, 2]], [[3]]), ([[1], [], [2]], [[], [3], [4]])])
def test_fewer_than_two_pairs_teach_nothing(texts):
    taught = learner(*texts)
    for before, after in zip(tables(), taught.learn(), strict=True):
        np.testing.assert_array_equal(before, after)
    assert taught.losses == []


def test_learning_is_the_same_for_a_seed_and_another_for_another():
    one, same, other = (learner(*translated(40), drop=0.3, seed=seed).learn(epochs=3, batch=16) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, same)
    assert np.abs(np.subtract(one, other)).max() > 1e-4


def test_learning_goes_on_where_it_ended():
    taught = learner(*translated(40), drop=0.3)
    first = taught.learn(epochs=2, batch=16)
    second = taught.learn(epochs=2, batch=16)
    assert np.abs(np.subtract(first, second)).max() > 1e-4
    assert len(taught.losses) == 12  # 16 + 16 + 8 pairs an epoch


@pytest.mark.parametrize(
    ("pairs", "batch", "steps"), [(3, 512, 1), (40, 16, 3), (39, 16, 2), (20, 4, 5), (21, 4, 5), (16, 16, 1), (2, 2, 1)]
)
def test_a_small_rest_is_left_for_another_epoch_unless_it_is_all(pairs, batch, steps):
    taught = learner(*translated(pairs))
    taught.learn(epochs=2, batch=batch)
    assert len(taught.losses) == 2 * steps


def test_equal_documents_are_not_each_others_negatives():
    queries, documents = [[1], [2], [3]], [[4, 5, 4], [4, 4, 5], [5, 4, 4]]
    taught = learner(queries, documents)
    loss, gradients = taught.gradients(np.arange(3))
    assert loss == pytest.approx(0, abs=1e-6)
    assert np.abs(spread_out(gradients)).max() < 1e-6


def test_the_same_words_in_other_numbers_are_another_document():
    loss, _ = learner([[1], [2]], [[4, 5], [4, 4, 5]]).gradients(np.arange(2))
    assert loss > 0.01


@pytest.mark.parametrize("temperature", [0.001, 0.07, 100.0])
def test_any_temperature_gives_finite_numbers(temperature):
    taught = learner(*translated(30), temperature=temperature, drop=0.5)
    learned = taught.learn(epochs=5, batch=10)
    assert np.isfinite(taught.losses).all()
    assert all(np.isfinite(table).all() for table in learned)


def test_vectors_of_zero_are_learned_from_too():
    queries, documents = map(text_ids, translated(20))
    start = np.zeros((WORDS, SIZE), np.float32)
    query_table, _ = SoftmaxAverage(start, tables()[1], queries, documents).learn(epochs=2)
    assert np.isfinite(query_table).all()
    assert np.abs(query_table).min(axis=1).max() > 0


@pytest.mark.parametrize("drop", [0.0, 0.1, 0.9])
def test_numba_makes_no_difference(drop, monkeypatch):
    pytest.importorskip("numba")
    queries, documents = translated(60, words=30, longest=40)
    compiled = learner(queries, documents, words=30, drop=drop).learn(epochs=4, batch=32)
    for module in (unit_sums, contrastive):
        monkeypatch.setattr(module, "where_compiled", lambda function: None)
    plain = learner(queries, documents, words=30, drop=drop).learn(epochs=4, batch=32)
    np.testing.assert_array_equal(compiled, plain)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.integers(0, WORDS - 1), max_size=30), max_size=12))
def test_an_encoded_text_is_the_sum_of_its_words_of_length_one(texts):
    table = tables()[0]
    encoded = encode(table, text_ids(texts))
    assert encoded.shape == (len(texts), SIZE)
    assert encoded.dtype == np.float32
    for row, text in zip(encoded, texts, strict=True):
        np.testing.assert_allclose(row, vectors_of(table, [text])[0] if text else np.zeros(SIZE), atol=1e-5)


@given(st.lists(st.lists(st.integers(0, WORDS - 1), max_size=30), max_size=12))
@settings(deadline=None, max_examples=40)
def test_encoding_without_numba_gives_the_same(texts):
    table = tables()[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit_sums, "where_compiled", lambda function: None)
        plain = encode(table, text_ids(texts))
    np.testing.assert_array_equal(plain, encode(table, text_ids(texts)))


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_texts_are_encoded_alike_however_many_at_once(at_once, monkeypatch):
    queries, _ = translated(40)
    texts = text_ids([[], *queries, [], []])
    whole = encode(tables()[0], texts)
    monkeypatch.setattr(unit_sums, "_WORDS_AT_ONCE", at_once)
    np.testing.assert_array_equal(encode(tables()[0], texts), whole)


def test_a_mapped_table_is_encoded_with(tmp_path):
    np.save(tmp_path / "table.npy", tables()[0])
    texts = text_ids(translated(5)[0])
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    np.testing.assert_array_equal(encode(mapped, texts), encode(tables()[0], texts))


@pytest.mark.parametrize(
    ("documents", "options", "message"),
    [
        ([[1]], {}, "2 queries are not translations of 1 documents"),
        ([[1], [2]], {"temperature": 0.0}, "temperature 0.0 must be above 0"),
        ([[1], [2]], {"drop": 1.0}, "drop 1.0 from 0 to below 1"),
    ],
)
def test_what_cannot_be_learned_from_is_said(documents, options, message):
    with pytest.raises(ValueError, match=message):
        learner([[1], [2]], documents, **options)


def test_numpy_alone_is_enough():
    code = (
        "import sys, isogloss.systems.bridge.contrastive\n"
        "print(*{name.split('.')[0] for name in sys.modules} & {'numba', 'torch', 'scipy', 'rich', 'icu4py'})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
