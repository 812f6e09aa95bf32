"""What any system searches with: inverted lists, BM25, vectors, top-k, fusion."""
