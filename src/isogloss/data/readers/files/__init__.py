"""The kinds of file that a folder of documents may have: one module a kind, each from bytes to a title and a text."""
