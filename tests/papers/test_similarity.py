"""The smooth cosine: bounded, symmetric, and never steeper than 2 / eps."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.papers.similarity import smooth_cosine, smooth_cosine_gradient, smooth_scale

NUMBERS = st.just(0.0) | st.floats(1e-100, 1e100) | st.floats(-1e100, -1e-100)  # whose squares are numbers too
EPS = st.floats(1e-3, 10)


@st.composite
def pairs(draw):
    shape = (draw(st.integers(1, 4)), draw(st.integers(1, 5)))
    return draw(arrays.arrays(np.float64, shape, elements=NUMBERS)), draw(
        arrays.arrays(np.float64, shape, elements=NUMBERS)
    )


@given(pairs(), EPS | st.just(0.0))
def test_bounded_and_symmetric(pair, eps):
    queries, documents = pair
    scores = smooth_cosine(queries, documents, eps)
    assert scores.shape == (len(queries),)
    assert (np.abs(scores) <= 1 + 1e-12).all()
    assert (scores == smooth_cosine(documents, queries, eps)).all()
    if eps:
        assert (np.abs(scores) <= np.abs(smooth_cosine(queries, documents, 0.0)) + 1e-12).all()


@given(pairs(), EPS)
def test_the_gradient_is_bounded_by_2_over_eps(pair, eps):
    for gradient in smooth_cosine_gradient(*pair, eps):
        assert (np.linalg.norm(gradient, axis=1) <= 2 / eps).all()


@given(EPS, st.floats(-300, 3), st.integers(1, 8))
def test_the_gradient_is_bounded_at_and_around_zero(eps, power, dimension):
    tiny = np.full((1, dimension), 10.0**power)
    for query in (np.zeros((1, dimension)), tiny, -tiny):
        for document in (np.zeros((1, dimension)), tiny, np.ones((1, dimension))):
            for gradient in smooth_cosine_gradient(query, document, eps):
                assert np.linalg.norm(gradient) <= 2 / eps


@given(st.integers(0, 1000), st.floats(0.01, 2))
def test_the_gradient_is_that_of_finite_differences(seed, eps):
    queries, documents = np.random.default_rng(seed).standard_normal((2, 3, 4))
    by_query, by_document = smooth_cosine_gradient(queries, documents, eps)
    step = 1e-6
    for column in range(4):
        shift = np.zeros((1, 4))
        shift[0, column] = step
        for gradient, ahead, behind in (
            (by_query, (queries + shift, documents), (queries - shift, documents)),
            (by_document, (queries, documents + shift), (queries, documents - shift)),
        ):
            difference = (smooth_cosine(*ahead, eps) - smooth_cosine(*behind, eps)) / (2 * step)
            np.testing.assert_allclose(gradient[:, column], difference, atol=1e-6, rtol=1e-5)


@given(EPS)
def test_at_zero_the_gradient_is_the_other_vector_scaled(eps):
    document = np.array([[3.0, 4.0]])
    by_query, by_document = smooth_cosine_gradient(np.zeros((1, 2)), document, eps)
    np.testing.assert_allclose(by_query, smooth_scale(document, eps) / eps)
    assert (by_document == 0).all()


def test_eps_0_is_the_cosine_and_safe_at_zero():
    queries = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 0.0]])
    documents = np.array([[4.0, 3.0], [1.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(smooth_cosine(queries, documents, 0.0), [0.96, 0.0, 0.0])
    for gradient in smooth_cosine_gradient(queries, documents, 0.0):
        assert (gradient[1:] == 0).all()
    assert (smooth_scale(np.zeros((2, 3)), 0.0) == 0).all()


@given(pairs(), EPS | st.just(0.0))
def test_scaled_vectors_are_shorter_than_1_and_their_product_is_the_score(pair, eps):
    queries, documents = pair
    scaled = smooth_scale(queries, eps)
    assert (np.linalg.norm(scaled, axis=1) <= 1 + 1e-12).all()
    products = np.einsum("ij,ij->i", scaled, smooth_scale(documents, eps))
    np.testing.assert_allclose(products, smooth_cosine(queries, documents, eps), atol=1e-12)


def test_single_precision_stays_single():
    queries = np.ones((2, 3), dtype=np.float32)
    assert smooth_scale(queries, 1.0).dtype == np.float32
    assert smooth_cosine(queries, queries, 1.0).dtype == np.float32
    assert {gradient.dtype for gradient in smooth_cosine_gradient(queries, queries, 1.0)} == {np.dtype(np.float32)}


@pytest.mark.parametrize("eps", [0.0, 0.01, 1.0])
def test_torch_agrees_and_its_gradient_is_a_number_at_zero(eps):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    queries, documents = np.random.default_rng(0).standard_normal((2, 6, 5))
    queries[0] = documents[1] = queries[2] = documents[2] = 0
    queries[3] *= 1e-12
    tensors = [torch.tensor(rows, requires_grad=True) for rows in (queries, documents)]
    scores = smooth_cosine(*tensors, eps)
    scores.sum().backward()
    np.testing.assert_allclose(scores.detach().numpy(), smooth_cosine(queries, documents, eps), atol=1e-14)
    for tensor, gradient in zip(tensors, smooth_cosine_gradient(queries, documents, eps), strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), gradient, rtol=1e-9, atol=1e-12)


def test_torch_is_not_imported():
    code = "import sys, isogloss.papers.similarity, isogloss.papers.smooth.losses; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
