"""Alignments on disk: they load as they were saved, and a damaged one is named."""

import json

import numpy as np
import pytest

from isogloss.papers.word_vectors.alignment import DIRECTIONS, PAPER, Alignment, AlignmentOptions, align
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError


@pytest.fixture
def two_spaces():
    rng = np.random.default_rng(3)
    return tuple(
        WordVectors([f"{prefix}{row}" for row in range(60)], rng.standard_normal((60, 8), dtype=np.float32))
        for prefix in "st"
    )


def pairs(count):
    return [(f"s{row}", f"t{row}") for row in range(count)]


@pytest.mark.parametrize(
    "options", [PAPER, AlignmentOptions(), AlignmentOptions("ridge", True, True, 3.5, DIRECTIONS[1])]
)
def test_a_saved_alignment_loads_the_same(tmp_path, two_spaces, options):
    saved = align(*two_spaces, [*pairs(30), ("no", "no")], options)
    saved.save(tmp_path / "a")
    loaded = Alignment.load(str(tmp_path / "a"))
    assert (loaded.options, loaded.pairs, loaded.skipped) == (options, 30, 1)
    for side, space in zip(("source", "target"), two_spaces, strict=True):
        assert np.array_equal(loaded.apply(space.matrix, side), saved.apply(space.matrix, side))


def test_an_existing_directory_is_only_replaced_when_told(tmp_path, two_spaces):
    align(*two_spaces, pairs(30)).save(tmp_path)
    with pytest.raises(InputError, match="overwrite=True"):
        align(*two_spaces, pairs(20)).save(tmp_path)
    align(*two_spaces, pairs(20), PAPER).save(tmp_path, overwrite=True)
    assert Alignment.load(tmp_path).pairs == 20
    assert not (tmp_path / "source_mean.npy").exists()


def _damage(directory, how):
    manifest = directory / "alignment.json"
    content = json.loads(manifest.read_text())
    if isinstance(how, dict):
        manifest.write_text(json.dumps({**content, **how}))
    elif how.endswith(".npy cut"):
        path = directory / how.split()[0]
        path.write_bytes(path.read_bytes()[:-20])
    elif how == "wide mean":
        np.save(directory / "target_mean.npy", np.zeros(9, dtype=np.float32))
    elif how == "pickle":
        np.save(directory / "map.npy", np.array([{}], dtype=object), allow_pickle=True)
    elif how == "doubles":
        np.save(directory / "map.npy", np.eye(8))
    elif how == "list":
        manifest.write_text("[1]")
    else:
        (directory / how).unlink()


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("alignment.json", "No such file"),
        ("map.npy", "No such file"),
        ("source_mean.npy", "No such file"),
        ("map.npy cut", "not a whole array"),
        ("wide mean", r"target_mean.npy has the shape \(9,\)"),
        ("pickle", "not a whole array"),
        ("doubles", "type float64"),
        ("list", "holds no object"),
        ({"format": 2}, "reads format 1"),
        ({"method": "magic"}, "'magic' is no method"),
        ({"pairs": "many"}, "many"),
        ({"colour": "red"}, "colour"),
    ],
    ids=str,
)
def test_a_damaged_alignment_is_an_error_of_one_line(tmp_path, two_spaces, how, what):
    align(*two_spaces, pairs(30)).save(tmp_path / "a")
    _damage(tmp_path / "a", how)
    with pytest.raises(InputError, match=what) as caught:
        Alignment.load(tmp_path / "a")
    assert str(caught.value).startswith(f"{tmp_path / 'a'}: not an alignment in the isogloss format")
    assert "\n" not in str(caught.value)
