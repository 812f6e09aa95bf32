"""Modules that need a package which is not installed cannot be imported, so they are not searched for examples."""

import importlib.util
from pathlib import Path

_NEEDED = {"triton": ["src/isogloss/training/average_triton.py"]}
collect_ignore = [
    str(Path(__file__).parent / path)
    for package, paths in _NEEDED.items()
    if importlib.util.find_spec(package) is None
    for path in paths
]
