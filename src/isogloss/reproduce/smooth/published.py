"""What the smooth paper reports: its Tables 1, 2 and 3, by the language of the documents."""

from __future__ import annotations

from typing import NamedTuple

MEASURES = ("P_mr@1", "P_mr@5", "P_r@5", "NDCG@5", "MAP", "MRR_mr", "MRR_r")
"""The columns of Tables 2 and 3."""
LANGUAGES = {"fr": "French", "it": "Italian", "sw": "Swahili", "tl": "Tagalog"}

Values = tuple[float, float, float, float, float, float, float]


class Statistics(NamedTuple):
    """A row of Table 1: queries, partially relevant documents a query, documents."""

    queries: int
    partially_relevant: float
    documents: int


TABLE1 = {
    "fr": Statistics(25_000, 12.6, 1_894_000),
    "it": Statistics(25_000, 11.7, 1_347_000),
    "sw": Statistics(22_793, 1.5, 37_000),
    "tl": Statistics(25_000, 0.6, 79_000),
}

TABLE2: dict[str, dict[str, Values]] = {
    "fr": {
        "SOSL": (0.438, 0.832, 0.607, 0.811, 0.841, 0.607, 0.919),
        "3Part_L2": (0.411, 0.763, 0.560, 0.754, 0.766, 0.565, 0.889),
        "MSE": (0.253, 0.700, 0.603, 0.727, 0.792, 0.443, 0.854),
        "PO_S": (0.254, 0.704, 0.604, 0.729, 0.795, 0.445, 0.856),
    },
    "it": {
        "SOSL": (0.401, 0.791, 0.614, 0.798, 0.838, 0.568, 0.912),
        "3Part_L2": (0.385, 0.748, 0.572, 0.751, 0.768, 0.545, 0.883),
        "MSE": (0.231, 0.699, 0.618, 0.731, 0.803, 0.427, 0.862),
        "PO_S": (0.232, 0.705, 0.619, 0.734, 0.806, 0.430, 0.863),
    },
    "sw": {
        "SOSL": (0.600, 0.916, 0.341, 0.793, 0.776, 0.735, 0.833),
        "3Part_L2": (0.599, 0.907, 0.314, 0.771, 0.737, 0.732, 0.827),
        "MSE": (0.351, 0.851, 0.360, 0.724, 0.738, 0.558, 0.771),
        "PO_S": (0.351, 0.855, 0.362, 0.726, 0.740, 0.560, 0.772),
    },
    "tl": {
        "SOSL": (0.596, 0.928, 0.254, 0.799, 0.772, 0.738, 0.794),
        "3Part_L2": (0.583, 0.925, 0.251, 0.790, 0.760, 0.730, 0.785),
        "MSE": (0.455, 0.892, 0.251, 0.732, 0.709, 0.639, 0.726),
        "PO_S": (0.463, 0.896, 0.252, 0.737, 0.715, 0.645, 0.730),
    },
}

TABLE3: dict[str, dict[str, Values]] = {
    "fr": {
        "average": TABLE2["fr"]["SOSL"],
        "cnn": (0.262, 0.656, 0.542, 0.570, 0.709, 0.437, 0.812),
        "lstm": (0.335, 0.718, 0.560, 0.716, 0.748, 0.503, 0.846),
    },
    "it": {
        "average": TABLE2["it"]["SOSL"],
        "cnn": (0.217, 0.620, 0.547, 0.656, 0.709, 0.394, 0.805),
        "lstm": (0.248, 0.675, 0.551, 0.675, 0.714, 0.434, 0.814),
    },
    "sw": {
        "average": TABLE2["sw"]["SOSL"],
        "cnn": (0.457, 0.869, 0.310, 0.700, 0.680, 0.628, 0.743),
        "lstm": (0.527, 0.897, 0.319, 0.738, 0.713, 0.685, 0.772),
    },
    "tl": {
        "average": TABLE2["tl"]["SOSL"],
        "cnn": (0.450, 0.861, 0.235, 0.699, 0.668, 0.624, 0.693),
        "lstm": (0.526, 0.907, 0.242, 0.748, 0.709, 0.688, 0.736),
    },
}
