"""Neural matchers trained on (query, positive, negative) triples."""
