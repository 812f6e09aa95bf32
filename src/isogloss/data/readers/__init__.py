"""One module a data format. Each reads it, and where people write such data, writes it."""
