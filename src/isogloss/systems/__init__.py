"""What ranks: every system of the papers, the baselines, and ``bridge``."""
