"""File formats of word vectors, one module each: each ``recognises`` a file and can ``read`` it, some can ``write``."""
