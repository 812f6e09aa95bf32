"""What runs on a Ray cluster: encoding documents, and training."""
