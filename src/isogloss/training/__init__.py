"""One loop for all trained systems, and the learners that run in it."""
