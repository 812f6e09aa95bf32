"""Tables of word translations between English and many languages, for isogloss."""

from pathlib import Path

TABLES = Path(__file__).parent / "tables"
