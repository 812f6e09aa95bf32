"""Where an index can live instead of files, and batch work on Ray."""
