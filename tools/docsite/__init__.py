"""The pages of this repository: read, checked, and built into a small site. ``python -m docsite build/site``."""
