r"""What each word has in a vector that is made of many: exact and in closed form where the vector is a squashed mean.

    tanh(m) = sum_i s_i,   s_i = (x_i / n) tanh(m) / m  (number by number),   m = (x_1 + … + x_n) / n

The share s_i is what word i adds along the straight way from no words to all of them: d tanh(t m) / dt, integrated from
0 to 1, is m times the integral of tanh'(t m), which is tanh(m).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def squashed_shares(vectors: NDArray[np.floating]) -> Doubles:
    """The share of each row in the tanh of the mean of all rows.

    >>> squashed_shares(np.array([[1.0, 3.0], [1.0, -1.0]])).sum(axis=0) - np.tanh([1.0, 1.0])
    array([0., 0.])
    """
    rows = np.asarray(vectors, dtype=np.float64)
    mean = rows.sum(axis=0) / max(1, len(rows))
    pull = np.divide(np.tanh(mean), mean, out=np.ones_like(mean), where=mean != 0)
    shares: Doubles = rows * (pull / max(1, len(rows)))
    return shares
