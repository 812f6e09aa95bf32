"""Modules that need a package which is not installed cannot be imported, so they are not searched for examples."""

import importlib.util
from pathlib import Path

_NEEDED = {
    "triton": "src/isogloss/training/average_triton.py",
    "qdrant_client": "src/isogloss/stores/qdrant.py",
    "psycopg": "src/isogloss/stores/pgvector*.py",
    "ray": "src/isogloss/cluster/*.py",
}
collect_ignore = [
    str(path)
    for package, pattern in _NEEDED.items()
    if importlib.util.find_spec(package) is None
    for path in Path(__file__).parent.glob(pattern)
]
