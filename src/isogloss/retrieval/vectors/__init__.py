"""Vector indexes: exact and approximate inner-product search."""
