"""Building blocks of neural systems: encoders, matchers, losses, similarities, attribution."""
