"""Word vectors: reading and writing files, training, aligning two languages, nearest words, averages over a text."""
