"""``tree-kernel``: re-ranks candidates by a tree kernel over query and document (Da San Martino et al. 2017).

Query and document become trees: a parser's, read from files, or else shallow ones. Words that match through
the lexicon are marked in both, and a support vector machine with a partial tree kernel, trained on questions of the
train split, scores the pair (:mod:`isogloss.papers.layerwise.tree_kernel.ranker`).

Scoring takes a millisecond or two per document of ten words, some twenty where both texts fill ``words``. So a search
re-ranks the best ``depth`` documents of BM25 through the same lexicon; the others follow in BM25's order.

The wrong documents of training are near misses, which BM25 finds with the right one, and random ones: from near misses
alone the machine learns that sharing words with the question means little. The questions of training are not used to
induce the lexicon: it would fit its own pages too well, and the machine would trust it too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Query
from isogloss.data.splits import sample_negatives
from isogloss.papers.layerwise.tree_kernel import ranker
from isogloss.papers.layerwise.tree_kernel.kernel import TreeKernel
from isogloss.papers.layerwise.tree_kernel.ranker import OBJECTIVES, PAIR_KERNELS, TreePair
from isogloss.papers.layerwise.tree_kernel.trees import Tree, parse_trees, read_trees, shallow_tree, text_key
from isogloss.retrieval.bm25 import BM25
from isogloss.retrieval.postings import JoinedPostings, Postings
from isogloss.retrieval.ranking import Allowed, Scores, top_k
from isogloss.storage.arrays import load_array, save_array
from isogloss.storage.errors import InputError
from isogloss.storage.progress import track
from isogloss.storage.strings import JoinedStrings, StringTable
from isogloss.systems.base import Contribution, System, SystemOptions, option
from isogloss.systems.explanations import MOST_LINES, NO_WORD, CutText, shares_by_leaving_out, tidied
from isogloss.systems.lexicons import INDUCED, LEXICON_HELP, fill_languages, induce_from
from isogloss.text.batches import tokenize_texts
from isogloss.text.tokenizer import Tokenizer, tokenize
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.queries import QueryTranslator, untranslated

_EXPLAINING = 32  # pairs that are scored to explain one
_LEXICON_FILE = "lexicon.tsv"
_TREES_HELP = "file of parsed trees, bracketed or CoNLL-U; texts without one get a shallow tree"


@dataclass(frozen=True)
class TreeKernelOptions(SystemOptions):
    """Options of ``tree-kernel``."""

    lexicon: str = option("", f"{LEXICON_HELP}, or induced; not needed where both languages are the same")
    query_trees: str = option("", f"{_TREES_HELP}; of the queries, those of training too")
    document_trees: str = option("", f"{_TREES_HELP}; of the documents")
    training_questions: int = option(200, "most questions to train on", 1, 100_000)
    negatives: int = option(4, "wrong documents of each question", 1, 1000)
    near_misses: float = option(0.5, "share of them that are similar to the right one; the others are random", 0, 1)
    objective: str = option("ranking", f"of training: {' or '.join(OBJECTIVES)}")
    pair_kernel: str = option("sum", f"how the kernels of query and document are joined: {' or '.join(PAIR_KERNELS)}")
    features: bool = option(True, "also the first-stage score and the shares of matched words")
    decay: float = option(0.4, "lambda: decay for children left out of a part", 1e-3, 1)
    depth_decay: float = option(0.4, "mu: decay for the depth of a part", 1e-3, 1)
    cost: float = option(1.0, "C of the support vector machine", 1e-6, 1e6)
    translations: int = option(10, "how many translations of a word are used at most", 1, 1000)
    words: int = option(40, "first words of a text that are compared as trees", 1, 10_000)
    depth: int = option(100, "how many documents of the first stage are re-ranked", 1, 1_000_000)
    seed: int = option(0, "of the choice of questions and the order of training", 0, 2**31)


class TreeKernelSystem(System):
    """A kernel machine over pairs of trees."""

    name = "tree-kernel"
    paper = "Da San Martino et al. 2017, Cross-Language Question Re-Ranking"
    summary = "re-ranks candidates with a support vector machine over trees whose matching words are marked"
    options_type = TreeKernelOptions
    options: TreeKernelOptions
    learns = True
    joins = True
    searches = False
    explains_quickly = False

    def __init__(self, options: SystemOptions, query_language: str, document_language: str) -> None:
        super().__init__(options, query_language, document_language)
        assert isinstance(options, TreeKernelOptions)
        for name, known in (("objective", OBJECTIVES), ("pair_kernel", PAIR_KERNELS)):
            if getattr(options, name) not in known:
                raise InputError(f"{self.name}: {name} {getattr(options, name)!r} is neither {' nor '.join(known)}")
        self._kernel = TreeKernel(options.decay, options.depth_decay)
        self._terms = Tokenizer(document_language, stems=True)
        self._parsed: dict[str, Mapping[str, Tree]] = {}

    def fit(self, training: Dataset) -> None:
        o, texts = self.options, training.documents.texts(("text",))
        paths, pair = (o.query_trees, o.document_trees), (self.query_language, self.document_language)
        trees = [read_trees(fill_languages(path, *pair)) if path else {} for path in paths]
        self._parsed = dict(zip(("query", "document"), trees, strict=True))
        right = _right_documents(training)
        questions = self._choose([query for query in training.split("train") if query.id in right])
        self._use_lexicon(self._lexicon(training, questions))
        words = [set(ranker.leaf_tokens(self._tree("query", query.text))) for query in training.split("train")]
        self._query_df, self._query_count = Counter(word for each in words for word in each), len(words)
        self._use_documents(JoinedPostings([Postings.build(tokenize_texts(texts, self._terms))]), texts)
        groups = []
        for query in track(questions, "reading trees"):
            rows = [right[query.id], *self._wrong_documents(training, query, texts[right[query.id]])]
            groups.append(self._pairs(query.text, rows))
        if not any(len(group) > 1 for group in groups):
            what = "no question of the train split has a right and a wrong document"
            raise InputError(f"{self.name}: {training.source.name}: {what}")
        self._ranker = ranker.train_ranker(groups, self._kernel, o.pair_kernel, o.objective, o.cost, o.features, o.seed)

    def index_texts(self, texts: Sequence[str]) -> None:
        tokens = tokenize_texts(texts, self._terms, label=f"indexing {len(texts):,} documents")
        self._use_documents(JoinedPostings([Postings.build(tokens)]), texts)

    def scores(self, query: str) -> Scores:
        """The scores of the second stage for the best of the first; all others are lower, in BM25's order."""
        first, best = self._first_stage(query)
        if not len(best):
            return first
        scores = self.score(query, best)
        found = scores.min() - 1 - 1 / (1 + first)
        found[best] = scores
        return np.asarray(found)

    def _first_stage(self, query: str) -> tuple[Scores, NDArray[np.int64]]:
        """The scores of the first stage, and the rows that are re-ranked."""
        first = self._bm25.scores(self._translator(query)).astype(np.float64)
        id_order = self.id_order if len(self.id_order) else np.arange(len(first))
        return first, top_k(first, self.options.depth, id_order).rows.astype(np.int64)

    def score(self, query: str, rows: NDArray[np.int64]) -> Scores:
        return self._ranker(self._pairs(query, rows.tolist()))

    def explain(self, query: str, row: int, text: str) -> list[Contribution]:
        """The share of each query word, with the document words that it matches."""
        cut, tree = CutText.of(query).in_groups(MOST_LINES), self._tree("query", query)

        def pair_without(group: list[int]) -> TreePair:
            words = {word for number in group for word in cut.names[number].split()}
            return self._pairs(cut.without(group), [row], ranker.without_words(tree, words))[0]

        shares = shares_by_leaving_out(cut, lambda groups: self._ranker([*map(pair_without, groups)]), _EXPLAINING)
        document = tokenize(text)
        matches = [{document[match.document] for match in self._matcher(name.split(), document)} for name in cut.names]
        matched = [tuple(self._terms.terms(sorted(words))) for words in matches]
        lines = [Contribution(*each) for each in zip(cut.names, matched, shares.tolist(), strict=True)]
        reranked = row in self._first_stage(query)[1]  # if not, it is found with its lowered first-stage score
        score = float(self.score(query, np.asarray([row]))[0] if reranked else self.scores(query)[row])
        return tidied([*lines, Contribution(NO_WORD, (), score - float(shares.sum()))])

    def term_of(self, word: str) -> str | None:
        return next(iter(self._terms.terms([word])), None)

    def count_only(self, live: Allowed) -> None:
        self._use_documents(self._lists.counting_only(live), self._documents, self._are_trees)

    def save_part(self, directory: Path, keep: Allowed | None = None) -> None:
        self._lists.merged(keep).save(directory)
        rows = range(self._lists.document_count) if keep is None else np.flatnonzero(keep).tolist()
        StringTable.of(str(self._document_tree(row)) for row in rows).save(directory, "document_trees")

    def load_parts(self, directories: Sequence[Path], id_order: NDArray[np.int64]) -> Self:
        trees = JoinedStrings([StringTable.load(directory, "document_trees") for directory in directories])
        self._use_documents(JoinedPostings.load(directories), trees, are_trees=True)
        self._take_order(id_order, len(trees))
        return self

    def save_shared(self, directory: Path) -> None:
        parsed = self._parsed.get("query", {})
        StringTable.of(parsed).save(directory, "query_texts")
        StringTable.of(map(str, parsed.values())).save(directory, "query_trees")
        words = sorted(self._query_df)
        StringTable.of(words).save(directory, "query_words")
        counts = [self._query_count, *(self._query_df[word] for word in words)]
        save_array(directory / "query_words.counts.npy", np.asarray(counts, dtype=np.int64))
        self._ranker.save(directory)
        if len(self._translator.lexicon):
            self._translator.lexicon.save(directory / _LEXICON_FILE)

    def load_shared(self, directory: Path) -> Self:
        o = self.options
        lexicon = directory / _LEXICON_FILE
        self._use_lexicon(Lexicon.read(lexicon) if lexicon.exists() else Lexicon())
        texts, trees = StringTable.load(directory, "query_texts"), StringTable.load(directory, "query_trees")
        self._parsed = {"query": {key: parse_trees(tree)[0] for key, tree in zip(texts, trees, strict=True)}}
        self._query_count, *counts = load_array(directory / "query_words.counts.npy").tolist()
        self._query_df = Counter(dict(zip(StringTable.load(directory, "query_words"), counts, strict=True)))
        self._ranker = ranker.TreeRanker.load(directory, self._kernel, o.pair_kernel, o.features)
        return self

    def _use_lexicon(self, lexicon: Lexicon) -> None:
        o = self.options
        self._translator = QueryTranslator(lexicon, self.query_language, self._terms, translations=o.translations)
        self._matcher = ranker.WordMatcher(self._translator)

    def _use_documents(self, postings: JoinedPostings, documents: Sequence[str], are_trees: bool = False) -> None:
        self._lists, self._bm25, self._documents, self._are_trees = postings, BM25(postings), documents, are_trees

    def _lexicon(self, training: Dataset, questions: Sequence[Query]) -> Lexicon:
        path = self.options.lexicon
        if path not in ("", INDUCED):
            return Lexicon.read(fill_languages(path, self.query_language, self.document_language))
        if not self._induces:
            return Lexicon()
        kept_out = {query.id for query in questions}
        rest = [query for query in training.splits["train"] if query not in kept_out]
        return induce_from(replace(training, splits={**training.splits, "train": rest}), self.name)

    @property
    def _induces(self) -> bool:
        same = self.query_language == self.document_language
        return self.options.lexicon == INDUCED or (not self.options.lexicon and not same)

    def _choose(self, questions: Sequence[Query]) -> list[Query]:
        """The questions to train on: at most half of them where the others are needed to induce a lexicon."""
        most = max(1, len(questions) // 2) if self._induces else len(questions)
        order = np.random.default_rng(self.options.seed).permutation(len(questions))
        return [questions[i] for i in order[: min(self.options.training_questions, most)].tolist()]

    def _wrong_documents(self, training: Dataset, query: Query, right: str) -> list[int]:
        """Rows of unjudged documents: first those most similar to the right one by BM25, then random ones."""
        o, documents = self.options, training.documents
        judged = {documents.row_of[document] for document in training.judgments[query.id]}
        scores = self._bm25.scores(untranslated(right, self._terms))
        nearest = top_k(scores, len(judged) + 10 * o.negatives, documents.id_order).rows.tolist()
        near = [row for row in nearest if row not in judged and self._documents[row] != right]
        near = near[: round(o.near_misses * o.negatives)]
        judged.update(near)
        rest = sample_negatives(query.id, judged, len(documents), o.negatives - len(near), o.seed).tolist()
        return near + [row for row in rest if self._documents[row] != right]

    def _pairs(self, query: str, rows: Sequence[int], tree: Tree | None = None) -> list[TreePair]:
        """The pairs of a query with some documents; ``tree``: the query's, instead of that of its text."""
        read = ranker.ReadTree.of(tree or self._tree("query", query), self._query_weight)
        concepts = self._translator(query)
        best = self._bm25.best_possible(concepts) or 1.0
        found = self._bm25.scores_at(concepts, np.asarray(rows, dtype=np.int64)) / best
        pairs = []
        for row, score in zip(rows, found.tolist(), strict=True):
            document = ranker.ReadTree.of(self._document_tree(row), self._document_weight)
            pairs.append(ranker.make_pair(read, document, self._matcher, score, self.options.words))
        return pairs

    def _tree(self, side: str, text: str) -> Tree:
        parsed = self._parsed.get(side, {})
        language = self.query_language if side == "query" else self.document_language
        return (parsed.get(text_key(text)) if parsed else None) or shallow_tree(text, language)

    def _document_tree(self, row: int) -> Tree:
        if self._are_trees:
            return parse_trees(self._documents[row])[0]
        return self._tree("document", self._documents[row])

    def _query_weight(self, word: str) -> float:
        return ranker.inverse_frequency(self._query_count, self._query_df[word])

    def _document_weight(self, word: str) -> float:
        postings = self._bm25.postings
        frequency = max((len(postings[term].documents) for term in self._terms.terms([word])), default=0)
        return ranker.inverse_frequency(postings.counted, frequency)


def _right_documents(training: Dataset) -> dict[str, int]:
    """The row of the best document of each train question, if it answers no question of another split."""
    judgments, row_of = training.judgments, training.documents.row_of
    questions = set(training.splits.get("train", ()))
    others = {document for query, document, grade in judgments if query not in questions and grade > 0}
    right = {}
    for query in questions:
        grades = {id_: grade for id_, grade in judgments[query].items() if grade > 0 and id_ not in others}
        if grades:
            right[query] = row_of[max(grades, key=grades.__getitem__)]
    return right
