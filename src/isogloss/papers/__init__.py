"""The tables and figures of the papers, one module a paper."""
