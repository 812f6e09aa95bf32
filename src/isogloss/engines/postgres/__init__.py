"""PostgreSQL with pgvector as an engine: documents and vectors in the user's own database."""

from isogloss.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
