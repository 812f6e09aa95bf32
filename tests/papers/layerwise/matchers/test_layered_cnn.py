"""The layered encoder: wide convolution and k-max by hand, no trace of padding, every layer's vectors."""

import numpy as np
import pytest

from isogloss.storage.errors import InputError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.matchers.layered import LayeredCnn, LayeredScorer, k_max
from isogloss.papers.layerwise.matchers.scorer import WordTables
from isogloss.papers.towers import Texts, word_vectors

WORDS, DIMENSION = 20, 3


def tower(**settings):
    torch.manual_seed(0)
    made = LayeredCnn(DIMENSION, **{"layers": 3, "widths": (2, 3), "kernels": 4, "k": 3, **settings})
    for name, parameter in made.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return made.eval()


def table():
    return torch.randn(WORDS, DIMENSION, generator=torch.Generator().manual_seed(1))


def padded(*texts):
    lengths = torch.tensor([len(text) for text in texts])
    words = torch.randint(0, WORDS, (len(texts), int(lengths.max()) or 1), generator=torch.Generator().manual_seed(2))
    for row, text in zip(words, texts, strict=True):
        row[: len(text)] = torch.tensor(text)
    return words, lengths


def layers_of(made, vectors, *texts):
    words, lengths = padded(*texts)
    return made(word_vectors(vectors, words, lengths), lengths)


def wide(columns, weight, bias):
    """By hand: kernel by kernel and window by window, l + n - 1 of them."""
    kernels, _, width = weight.shape
    around = np.pad(columns, ((0, 0), (width - 1, width - 1)))
    number = columns.shape[1] + width - 1
    return np.asarray(
        [[(weight[d] * around[:, i : i + width]).sum() + bias[d] for i in range(number)] for d in range(kernels)]
    )


def largest_in_order(rows, k):
    kept = [row[np.sort(np.argsort(-row, kind="stable")[:k])] for row in rows]
    return np.asarray([np.pad(row, (0, k - len(row))) for row in kept])


def by_hand(made, text):
    """f^1 .. f^m of one text."""
    columns, found = table().numpy()[text].T, []
    for layer in made.layers:
        maps = [
            np.tanh(wide(columns, each.weight.detach().numpy(), each.bias.detach().numpy())) for each in layer.by_width
        ]
        assert [each.shape[1] for each in maps] == [columns.shape[1] + width - 1 for width in made.widths]
        found.append(np.concatenate([each.max(axis=1) for each in maps]))
        if made.pooling == "k-max":
            columns = np.concatenate([largest_in_order(each, made.k) for each in maps])
        else:
            windows = [(each, width) for each, width in zip(maps, made.widths, strict=True)]
            columns = np.concatenate(
                [[[row[i : i + n].mean() for i in range(columns.shape[1])] for row in each] for each, n in windows]
            )
    return found


@pytest.mark.parametrize("pooling", ["k-max", "average"])
@pytest.mark.parametrize("text", [[3], [3, 7], [5, 1, 1, 8, 2, 9, 4]])
def test_each_layer_is_what_the_equations_say(pooling, text):
    made = tower(pooling=pooling)
    with torch.no_grad():
        layers = layers_of(made, table(), text)
    for layer, expected in zip(layers, by_hand(made, text), strict=True):
        np.testing.assert_allclose(layer.vectors[0].numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("pooling", ["k-max", "average"])
def test_a_text_has_the_same_vectors_alone_and_among_longer_ones(pooling):
    made, texts = tower(pooling=pooling), [[4], [], [1, 2, 3, 4, 5, 6, 7, 8, 9], [7, 7], [2, 3, 4]]
    with torch.no_grad():
        together = layers_of(made, table(), *texts)
        for row, text in enumerate(texts):
            alone = layers_of(made, table(), text)
            for one, all_ in zip(alone, together, strict=True):
                np.testing.assert_allclose(one.vectors[0], all_.vectors[row], atol=1e-6)
    assert not together[0].vectors[1].any() and not together[-1].vectors[1].any()


def test_padding_gets_no_gradient():
    vectors = table().requires_grad_()
    words, lengths = torch.tensor([[0, 1, 19, 19], [2, 3, 4, 5]]), torch.tensor([2, 4])
    tower()(word_vectors(vectors, words, lengths), lengths)[-1].vectors.sum().backward()
    assert not vectors.grad[19].any() and vectors.grad[:6].any()


def test_k_max_keeps_order_and_ignores_what_is_beyond():
    values = torch.tensor([[[0.1, 0.5, -0.2, 0.4, 9.0], [0.3, 0.2, 0.1, 0.0, 9.0]]])
    np.testing.assert_allclose(
        k_max(values, torch.tensor([4]), 3)[0].atanh(), [[0.1, 0.5, 0.4], [0.3, 0.2, 0.1]], rtol=1e-5
    )
    np.testing.assert_allclose(
        k_max(values, torch.tensor([2]), 3)[0].atanh(), [[0.1, 0.5, 0], [0.3, 0.2, 0]], rtol=1e-5
    )
    assert k_max(values, torch.tensor([4]), 7).shape == (1, 2, 7)


def test_sizes():
    made = tower(layers=1)
    assert made.outputs == 8 and layers_of(made, table(), [1, 2])[0].map is None
    first = layers_of(tower(), table(), [1, 2], [3])[0]
    assert first.vectors.shape == (2, 8) and first.map.shape == (2, 8, 3)
    with pytest.raises(InputError, match="k-max, average"):
        tower(pooling="median")


def scorer(mean=True, weights=True, **settings):
    made = tower(**settings)
    own = table().abs()[:, 0].numpy() + 0.5 if weights else None
    tables = WordTables(table().numpy(), table().numpy()[::-1].copy(), weights=(own, own))
    return LayeredScorer(tables, made, None, mean=mean).eval()


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_the_weighted_mean_stands_beside_the_last_layer(layers):
    made = scorer(layers=layers)
    texts = Texts(*padded([3, 4, 4], [7], []))
    weights, vectors = made.tables.query_weights.detach(), made.tables.query.detach()
    mean = (weights[[3, 4, 4], None] * vectors[[3, 4, 4]]).sum(0) / weights[[3, 4, 4]].sum()
    found = made.encode_queries(texts).detach()
    share = 1 if not layers else 1 / (1 + made.gate.item() ** 2) ** 0.5  # of the mean in the vector of length 1
    torch.testing.assert_close(found[0, :DIMENSION], share * mean / mean.norm())
    torch.testing.assert_close(found[1, :DIMENSION], share * vectors[7] / vectors[7].norm())
    torch.testing.assert_close(found[:2].norm(dim=1), torch.ones(2))
    assert not found[2].any()
    if layers:
        last = made.tower(word_vectors(made.tables.query, *texts), texts.lengths)[-1].vectors.detach()
        cosines = (
            last[0] @ last[1] / last[0].norm() / last[1].norm(),
            mean @ vectors[7] / mean.norm() / vectors[7].norm(),
        )
        torch.testing.assert_close(found[0] @ found[1], share**2 * (made.gate.item() ** 2 * cosines[0] + cosines[1]))
    assert made.feature_sizes == [8] * (layers - 1) + [DIMENSION + (8 if layers else 0)]


@pytest.mark.parametrize("weights", [True, False])
def test_without_a_mean_the_layers_see_the_vectors_as_they_are(weights):
    made = scorer(mean=False, weights=weights)
    words, lengths = padded([3, 4, 9], [7])
    expected = made.tower(word_vectors(made.tables.query, words, lengths), lengths)
    for found, layer in zip(made.query_layers(Texts(words, lengths)), expected, strict=True):
        torch.testing.assert_close(found.vectors, layer.vectors)
