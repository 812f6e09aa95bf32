"""The HTTP service and the search page."""
