"""The System interface, what is ranked for a query, how rankings are measured and compared."""
