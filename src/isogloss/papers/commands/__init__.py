"""The commands of the papers: ``isogloss reproduce`` and ``isogloss vectors``."""
