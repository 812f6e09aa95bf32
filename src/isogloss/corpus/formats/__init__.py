"""One module a format. Each reads, and where people write such data, writes."""
