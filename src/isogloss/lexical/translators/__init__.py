"""What turns texts of one language into texts of another: a lexicon, Apertium, a file of ready translations."""
