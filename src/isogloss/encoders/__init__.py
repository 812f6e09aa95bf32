"""Encoders and cross-encoders that others have trained: found by path or name, checked, loaded by their own library."""
