"""Encoded blocks on disk: under a name that says what they were made of, and joined at the end."""

import numpy as np

from isogloss.engines.ray_blocks import Block
from isogloss.engines.ray_vector_shards import VectorShards


def test_a_shard_is_named_for_its_number_its_model_and_its_texts(tmp_path):
    shards, other = VectorShards(tmp_path, "model"), VectorShards(tmp_path, "another model")
    block = Block(0, ["ab", "c"])
    different = [Block(1, ["ab", "c"]), Block(0, ["ab", "d"]), Block(0, ["a", "bc"]), Block(0, ["abc"])]
    names = {shards.path(block), other.path(block), *map(shards.path, different)}
    assert len(names) == 6
    assert shards.path(Block(0, ["ab", "c"])) == shards.path(block)


def test_shards_are_joined_in_their_order_whatever_the_lengths_of_their_arrays(tmp_path):
    shards, paths = VectorShards(tmp_path / "shards", "model"), []
    for number, (documents, passages) in enumerate([(2, 5), (3, 3), (1, 0)]):
        paths.append(shards.path(Block(number, [f"text {number}"])))
        arrays = {"vectors": np.full((passages, 4), number, np.float32), "counts": np.full(documents, number)}
        shards.write(paths[-1], arrays)
    joined = shards.join(paths)
    assert joined["vectors"][:, 0].tolist() == [0] * 5 + [1] * 3
    assert joined["counts"].tolist() == [0, 0, 1, 1, 1, 2]
    assert joined["vectors"].dtype == np.float32
    shards.remove()
    assert joined["counts"].sum() == 5
    assert not (tmp_path / "shards").exists()


def test_the_same_arrays_are_the_same_bytes(tmp_path):
    shards = VectorShards(tmp_path, "model")
    arrays = {"vectors": np.arange(6, dtype=np.float32).reshape(3, 2), "counts": np.arange(3)}
    for name in ("a", "b"):
        shards.write(tmp_path / name, arrays)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
