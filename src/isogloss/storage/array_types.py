"""The types of arrays that several packages pass to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""Vectors of texts or words, one in each row."""
