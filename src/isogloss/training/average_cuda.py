"""Learning the average model on a GPU: lazy Adam over touched rows, a few kernels a step, recorded and replayed.

The mathematics is that of ``average``; so are the states, which go from one to the other. Rounding differs (float32
throughout), but a run repeats bit by bit on the same kind of device, since gradients are added up in whole numbers.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from isogloss.base.errors import InputError, import_extra
from isogloss.models.losses.loss import BAND, CompiledLoss
from isogloss.training.average import BETA1, BETA2, Table
from isogloss.training.average_recording import STEPS, Model, Recording, Texts, put
from isogloss.training.distributed import Team
from isogloss.training.learner import State
from isogloss.training.pair_learner import PairLearner
from isogloss.training.pairs import Pairs


class CudaAverage(PairLearner):
    """Both tables in one, the queries' first, each row beside its two moments: ``[words, 3, size]``."""

    def __init__(
        self,
        query_table: Table,
        document_table: Table,
        pairs: Pairs,
        loss: CompiledLoss,
        eps: float,
        clip: float,
        device: str = "cuda",
    ) -> None:
        if not torch.cuda.is_available():
            raise InputError(f"there is no GPU to train on (device '{device}'): train on the device 'cpu'")
        import_extra("triton", "train", "training on a GPU")
        self._device, self._query_words = torch.device(device), len(query_table)
        table = put(np.concatenate([query_table, document_table]).astype(np.float32), self._device)
        self._model = Model(
            torch.stack([table, torch.zeros_like(table), torch.zeros_like(table)], dim=1),
            torch.zeros(4, dtype=torch.int64, device=self._device),
            put(loss.lower, self._device),
            put(loss.upper, self._device),
            put(_constants(loss), self._device),
            loss,
            float(eps),
            float(clip),
        )
        self._step = 0
        self.use(pairs)

    def join(self, team: Team) -> None:
        raise InputError(f"training: {team.size} processes share the average model on the CPU only; set device=cpu")

    def use(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self._texts = Texts(pairs, self._query_words, len(self._model.rows), self._device)
        self._recording: Recording | None = None

    def advance(self, order: NDArray[np.int64], batch_size: int, rate: float) -> NDArray[np.float64]:
        if not len(order):
            return np.zeros(0)
        batches = -(-len(order) // batch_size)
        with torch.cuda.device(self._device):
            recording = self._begin(order, batch_size, rate)
            try:
                for _ in range(0, batches, STEPS):
                    recording.replay()
            finally:  # also when interrupted: the count of steps goes with the rows
                reached, _, _, failed = self._model.control.tolist()
                self._step += min(reached, batches, failed)
            taken = min(batches, failed + 1)
            losses = recording.losses[: min(len(order), taken * batch_size)].cpu().numpy().astype(np.float64)
        starts = np.arange(0, len(losses), batch_size)
        means: NDArray[np.float64] = np.add.reduceat(losses, starts) / np.diff(starts, append=len(losses))
        return means

    def _begin(self, order: NDArray[np.int64], batch_size: int, rate: float) -> Recording:
        """Put the order on the device; record anew if the last recording has another batch size or too little room."""
        examples = self._texts.order(order, batch_size)
        words, last = int(examples.words.max()), self._recording
        if last is None or last.batch_size != batch_size or last.examples < len(order) or last.words < words:
            words = max(words, self._texts.most_words(batch_size))
            self._recording = last = None  # its memory may be needed
            last = Recording(self._model, self._texts, batch_size, max(len(order), self.examples), words)
            self._recording = last
        steps = self._step + 1 + np.arange(-(-len(order) // batch_size))
        last.begin(examples, np.stack([rate / (1 - BETA1**steps), 1 / np.sqrt(1 - BETA2**steps)], axis=1))
        return last

    def parameters(self) -> State:
        table = self._model.rows[:, 0].cpu().numpy()
        return {"query_table": table[: self._query_words].copy(), "document_table": table[self._query_words :].copy()}

    def state(self) -> State:
        rows = self._model.rows.cpu().numpy()
        query, document = rows[: self._query_words].copy(), rows[self._query_words :].copy()
        return {"query_rows": query, "document_rows": document, "step": np.asarray(self._step)}

    def restore(self, state: State) -> None:
        rows = np.concatenate([state["query_rows"], state["document_rows"]])
        if rows.shape != self._model.rows.shape or len(state["query_rows"]) != self._query_words:
            raise ValueError(f"word vectors of the shape {rows.shape}, not {tuple(self._model.rows.shape)}")
        self._model.rows.copy_(put(rows, self._device))
        self._step = int(state["step"])


def _constants(loss: CompiledLoss) -> NDArray[np.float32]:
    """What does not depend on the score, for each grade: the last term of ``ODDS``."""
    if loss.kind == BAND:
        return np.zeros(len(loss.lower), dtype=np.float32)
    widths = loss.slope * (loss.upper.astype(np.float64) - loss.lower)
    constants: NDArray[np.float32] = (-np.log(-np.expm1(-widths))).astype(np.float32)
    return constants
