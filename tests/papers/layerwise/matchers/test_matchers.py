"""What all matchers promise, and what is particular to each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.matchers.ai_cnn import AiCnn, Attention
from isogloss.papers.layerwise.matchers.clann import Clann, reverse_gradient
from isogloss.papers.layerwise.matchers.cntn import Cntn, DynamicCnn
from isogloss.papers.layerwise.matchers.dssm import Dssm
from isogloss.papers.layerwise.matchers.layers import WideConvolution, keep_largest
from isogloss.papers.layerwise.matchers.match_srnn import MatchSrnn
from isogloss.papers.layerwise.matchers.scorer import WordTables
from isogloss.papers.towers import Texts

WORDS, DIMENSION = 11, 6
MAKERS = {
    "dssm": lambda tables: Dssm(tables, 7, 5, 10.0),
    "dssm, two towers": lambda tables: Dssm(tables, 7, 5, 10.0, shared=False),
    "cntn": lambda tables: Cntn(tables, 5, 3, 2, 2, 4, 3),
    "cntn, three layers": lambda tables: Cntn(tables, 5, 2, 3, 2, 4, 3, shared=False),
    "ai-cnn": lambda tables: AiCnn(tables, 5, 3, 4),
    "match-srnn": lambda tables: MatchSrnn(tables, 3, 4),
    "match-srnn, both directions": lambda tables: MatchSrnn(tables, 3, 4, both_directions=True),
    "clann": lambda tables: Clann(tables, 6, 5, 4),
}


def made(kind, one_language=False):
    rng = np.random.default_rng(0)
    tables = [rng.normal(0, 0.5, (WORDS, DIMENSION)) for _ in range(2)]
    torch.manual_seed(0)
    return MAKERS[kind](WordTables(tables[0], None if one_language else tables[1])).double().eval()


def padded(texts, extra=0, filler=0):
    longest = max([1, *map(len, texts)]) + extra
    words = [list(text) + [filler] * (longest - len(text)) for text in texts]
    return Texts(torch.tensor(words), torch.tensor([len(text) for text in texts]))


texts = st.lists(st.integers(0, WORDS - 1), max_size=6)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.integers(0, 3), st.integers(0, WORDS - 1))
def test_padding_never_changes_a_score(kind, pairs, extra, filler):
    scorer = made(kind)
    queries, documents = zip(*pairs, strict=True)
    together = scorer(padded(queries, extra, filler), padded(documents, extra + 1, filler))
    alone = torch.cat([scorer(padded([query]), padded([document])) for query, document in pairs])
    torch.testing.assert_close(together, alone)
    assert together.isfinite().all()


@pytest.mark.parametrize("kind", MAKERS)
def test_every_parameter_learns_and_every_gradient_is_finite(kind):
    scorer = made(kind).train()
    queries, positives, negatives = padded([[1, 2, 3], [], [4]]), padded([[5, 6], [1], []]), padded([[7, 1], [8], [2]])
    compared = scorer.compare(queries, positives, negatives)
    loss = (1 - compared.positive + compared.negative).clamp(min=0).mean()
    for left, right in compared.features:
        loss = loss + scorer.language_loss(left, right, 0.5)
    loss.backward()
    for name, parameter in scorer.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        if not name.endswith("bias"):  # that of the score itself is the same for both documents
            assert parameter.grad.any(), name


@pytest.mark.parametrize("kind", MAKERS)
def test_comparing_is_scoring_twice(kind):
    scorer = made(kind)
    queries, positives, negatives = padded([[1, 2], [3]]), padded([[4], [5, 6]]), padded([[7, 8], [9]])
    compared = scorer.compare(queries, padded([[4], [5, 6]]), negatives)
    torch.testing.assert_close(compared.positive, scorer(queries, positives))
    torch.testing.assert_close(compared.negative, scorer(queries, negatives))


def test_one_language_has_one_table():
    both = made("cntn", one_language=True)
    assert "tables.document" not in dict(both.named_parameters())
    assert both.tables.document is both.tables.query
    assert {"tables.query", "tables.document"} <= dict(made("cntn").named_parameters()).keys()


def test_the_cosine_of_a_text_with_itself_is_gamma():
    scorer = made("dssm", one_language=True)
    texts = padded([[1, 2, 3], [4]])
    torch.testing.assert_close(scorer(texts, texts), torch.full((2,), 10.0, dtype=torch.float64))


def test_cntn_scores_as_its_equation_says():
    scorer = made("cntn")
    left, right = torch.randn(1, 4, dtype=torch.float64), torch.randn(1, 4, dtype=torch.float64)
    tensor = scorer.tensor
    forms = torch.stack([left[0] @ slice_ @ right[0] for slice_ in tensor.slices])
    joint = tensor.left.weight @ left[0] + tensor.right.weight @ right[0] + tensor.left.bias
    expected = scorer.score.weight[0] @ (forms + joint).tanh() + scorer.score.bias[0]
    torch.testing.assert_close(scorer.match(left, right)[0], expected)


def test_a_wide_convolution_reaches_over_both_ends():
    convolution = WideConvolution(1, 1, 3)
    with torch.no_grad():
        convolution.convolution.weight.copy_(torch.tensor([[[1.0, 10.0, 100.0]]]))
    found, windows = convolution(torch.tensor([[[1.0, 2.0, 0.0]]]), torch.tensor([2]))
    assert windows.tolist() == [4]
    assert found[0, 0, :4].tolist() == [100, 210, 21, 2]


def test_the_largest_are_kept_in_their_order():
    features = torch.tensor([[[3.0, 1.0, 2.0, 9.0]], [[3.0, 1.0, 2.0, 9.0]]])
    kept, numbers = keep_largest(features, torch.tensor([3, 4]), torch.tensor([2, 3]), 3)
    assert kept[:, 0].tolist() == [[3, 2, 0], [3, 2, 9]]
    assert numbers.tolist() == [2, 3]
    kept, numbers = keep_largest(features, torch.tensor([1, 0]), torch.tensor([6, 6]), 6)
    assert kept[:, 0].tolist() == [[3, 0, 0, 0, 0, 0], [0] * 6]
    assert numbers.tolist() == [1, 0]


def test_lower_layers_keep_more_of_longer_texts():
    torch.manual_seed(0)
    encoder = DynamicCnn(2, 3, 2, 2, 2, 4)
    seen = []
    encoder.convolutions[1].register_forward_pre_hook(lambda _, given: seen.append(given[1].tolist()))
    encoder(torch.randn(3, 9, 2), torch.tensor([9, 3, 1]))
    assert seen == [[5, 2, 2]]  # half of the words, 2 at least


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_attention_adds_up_to_one(lengths):
    torch.manual_seed(0)
    weights = Attention(3)(torch.randn(len(lengths), 5, 3), torch.tensor(lengths))
    expected = torch.tensor([float(length > 0) for length in lengths])
    torch.testing.assert_close(weights.sum(dim=1), expected)
    assert (weights[torch.arange(5) >= torch.tensor(lengths)[:, None]] == 0).all()
    assert (weights >= 0).all()


def test_the_second_direction_reads_both_texts_from_their_ends():
    scorer = made("match-srnn, both directions")
    with torch.no_grad():
        for name, parameter in scorer.readers[1].named_parameters():
            parameter.copy_(scorer.readers[0].get_parameter(name))
        scorer.score.weight[0, 4:] = scorer.score.weight[0, :4]
    query, document = [1, 2, 3], [4, 5]
    ahead = scorer(padded([query], extra=2), padded([document]))
    back = scorer(padded([query[::-1]]), padded([document[::-1]], extra=1))
    torch.testing.assert_close(ahead, back)


def test_what_the_discriminator_learns_is_turned_round_in_the_encoder():
    scorer = made("clann").train()
    queries, documents = scorer.encode_queries(padded([[1, 2]])), scorer.encode_documents(padded([[3], [4]]))
    judges, encoder = list(scorer.discriminator.parameters()), list(scorer.encoder.parameters())
    plain = scorer.language_loss(queries, documents, -1.0)  # minus minus one: nothing is turned round
    turned = scorer.language_loss(queries, documents, 0.5)
    torch.testing.assert_close(plain, turned)
    gradients = [torch.autograd.grad(loss, judges + encoder, retain_graph=True) for loss in (plain, turned)]
    for number, (one, other) in enumerate(zip(*gradients, strict=True)):
        factor = 1.0 if number < len(judges) else -0.5
        torch.testing.assert_close(other, factor * one)
        assert one.any()


def test_a_reversed_gradient_leaves_the_value_alone():
    values = torch.tensor([1.0, -2.0], requires_grad=True)
    after = reverse_gradient(values, 3.0)
    assert after.tolist() == [1.0, -2.0]
    (gradient,) = torch.autograd.grad((after * torch.tensor([1.0, 10.0])).sum(), values)
    assert gradient.tolist() == [-3.0, -30.0]


def test_the_discriminator_counts_both_languages_alike():
    scorer = made("clann")
    few, many = torch.randn(1, 5, dtype=torch.float64), torch.randn(3, 5, dtype=torch.float64)
    wrong = -torch.log1p(-scorer.discriminator(few).sigmoid()).mean()
    missed = -scorer.discriminator(many).sigmoid().log().mean()
    torch.testing.assert_close(scorer.language_loss(few, many, 1.0), (wrong + missed) / 2)
