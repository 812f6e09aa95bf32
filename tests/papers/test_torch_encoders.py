"""CNN, LSTM and average are what their equations say, whatever texts they are encoded with."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.storage.errors import InputError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers import torch_encoder
from isogloss.papers.torch_encoder import TorchEncoder, load_encoders, named_parameters
from isogloss.papers.towers import (
    KINDS,
    CnnTower,
    Dropout,
    LstmTower,
    TextEncoder,
    TowerSizes,
    make_encoders,
    make_tower,
    pad_texts,
)

WORDS, DIMENSION = 9, 4
SIZES = TowerSizes(outputs=5, filters=6, window=3, hidden=3)
TEXTS = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=7), min_size=1, max_size=6)


def side_by_side(texts):
    ids = torch.tensor([word for text in texts for word in text], dtype=torch.int64)
    return ids, torch.tensor(np.cumsum([0, *map(len, texts)]))


def table(seed=0, words=WORDS):
    return np.random.default_rng(seed).normal(size=(words, DIMENSION)).astype(np.float32)


def encoder(kind, seed=0, **ours):
    return make_encoders(kind, table(seed), table(seed), replace(SIZES, **ours), seed=seed)[0].eval()


def filled(layer, weight, bias):
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        layer.bias.copy_(torch.tensor(bias))


@pytest.mark.parametrize("kind", KINDS)
@given(texts=TEXTS)
@settings(deadline=None, max_examples=25)
def test_a_text_has_the_same_vector_alone_and_among_others(kind, texts):
    module = encoder(kind)
    together = module(*side_by_side(texts))
    for row, text in zip(together, texts, strict=True):
        torch.testing.assert_close(row, module(*side_by_side([text]))[0], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_further_than_needed_changes_nothing(kind):
    module, (ids, offsets) = encoder(kind), side_by_side([[1, 2, 3, 4], [5], [], [6, 7]])
    padded = pad_texts(ids, offsets, torch.arange(4), 11)
    torch.testing.assert_close(module.encode(*padded), module(ids, offsets), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_vector_spoils_the_texts_that_hold_it_and_no_other(kind):
    module = encoder(kind)
    with torch.no_grad():
        module.table[8] = torch.nan
    vectors = module(*side_by_side([[1, 2], [8], [], [6, 7, 8, 1], [4]]))
    assert vectors.isnan().any(dim=1).tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [[[], [1, 2], []], [[], []]])
def test_a_text_without_words_has_the_zero_vector_and_no_gradient(kind, texts):
    module = encoder(kind)
    vectors = module(*side_by_side(texts))
    assert (vectors[0] == 0).all()
    vectors.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in module.parameters())
    assert (module.table.grad[[0, *range(3, WORDS)]] == 0).all()


def test_the_average_is_tanh_of_the_mean():
    module = encoder("average")
    expected = np.tanh(table()[[3, 3, 8]].mean(axis=0))
    np.testing.assert_allclose(module(*side_by_side([[1], [3, 3, 8]]))[1].detach(), expected, atol=1e-6)


def test_the_cnn_fills_a_text_of_two_words_up_with_zeros():
    tower = CnnTower(dimension=1, outputs=1, filters=2, window=3)
    filled(tower.convolution, [[1.0, 1.0, 9.0], [-1.0, 0.0, 9.0]], [0.0, 0.5])
    filled(tower.output, [[1.0, 2.0]], [0.25])
    module = TextEncoder(np.array([[1.0], [2.0]], dtype=np.float32), tower).eval()
    expected = np.tanh(1 + 2) + 2 * np.tanh(-1 + 0.5) + 0.25
    assert module(*side_by_side([[0, 1]])).item() == pytest.approx(expected, abs=1e-6)


def test_the_cnn_takes_the_strongest_window_and_only_of_the_text_itself():
    tower = CnnTower(dimension=1, outputs=1, filters=1, window=3)
    filled(tower.convolution, [[1.0, 1.0, 1.0]], [0.0])
    filled(tower.output, [[1.0]], [0.0])
    words = np.array([[-0.1], [-0.2], [0.9]], dtype=np.float32)
    module = TextEncoder(words, tower).eval()
    # Windows: (-.1 -.1 -.2), (-.1 -.2 -.2), (-.2 -.2 -.1). One that reached beyond the end would sum to more than -.4.
    vectors = module(*side_by_side([[2, 2, 2], [0, 0, 1, 1, 0], [2] * 9]))
    assert vectors[1].item() == pytest.approx(np.tanh(-0.4), abs=1e-6)


def test_the_paper_s_cnn_ends_with_its_full_layer_and_ours_with_a_tanh():
    texts = side_by_side([[1, 2, 3, 4], [5, 6]])
    paper, ours = encoder("cnn")(*texts), encoder("cnn", squashed=True)(*texts)
    assert paper.abs().max() > 1
    torch.testing.assert_close(ours, paper.tanh())


def run_cell(lstm, vectors):
    """The last state by the LSTM's equations, a word at a time."""
    input_weight, state_weight, input_bias, state_bias = (each.detach().double().numpy() for each in lstm.parameters())
    state = cell = np.zeros(lstm.hidden_size)
    for vector in vectors:
        gates = input_weight @ vector + input_bias + state_weight @ state + state_bias
        inward, forget, candidate, outward = np.split(gates, 4)
        cell = cell / (1 + np.exp(-forget)) + np.tanh(candidate) / (1 + np.exp(-inward))
        state = np.tanh(cell) / (1 + np.exp(-outward))
    return state


@pytest.mark.parametrize("both_last", [False, True])
def test_the_lstm_takes_its_output_at_the_first_position_or_both_last_states(both_last):
    module = encoder("lstm", both_last=both_last)
    tower, words = module.tower, table()[[4, 1, 7]].astype(np.float64)
    forward = words if both_last else words[:1]
    states = np.append(run_cell(tower.ahead, forward), run_cell(tower.back, words[::-1]))
    full = tower.output.weight.detach().numpy() @ states + tower.output.bias.detach().numpy()
    vectors = module(*side_by_side([[2] * 6, [4, 1, 7], [5]]))
    np.testing.assert_allclose(vectors[1].detach(), np.tanh(full), atol=1e-6)


def test_the_paper_s_lstm_is_the_first_output_of_torch_s_bidirectional_one():
    module = encoder("lstm")
    tower, both = module.tower, torch.nn.LSTM(DIMENSION, SIZES.hidden, batch_first=True, bidirectional=True)
    for end, one in (("", tower.ahead), ("_reverse", tower.back)):
        both.load_state_dict({f"{name}{end}": value for name, value in one.state_dict().items()}, strict=False)
    first = both(torch.tensor(table()[[4, 1, 7, 7]])[None])[0][0, 0]
    torch.testing.assert_close(module(*side_by_side([[4, 1, 7, 7]]))[0], tower.output(first).tanh())


@pytest.mark.parametrize("kind", ["cnn", "lstm"])
def test_dropout_is_for_training_only_and_drawn_from_its_generator(kind):
    module, texts = encoder(kind), side_by_side([[1, 2, 3, 4], [5, 6]])
    plain = module(*texts)
    module.train()

    def dropped(seed):
        module.tower.dropout.generator = torch.Generator().manual_seed(seed)
        return module(*texts)

    assert torch.equal(dropped(1), dropped(1))
    assert not torch.allclose(dropped(1), dropped(2))
    assert torch.equal(module.eval()(*texts), plain)


def test_dropout_keeps_the_mean():
    layer = Dropout(0.4)
    layer.generator = torch.Generator().manual_seed(0)
    values = layer(torch.ones(20_000))
    assert values.unique().tolist() == pytest.approx([0, 1 / 0.6])
    assert values.mean().item() == pytest.approx(1, abs=0.03)


def test_a_compiled_module_drops_what_it_drops_otherwise():
    values, found = torch.ones(6, 8), []
    for compiled in (False, True):
        layer = Dropout(0.4)
        layer.generator = torch.Generator().manual_seed(1)
        if compiled:
            layer.stay_uncompiled()
        forward = torch.compile(layer.forward, backend="eager") if compiled else layer.forward
        found.append(forward(values))
    assert torch.equal(*found)
    assert (found[0] == 0).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shared", [False, True])
def test_encoders_come_back_from_their_arrays(kind, shared):
    modules = make_encoders(kind, table(1), table(2, words=6), SIZES, shared, seed=5)
    arrays = {name: each.detach().numpy() for name, each in named_parameters(*modules).items()}
    ids, offsets = side_by_side([[1, 2, 3, 4, 5], [], [5], [3, 0]])
    for module, loaded in zip(modules, load_encoders(kind, arrays, SIZES), strict=True):
        with torch.inference_mode():
            expected = module.eval()(ids, offsets)
        np.testing.assert_allclose(loaded.encode(ids.numpy().astype(np.int32), offsets.numpy()), expected, atol=1e-6)


def test_a_tower_is_shared_or_not():
    query, document = make_encoders("cnn", table(1), table(2), SIZES, shared=True)
    assert query.tower is document.tower
    assert {name for name in named_parameters(query, document) if "tower" in name} == {
        "tower.convolution.weight", "tower.convolution.bias", "tower.output.weight", "tower.output.bias"
    }  # fmt: skip
    query, document = make_encoders("cnn", table(1), table(2), SIZES)
    assert not torch.equal(query.tower.output.weight, document.tower.output.weight)


def test_first_weights_depend_on_the_seed_alone():
    before = torch.get_rng_state()
    once, again, other = (make_encoders("lstm", table(), table(), SIZES, seed=seed)[1] for seed in (1, 1, 2))
    assert torch.equal(once.tower.ahead.weight_hh_l0, again.tower.ahead.weight_hh_l0)
    assert not torch.equal(once.tower.ahead.weight_hh_l0, other.tower.ahead.weight_hh_l0)
    assert torch.equal(torch.get_rng_state(), before)


@given(texts=st.lists(st.lists(st.integers(0, WORDS - 1), max_size=9), max_size=12), batch=st.integers(1, 5))
@settings(deadline=None, max_examples=25)
def test_encoding_gives_rows_in_the_order_of_the_texts(texts, batch):
    module = encoder("cnn")
    ids, offsets = side_by_side(texts)
    ids, offsets = ids.numpy().astype(np.int32), offsets.numpy()
    ids.flags.writeable = offsets.flags.writeable = False  # as a mapped file is
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_encoder, "_BATCH_WORDS", 16)
        encoded = TorchEncoder(module.train(), batch).encode(ids, offsets)
    assert (encoded.shape, encoded.dtype) == ((len(texts), SIZES.outputs), np.float32)
    for row, text in zip(encoded, texts, strict=True):
        np.testing.assert_allclose(row, module.eval()(*side_by_side([text]))[0].detach(), atol=1e-6)


def test_arrays_that_do_not_fit_are_named():
    modules = make_encoders("cnn", table(), table(), SIZES)
    arrays = {name: each.detach().numpy() for name, each in named_parameters(*modules).items()}
    with pytest.raises(InputError, match=r"'query\.tower\.convolution\.weight' has the shape 6 x 12, .* 300 x 12"):
        load_encoders("cnn", arrays, TowerSizes())
    with pytest.raises(InputError, match=r"no 'query\.tower\.ahead\.weight_ih_l0'"):
        load_encoders("lstm", arrays, SIZES)
    with pytest.raises(InputError, match=r"no 'query\.table'"):
        load_encoders("cnn", {}, SIZES)


def test_settings_that_make_no_sense_are_named():
    with pytest.raises(InputError, match="unknown encoder 'gru'; the encoders are average, cnn, lstm"):
        make_tower("gru", 4, SIZES)
    with pytest.raises(InputError, match=r"dropout is 1\.0"):
        TowerSizes(dropout=1.0)
    with pytest.raises(InputError, match="filters is 0"):
        TowerSizes(filters=0)
    wide = np.zeros((3, DIMENSION + 1), dtype=np.float32)
    with pytest.raises(InputError, match="4 dimensions and those of documents 5; a shared tower"):
        make_encoders("cnn", table(), wide, SIZES, shared=True)
    with pytest.raises(InputError, match="the average needs the same"):
        make_encoders("average", table(), wide, SIZES)


def test_the_papers_sizes_are_the_default():
    sizes = TowerSizes()
    cnn, lstm = make_tower("cnn", 64, sizes), make_tower("lstm", 64, sizes)
    assert (cnn.outputs, cnn.window, cnn.convolution.out_features, cnn.dropout.rate) == (64, 3, 300, 0.4)
    assert (lstm.outputs, lstm.ahead.hidden_size, lstm.output.in_features, lstm.dropout.rate) == (64, 64, 128, 0.4)
    assert (LstmTower(7).outputs, CnnTower(7).outputs) == (64, 64)
    assert not (cnn.squashed or lstm.both_last)
