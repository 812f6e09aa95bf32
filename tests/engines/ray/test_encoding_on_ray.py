"""Documents encoded on a cluster are those encoded in one process, whatever is lost on the way."""

import logging
from dataclasses import replace
from itertools import cycle, islice

import numpy as np
import pytest

from isogloss.data.dataset import load_collection
from isogloss.data.readers.demo import Demo
from isogloss.engines.ray_blocks import cut
from isogloss.index.making import ready_system
from isogloss.systems.passages import Passages

pytest.importorskip("ray", reason="the extra 'ray' is not installed")

TEXT = ("text",)
QUERIES = ["mot1 mot2", "mot17 mot180 mot3 mot3", "mot199"]


def written(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


class Interrupted(Exception):  # noqa: N818
    pass


def interrupted(documents, after):
    yield from islice(documents, after)
    raise Interrupted


def watched(documents, folder, block):
    """Documents that are never read far ahead of what is written."""
    for row, document in enumerate(documents):
        assert row // block - len(written(folder)) <= 3  # two blocks of one worker, and one that is being read
        yield document


def test_an_index_made_on_ray_answers_as_one_made_here(cluster, smooth, collection, tmp_path):
    from isogloss.engines.ray_encoding import index_on_ray

    smooth.index(collection, TEXT)
    wanted = [smooth.search(query, 20) for query in QUERIES]
    matrix = smooth.document_matrix
    index_on_ray(smooth, collection, TEXT, tmp_path / "shards", block=600)
    assert smooth.document_matrix == pytest.approx(matrix, abs=1e-6)
    for query, ranking in zip(QUERIES, wanted, strict=True):
        found = smooth.search(query, 20)
        assert found.rows.tolist() == ranking.rows.tolist()
        assert found.scores == pytest.approx(ranking.scores, abs=1e-6)


@pytest.mark.parametrize("passages", [0, 20])
def test_words_are_weighed_by_all_documents(cluster, tmp_path, passages):
    """``aligned`` weighs a word by how many documents hold it, which no block knows by itself."""
    from isogloss.engines.ray_encoding import index_on_ray

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


def test_a_job_that_was_stopped_goes_on_with_what_is_missing(cluster, smooth, collection, tmp_path):
    from isogloss.engines.ray_encoding import encode_on_ray

    whole, _ = encode_on_ray(smooth, watched(collection, tmp_path / "whole", 100), TEXT, tmp_path / "whole", block=100)
    with pytest.raises(Interrupted):
        encode_on_ray(smooth, interrupted(collection, 650), TEXT, tmp_path / "stopped", block=100)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "stopped").iterdir()}
    assert 0 < len(kept) < 10
    encode_on_ray(smooth, iter(collection), TEXT, tmp_path / "stopped", block=100)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert written(tmp_path / "stopped") == written(whole.directory)


def test_a_node_that_dies_takes_nothing_with_it(cluster, node, smooth, collection, tmp_path, caplog, monkeypatch):
    from isogloss.engines import ray_encoding as encoding

    pools, read = [], []
    made = encoding.EncodingPool
    monkeypatch.setattr(encoding, "EncodingPool", lambda workers: pools.append(made(workers)) or pools[-1])

    def documents():
        """As many as it takes until both nodes encode, then until it is noticed that one is dead, and some more."""
        endless = cycle(collection)

        def reading(going_on):
            while going_on():
                read.append(next(endless))
                yield read[-1]

        yield from reading(lambda: len(pools[0].nodes) < 2)
        cluster.remove_node(node, allow_graceful=False)
        yield from reading(lambda: len(pools[0].nodes) == 2)
        yield from islice(reading(lambda: True), 200)

    with caplog.at_level(logging.WARNING, "isogloss"):
        lost, paths = encoding.encode_on_ray(smooth, documents(), TEXT, tmp_path / "lost", block=20)
    assert sorted(written(lost.directory)) == [path.name for path in paths]
    whole, _ = encoding.encode_on_ray(smooth, read, TEXT, tmp_path / "whole", block=20)
    assert written(lost.directory) == written(whole.directory)
    assert "lost a worker on node" in caplog.text
    assert "goes to another worker" in caplog.text


def test_what_goes_wrong_in_a_worker_is_told_as_if_it_had_here(cluster, tmp_path, smooth, collection):
    from isogloss.engines.ray_encoding_pool import EncodingPool
    from isogloss.engines.ray_shipping import ship
    from isogloss.storage.errors import InputError

    with EncodingPool(1) as pool:
        pool.equip(ship(smooth))
        with pytest.raises(TypeError):
            list(pool.run("encode", iter([next(cut(["a"]))._replace(texts=None)])))
        pool.equip(replace(ship(smooth), name="no such system"))
        with pytest.raises(InputError, match="no such system"):
            list(pool.run("encode", cut(["a"])))


def test_many_documents_of_few_letters_and_few_of_many_are_cut_alike():
    assert [len(block.texts) for block in cut(["ab"] * 10, documents=4)] == [4, 4, 2]
    assert [len(block.texts) for block in cut(["ab"] * 10, documents=4, characters=5)] == [3, 3, 3, 1]
    assert [block.number for block in cut(["ab"] * 10, documents=4)] == [0, 1, 2]
    assert np.unique([block.digest("model") for block in cut(["ab"] * 8, documents=4)]).size == 1
