"""Files, arrays and string tables on disk; errors and progress. Every other package builds on this one."""
