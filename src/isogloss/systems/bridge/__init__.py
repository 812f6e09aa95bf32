"""``bridge``: our own system, a translation model with further features."""
