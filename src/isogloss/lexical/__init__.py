"""Search by words: inverted lists, BM25 over structured queries, queries translated by a lexicon."""
