"""The engine: retrieve, merge, explain, show."""
