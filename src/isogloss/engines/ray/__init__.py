"""Batch work on a Ray cluster: encoding documents, training with several processes."""
