"""What is known of two languages: lexicons, word alignment, the translation model, word vectors, translators."""
