"""Words across languages: bilingual lexicons."""
