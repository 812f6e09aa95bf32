"""Words of any language: normalisation, tokens, stop words, stems, language identification, vocabularies."""

from isogloss.text.language import identify_language
from isogloss.text.normalization import normalize
from isogloss.text.tokenizer import Tokenizer
from isogloss.text.vocabulary import Vocabulary

__all__ = ["Tokenizer", "Vocabulary", "identify_language", "normalize"]
