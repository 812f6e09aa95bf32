"""``tree-kernel``: candidates re-ranked by partial tree kernels."""
