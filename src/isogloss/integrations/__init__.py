"""An index inside other tools: one small module each."""
