"""Translation word by word through a bilingual lexicon."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss.lexical.translation import QueryTranslator
from isogloss.lexical.translators.translator import Translator
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.vectors.lexicon import Lexicon, Phrase


class LexiconTranslator(Translator):
    """The likeliest translation of each word (the first listed, where the lexicon has no probabilities), in order.

    The longest phrases the lexicon knows are translated as one, and a word it lacks is looked up by its stem. A word
    without a translation stays as it is: it may be a name. A stop word without one is left out: it is no name, and in
    a text of another language it would pass for a rare and telling word.

    Words are joined by spaces in every script: the tokeniser cuts the translation back into them.

    >>> lexicon = Lexicon([("life", "人寿", 0), ("life", "生活", 0), ("insurance", "保险", 0)])
    >>> LexiconTranslator(lexicon, "en", "zh").translate(["What is MetLife's life insurance?"])
    ['metlife 人寿 保险']
    """

    def __init__(self, lexicon: Lexicon, source_language: str, target_language: str) -> None:
        self.lexicon = lexicon
        self._find = QueryTranslator(lexicon, source_language, Tokenizer(target_language)).translate
        self._stop_words = stop_words(source_language)
        self._known: dict[Phrase, str] = {}

    def translate(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        return [self._translate(text) for text in texts]

    def phrases(self, text: str) -> list[tuple[str, str]]:
        """The words and phrases of a text, each with what it becomes; without those that are left out."""
        phrases = list(self.lexicon.cut(tokenize(text)))
        for phrase in phrases:
            if phrase not in self._known:
                self._known[phrase] = self._best(phrase)
        return [(" ".join(phrase), self._known[phrase]) for phrase in phrases if self._known[phrase]]

    def _translate(self, text: str) -> str:
        return " ".join(translation for _, translation in self.phrases(text))

    def _best(self, phrase: Phrase) -> str:
        found = self._find(phrase)
        if found:
            best = max(found, key=lambda translation: translation.probability)  # of equals, max() takes the first
            return " ".join(best.phrase)
        return " ".join(word for word in phrase if word not in self._stop_words)
