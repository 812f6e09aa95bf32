"""Cross-Lingual Document Retrieval with Smooth Learning: the paper's tables, figures and theory."""
