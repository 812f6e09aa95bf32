"""What runs on a Ray cluster: encoding documents, training, and an index in shards on several machines."""
