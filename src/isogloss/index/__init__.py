"""Where indexed documents live on disk."""
