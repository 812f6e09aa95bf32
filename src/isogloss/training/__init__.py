"""One loop for all trained systems, and what learns in it."""
