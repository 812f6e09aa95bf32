"""What Ray Data makes of documents is what one process makes of them, whatever is lost on the way."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_collection
from isogloss.data.readers.demo import Demo
from isogloss.engines.ray import data as ray_data
from isogloss.engines.ray.data import cut, digest, index_on_ray, join_arrays, make_shards
from isogloss.engines.ray.mapping import aligning_on_ray
from isogloss.index.fitting import ready_system
from isogloss.storage.arrays import save_array
from isogloss.storage.errors import InputError
from isogloss.systems.passages import Passages
from isogloss.text.batches import tokenize_texts
from isogloss.translation import word_alignment

TEXT = ("text",)
QUERIES = ["mot1 mot2", "mot17 mot180 mot3 mot3", "mot199"]


def written(folder):
    """The content of each file in a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def before_shard(monkeypatch):
    """Call a function with the number of shards there are before each shard is written."""
    write = ray_data.write_shard

    def patch(act):
        count = iter(range(10**6))
        monkeypatch.setattr(ray_data, "write_shard", lambda path, files: (act(next(count)), write(path, files)))

    return patch


def test_an_index_made_on_ray_answers_as_one_made_here(cluster, smooth, collection, tmp_path):
    smooth.index(collection, TEXT)
    wanted = [smooth.search(query, 20) for query in QUERIES]
    matrix = smooth.document_matrix
    index_on_ray(smooth, collection, TEXT, tmp_path / "shards", block=600)
    assert smooth.document_matrix == pytest.approx(matrix, abs=1e-6)
    for query, ranking in zip(QUERIES, wanted, strict=True):
        found = smooth.search(query, 20)
        assert found.rows.tolist() == ranking.rows.tolist()
        assert found.scores == pytest.approx(ranking.scores, abs=1e-6)


@pytest.mark.parametrize(("name", "passages"), [("bm25", 0), ("psq", 20), ("bridge", 30)])
def test_parts_made_on_ray_are_joined_into_the_files_of_one_process(cluster, tmp_path, monkeypatch, name, passages):
    documents = load_collection(Demo(), "fr")
    here = ready_system(name, Demo(), ("en", "fr"), {"passages": str(passages)})
    there = copy(here)
    here.index(documents, ("title", "text"))
    monkeypatch.setattr(ray_data, "_PARTS", 2)  # the three shards are joined in two steps
    index_on_ray(there, documents, ("title", "text"), tmp_path / "shards", block=40)
    for query in ("how do volcanoes erupt", "bees make honey"):
        found, wanted = there.search(query, 10), here.search(query, 10)
        assert found.rows.tolist() == wanted.rows.tolist()
        assert found.scores.tolist() == wanted.scores.tolist()
    for system, folder in ((here, tmp_path / "here"), (there, tmp_path / "there")):
        folder.mkdir()
        system.save_part(folder)
    assert written(tmp_path / "there") == written(tmp_path / "here")


def test_words_aligned_on_ray_are_those_aligned_here_to_the_last_bit(cluster, monkeypatch):
    rng = np.random.default_rng(0)
    numbers = [rng.integers(200, size=rng.integers(1, 30)).tolist() for _ in range(300)]
    sides = [tokenize_texts([" ".join(f"{letter}{i}" for i in each) for each in numbers]) for letter in "st"]
    monkeypatch.setattr(word_alignment, "_BLOCK_MEETINGS", 10_000)
    here = word_alignment.align_words(*sides, iterations=2)
    with aligning_on_ray():
        there = word_alignment.align_words(*sides, iterations=2)
    assert all(mine.tobytes() == other.tobytes() for mine, other in zip(here, there, strict=True))
    assert len(here.sources) > 1000


@pytest.mark.parametrize("passages", [0, 20])
def test_words_are_weighed_by_all_documents(cluster, tmp_path, passages):
    """``aligned`` weighs a word by the number of documents that have it, which no block knows by itself."""
    documents = load_collection(Demo(), "fr")
    here, there = (ready_system("aligned", Demo(), ("en", "fr"), {"passages": str(passages)}) for _ in range(2))
    here.index(documents, ("title", "text"))
    index_on_ray(there, documents, ("title", "text"), tmp_path / "shards", block=40)
    for query in ("how do volcanoes erupt", "bees make honey"):
        found, wanted = there.search(query, 10), here.search(query, 10)
        assert found.rows.tolist() == wanted.rows.tolist()
        assert found.scores.tolist() == wanted.scores.tolist()
    if isinstance(here, Passages):
        assert there.passage("bees make honey", 3) == here.passage("bees make honey", 3)


def test_a_job_that_was_stopped_encodes_only_what_has_no_shard(cluster, smooth, collection, tmp_path, before_shard):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    paths = make_shards(smooth, collection, TEXT, whole, block=100)
    assert paths == sorted(whole.iterdir())

    def stop(shards):
        if shards == 4:
            raise KeyboardInterrupt

    before_shard(stop)
    with pytest.raises(KeyboardInterrupt):
        make_shards(smooth, collection, TEXT, stopped, block=100)
    kept = {path: path.stat().st_mtime_ns for path in stopped.iterdir()}
    assert len(kept) == 4
    more = []
    before_shard(more.append)
    make_shards(smooth, collection, TEXT, stopped, block=100)
    assert len(more) == 6
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert written(stopped) == written(whole)


def test_a_node_that_dies_takes_nothing_with_it(cluster, node, smooth, collection, tmp_path, before_shard):
    make_shards(smooth, collection, TEXT, tmp_path / "whole", block=10)
    before_shard(lambda shards: shards == 5 and cluster.remove_node(node, allow_graceful=False))
    make_shards(smooth, collection, TEXT, tmp_path / "lost", block=10)
    assert node not in cluster.list_all_nodes()
    assert written(tmp_path / "lost") == written(tmp_path / "whole")


def test_an_error_in_another_process_is_one_sentence(cluster, tmp_path, smooth, collection, monkeypatch):
    ship = ray_data.ship
    monkeypatch.setattr(ray_data, "ship", lambda system: replace(ship(system), name="no such system"))
    with pytest.raises(InputError, match=r"^[^\n]*no such system[^\n]*$"):
        make_shards(smooth, collection, TEXT, tmp_path / "shards")


def test_a_block_has_so_many_documents_or_so_many_characters():
    assert [len(block.texts) for block in cut(["ab"] * 10, documents=4)] == [4, 4, 2]
    assert [len(block.texts) for block in cut(["ab"] * 10, documents=4, characters=5)] == [3, 3, 3, 1]
    assert [block.number for block in cut(["ab"] * 10, documents=4)] == [0, 1, 2]


def test_a_digest_depends_on_the_model_and_on_each_text():
    blocks = [block for texts in (["ab", "c"], ["ab", "d"], ["a", "bc"], ["abc"]) for block in cut(texts)]
    assert len({digest(model, block.written()) for block in blocks for model in ("a", "b")}) == 8
    assert digest("a", blocks[0].written()) == digest("a", blocks[0]._replace(number=1).written())


def test_arrays_are_joined_in_order_whatever_their_lengths(tmp_path):
    shards = [tmp_path / str(number) for number in range(3)]
    for number, (documents, passages) in enumerate([(2, 5), (3, 3), (1, 0)]):
        shards[number].mkdir()
        save_array(shards[number] / "vectors.npy", np.full((passages, 4), number, np.float32))
        save_array(shards[number] / "counts.npy", np.full(documents, number))
    joined = join_arrays(shards, tmp_path)
    assert joined["vectors"][:, 0].tolist() == [0] * 5 + [1] * 3
    assert joined["vectors"].dtype == np.float32
    assert joined["counts"].tolist() == [0, 0, 1, 1, 1, 2]
