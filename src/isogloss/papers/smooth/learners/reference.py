"""The average model trained by Adam, in numpy: the reference of the compiled and the CUDA learner.

    q = tanh(mean of the query's word vectors), d likewise,  r = q.d / ((|q| + eps)(|d| + eps)),  L = loss(r, grade)

A step touches only the rows of words that occur in its batch. The others wait, and catch up with the steps that they
missed when they are needed (``adam.py``): the parameters are those of Adam over both whole tables. (*Lazy* Adam, such
as ``torch.optim.SparseAdam``, forgets the missed steps, and learns more slowly.) The gradient of the batch's mean loss
is clipped by its norm over both tables.

The gradient of a row is a sum of vectors, one for each text that holds the word: the gradient of the text's mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isogloss.papers.examples import Pairs
from isogloss.papers.learner import PairLearner, State
from isogloss.papers.similarity import smooth_cosine, smooth_cosine_gradient
from isogloss.papers.smooth.losses import BAND, CompiledLoss
from isogloss.storage.errors import InputError
from isogloss.systems.bridge.adam import Steps, Table, catch_up, take_adam_step
from isogloss.text.ids import Ids, TextIds

SIDES = ("query", "document")


class NumpyAverage(PairLearner):
    """Tables of word vectors for queries and documents, each row kept beside its two moments: ``[words, 3, size]``.

    ``_since`` has the step as of which each row is. All of them wait at the same rate: another makes them catch up.
    """

    def __init__(
        self, query_table: Table, document_table: Table, pairs: Pairs, loss: CompiledLoss, eps: float, clip: float
    ) -> None:
        self.pairs = pairs
        self.loss, self.eps, self.clip = loss, eps, clip
        self._tables: list[Table] = [
            np.pad(table.astype(np.float32)[:, None], ((0, 0), (0, 2), (0, 0)))
            for table in (query_table, document_table)
        ]
        self._since: list[Steps] = [np.zeros(len(table), np.int32) for table in self._tables]
        self._step, self._rate = 0, 0.0

    def use(self, pairs: Pairs) -> None:
        self.pairs = pairs

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        losses = []
        self._begin(rate)
        for start in range(0, len(order), batch_size):
            self._catch_up(order[start : start + batch_size])
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found below
                loss, gradients = self.gradients(order[start : start + batch_size])
                norm = np.sqrt(sum(float(np.square(rows.astype(np.float64)).sum()) for _, rows in gradients))
            losses.append(loss if np.isfinite(norm) else norm)
            if not np.isfinite(losses[-1]):
                break
            self._step += 1
            scale = self.clip / norm if 0 < self.clip < norm else 1.0
            for table, since, (touched, rows) in zip(self._tables, self._since, gradients, strict=True):
                table[touched] = take_adam_step(table[touched], rows * np.float32(scale), rate, self._step)
                since[touched] = self._step
        return np.asarray(losses)

    def _begin(self, rate: float) -> None:
        """Steps at this rate follow."""
        if rate != self._rate:
            for table, since in zip(self._tables, self._since, strict=True):
                table[...] = catch_up(table, since, self._step, self._rate)
                since[...] = self._step
            self._rate = rate

    def _catch_up(self, batch: NDArray[np.int64]) -> None:
        """Bring the rows that a batch touches up to date."""
        for table, since, (texts, numbers) in zip(self._tables, self._since, self._sides(), strict=True):
            touched = np.unique(texts.words_of(numbers[batch]))
            table[touched] = catch_up(table[touched], since[touched], self._step, self._rate)
            since[touched] = self._step

    def gradients(self, batch: NDArray[np.int64]) -> tuple[float, list[tuple[Ids, Table]]]:
        """The mean loss of a batch; for each table the touched rows and the gradient of each."""
        query, document, losses = self._of_pairs(batch)
        gradients = []
        for of_words, (texts, numbers) in zip((query, document), self._sides(), strict=True):
            lengths = texts.lengths[numbers[batch]]
            gradients.append(_gather(np.repeat(of_words, lengths, axis=0), texts.words_of(numbers[batch])))
        return float(losses.mean(dtype=np.float64)), gradients

    def _of_pairs(self, pairs: NDArray[np.int64]) -> tuple[Table, Table, Table]:
        """Of each pair of a batch: the gradient of each word of its query and of its document, and the loss."""
        (queries, query_words), (documents, document_words) = (
            _pool(table[:, 0], texts, numbers[pairs])
            for table, (texts, numbers) in zip(self._tables, self._sides(), strict=True)
        )
        losses, slopes = _loss(self.loss, smooth_cosine(queries, documents, self.eps), self.pairs.grades[pairs])
        towards = smooth_cosine_gradient(queries, documents, self.eps)
        sides = zip((queries, documents), towards, (query_words, document_words), strict=True)
        query, document = (
            (toward * (1 - vectors**2) * (slopes / len(pairs) / np.maximum(lengths, 1))[:, None]).astype(np.float32)
            for vectors, toward, lengths in sides
        )
        return query, document, losses.astype(np.float32)

    def _sides(self) -> tuple[tuple[TextIds, Ids], tuple[TextIds, Ids]]:
        pairs = self.pairs
        return (pairs.queries, pairs.query_of), (pairs.documents, pairs.document_of)

    def parameters(self) -> State:
        query, document = (
            catch_up(table, since, self._step, self._rate)[:, 0].copy()
            for table, since in zip(self._tables, self._since, strict=True)
        )
        return {"query_table": query, "document_table": document}

    def state(self) -> State:
        return state_of(self._tables, self._since, self._step, self._rate)

    def restore(self, state: State) -> None:
        check_state(state, [table.shape for table in self._tables])
        for side, table, since in zip(SIDES, self._tables, self._since, strict=True):
            table[...], since[...] = state[f"{side}_rows"], state[f"{side}_since"]
        self._step, self._rate = int(state["step"]), float(state["rate"])


def state_of(tables: Sequence[Table], since: Sequence[Steps], step: int, rate: float) -> State:
    """The state of any learner of the average model."""
    rows = {f"{side}_rows": table.copy() for side, table in zip(SIDES, tables, strict=True)}
    steps = {f"{side}_since": each.copy() for side, each in zip(SIDES, since, strict=True)}
    return rows | steps | {"step": np.asarray(step), "rate": np.asarray(float(rate))}


def check_state(state: State, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise unless a learner with tables of these shapes can be restored from the state."""
    if "rate" not in state:
        raise InputError("training: the checkpoint is of an earlier version, which knew lazy Adam; begin the run again")
    for side, shape in zip(SIDES, shapes, strict=True):
        if state[f"{side}_rows"].shape != shape:
            raise ValueError(f"word vectors of the shape {state[f'{side}_rows'].shape}, not {shape}")


def _pool(table: Table, texts: TextIds, numbers: Ids) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The tanh of the mean of each text's rows (zero where it has none), and how many each text has."""
    ids, lengths = texts.words_of(numbers), texts.lengths[numbers]
    ends = np.cumsum(lengths)
    means = np.zeros((len(numbers), table.shape[1]))
    known = lengths > 0
    if len(ids):
        means[known] = np.add.reduceat(table[ids].astype(np.float64), (ends - lengths)[known], axis=0)
        means[known] /= lengths[known, None]
    return np.tanh(means), lengths


def _gather(rows: Table, ids: Ids) -> tuple[Ids, Table]:
    """Rows of equal ids added up."""
    if not len(ids):
        return ids, rows
    order = np.argsort(ids, kind="stable")
    starts = np.flatnonzero(np.diff(ids[order], prepend=-1))
    return ids[order][starts], np.add.reduceat(rows[order], starts, axis=0)


def _loss(
    loss: CompiledLoss, scores: NDArray[np.float64], grades: Ids
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values and slopes of either kind of loss (see :mod:`isogloss.papers.smooth.losses`)."""
    lower, upper = (bound[grades].astype(np.float64) for bound in (loss.lower, loss.upper))
    if loss.kind == BAND:
        above, below = np.maximum(scores - upper, 0), np.maximum(lower - scores, 0)
        return above**2 + below**2, 2 * (above - below)
    right, left = loss.slope * (scores - upper), loss.slope * (lower - scores)
    values = np.logaddexp(0, right) + np.logaddexp(0, left) - np.log(-np.expm1(loss.slope * (lower - upper)))
    return values, loss.slope * (_sigmoid(right) - _sigmoid(left))


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 + 0.5 * np.tanh(0.5 * x)
