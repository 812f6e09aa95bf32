"""Documents, queries, graded judgments: reading, validating, writing, grading and splitting them."""
