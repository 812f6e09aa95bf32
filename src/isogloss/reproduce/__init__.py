"""The tables and figures of the papers, one sub-package or module a paper."""
