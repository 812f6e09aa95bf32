"""What is ranked for a query, how rankings are measured and compared."""
