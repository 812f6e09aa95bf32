"""The tables and figures of the papers and of ``bridge``, one sub-package or module a paper."""
