"""isogloss: search documents in one language with queries in another, and study how well it works."""

__version__ = "0.1.0"
