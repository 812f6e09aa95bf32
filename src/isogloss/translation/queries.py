"""Queries of one language as concepts in the terms of another.

There are three ways to combine the translations of a word:

- ``independent``: each is a concept of its own, as if the user had typed them all (their scores add up);
- ``synonym``: one concept, each with weight 1 (Pirkola 1998);
- ``probability``: one concept, each weighted by p(translation | word) (Darwish and Oard 2003).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice

from isogloss.retrieval.bm25 import Concept, Terms
from isogloss.text.alphabet import alphabet
from isogloss.text.stemming import stem
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.lexicon import Lexicon, Phrase, Translation

_CACHED_PHRASES = 20_000


def untranslated(query: str, tokenizer: Tokenizer) -> list[Concept]:
    """Each word of the query untranslated, as a term of the documents."""
    counts = Counter(tokenize(query))
    return [Concept(word, ((term, 1.0),), count) for word, count in counts.items() for term in tokenizer.terms([word])]


@dataclass
class QueryTranslator:
    """Queries to concepts through a lexicon.

    A word the lexicon lacks is looked up by its stem, and failing that it is a verbatim term: names and identifiers
    are alike in many languages. A stop word is neither: "of" is no name, and in a French text it is rare and would
    outweigh the whole query. ``decay`` turns the order of translations into probabilities where the lexicon
    has none: p_i is proportional to decay^i.
    """

    lexicon: Lexicon
    query_language: str
    tokenizer: Tokenizer
    structure: str = "synonym"
    translations: int = 10
    decay: float = 0.9
    drop_stop_words: bool = False

    def __post_init__(self) -> None:
        self._concepts = lru_cache(_CACHED_PHRASES)(self._make_concepts)

    @cached_property
    def _by_stem(self) -> dict[Phrase, list[Phrase]]:
        """Stems to the phrases of the lexicon that have them."""
        phrases = list(self.lexicon)
        stems = iter(stem([word for phrase in phrases for word in phrase], self.query_language))
        gathered: dict[Phrase, list[Phrase]] = {}
        for phrase in phrases:
            gathered.setdefault(tuple(islice(stems, len(phrase))), []).append(phrase)
        return gathered

    def __call__(self, query: str) -> list[Concept]:
        """The concepts of a query."""
        counts = Counter(self._content_phrases(list(self.lexicon.cut(tokenize(query)))))
        return [
            concept._replace(times=count * concept.times)
            for phrase, count in counts.items()
            for concept in self._concepts(phrase)
        ]

    def translate(self, phrase: Phrase) -> tuple[Translation, ...]:
        """What the lexicon has for a phrase, or else for phrases with the same stem; nothing if it knows neither."""
        if phrase in self.lexicon:
            return self.lexicon[phrase]
        if self._is_stop_word(phrase):
            return ()
        return self._translations_of(self._by_stem.get(tuple(stem(phrase, self.query_language)), ()))

    def has_all(self, words: Sequence[str]) -> list[bool]:
        """Whether each of many words has a translation, in any of its forms."""
        phrases = zip(zip(words, strict=True), zip(stem(words, self.query_language), strict=True), strict=True)
        return [phrase in self.lexicon or of_stem in self._by_stem for phrase, of_stem in phrases]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of all phrases of the lexicon."""
        return frozenset(chain.from_iterable(self.lexicon))

    @cached_property
    def letters(self) -> str:
        """The letters of these words."""
        return alphabet("".join(self.words))

    def every_concept(self) -> Iterable[Terms]:
        """The terms of every concept that the lexicon makes of a phrase, or of phrases with the same stem."""
        groups = (relatives for relatives in self._by_stem.values() if len(relatives) > 1)
        found = chain((self.lexicon[phrase] for phrase in self.lexicon), map(self._translations_of, groups))
        return dict.fromkeys(concept.terms for each in found for concept in self._translated("", each))

    def _translations_of(self, relatives: Sequence[Phrase]) -> tuple[Translation, ...]:
        found = {target: p for relative in relatives for target, p in self.lexicon[relative]}
        return tuple(Translation(*item) for item in found.items())

    def _is_stop_word(self, phrase: Phrase) -> bool:
        return len(phrase) == 1 and phrase[0] in stop_words(self.query_language)

    def _content_phrases(self, phrases: list[Phrase]) -> list[Phrase]:
        """Without stop words, if they are to be dropped and anything is left; those within a phrase stay."""
        if not self.drop_stop_words:
            return phrases
        return [phrase for phrase in phrases if not self._is_stop_word(phrase)] or phrases

    def _make_concepts(self, phrase: Phrase) -> list[Concept]:
        """The concepts of a phrase that the query has once."""
        words = " ".join(phrase)
        translations = self.translate(phrase)
        if not translations:
            verbatim = () if self._is_stop_word(phrase) else self.tokenizer.terms(phrase)
            return [Concept(words, ((term, 1.0),)) for term in verbatim]
        return self._translated(words, translations)

    def _translated(self, words: str, translations: Sequence[Translation]) -> list[Concept]:
        weighted = self._weighted_terms(translations)
        if self.structure == "independent":
            return [Concept(words, ((term, 1.0),), weight) for term, weight in weighted.items()]
        return [Concept(words, tuple(weighted.items()))] if weighted else []

    def _weighted_terms(self, translations: Sequence[Translation]) -> dict[str, float]:
        chosen = sorted(translations, key=lambda translation: -translation.probability)[: self.translations]
        weights = self._weights(chosen)
        terms: dict[str, float] = {}
        for (phrase, _), weight in zip(chosen, weights, strict=True):
            content = self._content_terms(phrase)
            for term in content:
                terms[term] = terms.get(term, 0.0) + weight / len(content)
        if self.structure == "probability":
            return terms
        # Two translations with one stem are one synonym.
        return {term: min(1.0, weight) for term, weight in terms.items()}

    def _weights(self, chosen: Sequence[Translation]) -> list[float]:
        if self.structure != "probability":
            return [1.0] * len(chosen)
        raw = [translation.probability for translation in chosen]
        if not any(raw):
            raw = [self.decay**rank for rank in range(len(chosen))]
        return [value / sum(raw) for value in raw]

    def _content_terms(self, phrase: Phrase) -> list[str]:
        """The terms of a translation; of several words only those that are no stop words, if any are left."""
        if len(phrase) > 1:
            stops = stop_words(self.tokenizer.language)
            phrase = tuple(word for word in phrase if word not in stops) or phrase
        return self.tokenizer.terms(phrase)
