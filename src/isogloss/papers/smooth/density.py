"""The density of scores, estimated with a Gaussian kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_BINS = 1000


def density(scores: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places in [-1, 1] and the density of the scores there.

        p(x) = 1 / (n h) sum_i phi((x - x_i) / h),  h = .9 min(standard deviation, interquartile range / 1.34) n^{-1/5}

    (Silverman's bandwidth). Scores are counted in fine bins first, so that millions cost no more than hundreds; what
    the kernel would spill over -1 or 1 is reflected, so that the density's integral is 1.
    """
    values = np.clip(np.asarray(scores, dtype=np.float64), -1, 1)
    counts, edges = np.histogram(values, bins=_BINS, range=(-1, 1))
    width = 2 / _BINS
    places = (edges[:-1] + edges[1:]) / 2
    if not values.size:
        return places, np.zeros(_BINS)
    bandwidth = max(_bandwidth(values), width)
    reach = min(int(np.ceil(5 * bandwidth / width)), _BINS)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * width / bandwidth) ** 2)
    reflected = np.pad(counts, reach, mode="symmetric")
    smooth = np.convolve(reflected, kernel / kernel.sum(), mode="valid")
    return places, smooth / (values.size * width)


def _bandwidth(values: NDArray[np.float64]) -> float:
    quarters = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std()), float(quarters[1] - quarters[0]) / 1.34)
    return float(0.9 * (spread or values.std()) * values.size ** (-1 / 5))
