"""What every store does, done by shards on a Ray cluster."""

import pytest
from tests.stores.conformance import StoreConformance
from tests.stores.given import DIMENSION


class Shards:
    def __init__(self, path):
        from isogloss.cluster.sharded import ShardedStore

        self._made, self._url = ShardedStore, f"ray:{path}?shards=2&timeout=60"

    def create(self):
        return self._made.create(self._url, DIMENSION, name="store")

    def reopen(self, store):
        store.close()
        return self._made.open(self._url, name="store")


class TestSharded(StoreConformance):
    @pytest.fixture
    def opener(self, cluster, tmp_path):
        return Shards(tmp_path)
