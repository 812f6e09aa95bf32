"""Vector indexes: exact and approximate search by inner product."""
