"""What ranks: the interface and the registry of systems, lexical and dense systems, and ``bridge``."""
