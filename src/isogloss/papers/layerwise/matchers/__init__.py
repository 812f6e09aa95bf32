"""The layer-wise matchers and the networks of the baselines: what scores a query and a document together."""
