"""The mean of the rows that belong to each text, compiled (extra ``fast``) and on all cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isogloss.storage.compiled import compiled
from isogloss.text.batches import available_cores

Matrix = NDArray[np.float32]

_PARTS_A_CORE = 4  # so that a core with longer texts does not keep the others waiting


def mean_rows(table: Matrix, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> Matrix:
    """Row ``i`` is ``table[ids[offsets[i]:offsets[i + 1]]].mean(axis=0)``, zero where there is nothing to average."""
    means = np.zeros((len(offsets) - 1, table.shape[1]), dtype=np.float32)
    table = np.asarray(table).view()
    table.flags.writeable = False  # as mapped ones are: one kind of array, compiled once
    cores = available_cores()
    parts = np.linspace(0, len(means), cores * _PARTS_A_CORE + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(cores) as threads:
        list(threads.map(lambda part: _mean(table, ids, offsets, part[0], part[1], means), pairwise(parts)))
    return means


@compiled
def _mean(
    table: Matrix, ids: NDArray[np.int32], offsets: NDArray[np.int64], first: int, last: int, means: Matrix
) -> None:
    dimension = table.shape[1]
    for text in range(first, last):
        begin, end = offsets[text], offsets[text + 1]
        row = means[text]
        for k in range(begin, end):
            vector = table[ids[k]]
            for j in range(dimension):
                row[j] += vector[j]
        if end > begin:
            share = np.float32(1.0) / np.float32(end - begin)
            for j in range(dimension):
                row[j] *= share
