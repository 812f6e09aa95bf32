"""Building blocks of neural systems: encoders, matchers, critics, losses, similarities, attribution."""
