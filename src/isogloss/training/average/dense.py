"""Learning the average model with torch: dense Adam, which the fast learners' lazy Adam is compared with."""

from __future__ import annotations

from torch.nn import Parameter

from isogloss.nn.encoders.towers import AverageTower, TextEncoder
from isogloss.nn.losses import CompiledLoss
from isogloss.training.average.reference import Table
from isogloss.training.examples import Pairs
from isogloss.training.torch_pairs import TorchPairs


class TorchAverage(TorchPairs):
    """Tables of word vectors for queries and documents; each step moves every row that was ever touched."""

    def __init__(
        self,
        query_table: Table,
        document_table: Table,
        pairs: Pairs,
        loss: CompiledLoss,
        eps: float,
        clip: float,
        device: str = "cpu",
    ) -> None:
        query, document = (TextEncoder(table, AverageTower(table.shape[1])) for table in (query_table, document_table))
        super().__init__(query, document, pairs, loss, eps, clip, device=device)

    def _names(self) -> dict[str, Parameter]:
        query, document = self.encoders
        return {"query_table": query.table, "document_table": document.table}
