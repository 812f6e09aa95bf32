"""The tokeniser in machine code (numba, extra ``fast``): the same words, faster."""
