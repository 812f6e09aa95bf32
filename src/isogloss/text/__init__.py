"""Words of any language: normalisation, tokens, stems, stop words, language identification, passages."""
