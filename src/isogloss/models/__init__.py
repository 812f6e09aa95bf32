"""What turns words into vectors or scores."""
