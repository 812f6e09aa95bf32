"""Modules that need a package which is not installed cannot be imported, so they are not searched for examples."""

import importlib.util
from pathlib import Path

_NEEDED = {
    "triton": "src/isogloss/papers/smooth/learners/kernels.py",
    "qdrant_client": "src/isogloss/engines/qdrant.py",
    "psycopg": "src/isogloss/engines/postgres/*.py",
    "ray": "src/isogloss/engines/ray/*.py",
}
collect_ignore = [
    str(path)
    for package, pattern in _NEEDED.items()
    if importlib.util.find_spec(package) is None
    for path in Path(__file__).parent.glob(pattern)
]
