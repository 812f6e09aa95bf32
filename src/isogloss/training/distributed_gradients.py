"""Steps of a torch learner shared with other processes.

    L = sum over the processes r of  (n_r / n) L_r,     L_r the mean over the n_r examples of a batch that r computes

so each process weights its own loss by n_r / n, and the gradients of all are added up. Of a table of word vectors only
the rows that the whole batch touches travel; every process knows which those are. Random numbers are drawn for the
whole batch in every process, of which each takes its own: what is dropped does not depend on how many there are.

A process that has no example of a small batch computes the first one, with weight 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from isogloss.models.encoders.text_encoder import Dropout
from isogloss.training.distributed import Team


class SharedSteps:
    """The share of one process in each batch. ``modules``: what may drop numbers."""

    def __init__(self, team: Team, modules: Iterable[nn.Module]) -> None:
        self._team = team
        self._dropouts = [module for module in modules if isinstance(module, Dropout)]
        self._number, self._touched = 0, dict[nn.Parameter, Tensor]()
        self.weight = 1.0

    def begin(self, number: int, touched: Mapping[nn.Parameter, NDArray[np.integer]]) -> slice:
        """A batch of ``number`` examples begins: which of them this process computes.

        ``touched``: of some parameters the only rows that have a gradient, whoever computes it; the others are all
        gradient.
        """
        rows = self._team.rows(number)
        self._number, self.weight = number, (rows.stop - rows.start) / number
        self._touched = {
            parameter: torch.from_numpy(np.unique(ids)).to(parameter.device, torch.int64)
            for parameter, ids in touched.items()
        }
        self._own = rows if self.weight else slice(0, 1)
        for dropout in self._dropouts:
            dropout.part = number, self._own
        return self._own

    def add_up(self, parameters: Sequence[nn.Parameter], loss: Tensor) -> Tensor:
        """Add up the gradients of all processes, in place; the loss of the whole batch."""
        parts = [loss.detach().reshape(1)]
        for parameter in parameters:
            assert parameter.grad is not None
            rows = self._touched.get(parameter)
            parts.append((parameter.grad if rows is None else parameter.grad[rows]).reshape(-1))
        sums = torch.cat(parts)
        self._team.add_up(sums)
        whole, *found = torch.split(sums, [len(part) for part in parts])
        for parameter, part in zip(parameters, found, strict=True):
            assert parameter.grad is not None
            rows = self._touched.get(parameter)
            if rows is None:
                parameter.grad.copy_(part.view_as(parameter.grad))
            else:
                parameter.grad.index_copy_(0, rows, part.view(len(rows), *parameter.shape[1:]))
        return whole.squeeze()

    def sum(self, value: Tensor) -> Tensor:
        """The mean over the whole batch of what is a mean over this process's share."""
        total = (self.weight * value.detach()).reshape(1)
        self._team.add_up(total)
        return total[0]

    def whole(self, rows: Tensor) -> Tensor:
        """The rows of the whole batch; each example has one row or more, all first rows standing first, and so on."""
        blocks = len(rows) // (self._own.stop - self._own.start)
        own = rows.view(blocks, -1, *rows.shape[1:]).transpose(0, 1).reshape(-1, blocks * rows.shape[1])
        found = self._team.gather_tensor(own if self.weight else own[:0], self._number)
        return found.view(self._number, blocks, -1).transpose(0, 1).reshape(blocks * self._number, rows.shape[1])
