"""Word vectors and the alignment of two vector spaces."""
