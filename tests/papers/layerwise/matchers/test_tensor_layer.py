"""The tensor layer, by hand and slice by slice."""

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from isogloss.papers.layerwise.matchers.layers import TensorLayer


def test_two_slices_by_hand():
    layer = TensorLayer(2, 2, 2)
    with torch.no_grad():
        layer.slices.copy_(torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [-1.0, 0.0]]]))
        layer.left.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
        layer.right.weight.copy_(torch.tensor([[0.0, 1.0], [0.5, 0.0]]))
        layer.left.bias.copy_(torch.tensor([0.25, -1.0]))
    # u = (1, 2), v = (3, -1): u M1 = (7, 10), u M1 v = 11; u M2 = (-2, 1), u M2 v = -7
    # V [u; v] = (1 - 1, 4 + 1.5) = (0, 5.5)
    found = layer.pairs(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]]))
    torch.testing.assert_close(found, torch.tensor([[11 + 0 + 0.25, -7 + 5.5 - 1]]))


def test_the_grid_has_every_place_with_every_place():
    torch.manual_seed(0)
    layer = TensorLayer(3, 4, 2)
    left, right = torch.randn(2, 5, 3), torch.randn(2, 6, 4)
    grid = layer.grid(left, right)
    assert grid.shape == (2, 5, 6, 2)
    for i in range(5):
        for j in range(6):
            torch.testing.assert_close(grid[:, i, j], layer.pairs(left[:, i], right[:, j]), atol=1e-5, rtol=1e-5)


def test_at_the_start_equal_vectors_stand_out():
    torch.manual_seed(0)
    layer = TensorLayer(50, 50, 4)
    words = torch.nn.functional.normalize(torch.randn(1, 20, 50), dim=2)
    grid = (layer.grid(words, words) - layer.left(words)[:, :, None] - layer.right(words)[:, None])[0]
    same = torch.eye(20, dtype=torch.bool)
    assert grid[same].min() > grid[~same].max()
