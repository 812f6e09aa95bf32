"""Matching words across languages, marking trees, features of a pair, and ranking with them."""

import numpy as np
import pytest

from isogloss.papers.layerwise.tree_kernel.kernel import TreeKernel
from isogloss.papers.layerwise.tree_kernel.ranker import (
    Match,
    ReadTree,
    TreePair,
    TreeRanker,
    WordMatcher,
    beginning,
    inverse_frequency,
    leaf_tokens,
    make_pair,
    mark,
    train_ranker,
)
from isogloss.papers.layerwise.tree_kernel.trees import Tree, parse_trees, shallow_tree
from isogloss.text.tokenizer import Tokenizer
from isogloss.translation.lexicon import Lexicon
from isogloss.translation.queries import QueryTranslator


def matcher(entries, languages=("en", "fr"), translations=10):
    lexicon = Lexicon((word, translation, 0.0) for word, translation in entries)
    return WordMatcher(
        QueryTranslator(lexicon, languages[0], Tokenizer(languages[1], stems=True), translations=translations)
    )


def test_words_match_through_the_lexicon_whatever_their_form():
    found = matcher([("horse", "cheval"), ("tax", "impôt")])(["horses", "taxes"], ["les", "impôts", "du", "cheval"])
    assert found == [Match(0, 3), Match(1, 1)]


def test_all_words_of_a_phrase_match_all_words_of_its_translation():
    found = matcher([("ice cream", "crème glacée")])(["ice", "cream"], ["glacée", "crème"])
    assert found == [Match(0, 0), Match(0, 1), Match(1, 0), Match(1, 1)]


def test_a_word_the_lexicon_lacks_stands_for_itself():
    assert matcher([("a", "b")])(["tricare"], ["assurance", "tricare"]) == [Match(0, 1)]
    assert matcher([], ("en", "en"))(["running"], ["runs"]) == [Match(0, 0)]


def test_only_the_best_translations_count():
    entries = [("sea", "mer"), ("sea", "océan")]
    assert matcher(entries, translations=1)(["sea"], ["océan", "mer"]) == [Match(0, 1)]


def test_marks_reach_the_two_nodes_above_a_word_and_never_the_root():
    tree = parse_trees("(S (NP (D the) (N tax)) (VP (V pays)))")[0]
    assert str(mark(tree, {1})) == "(S (REL-NP (D the) (REL-N tax)) (VP (V pays)))"
    assert str(mark(parse_trees("(S tax)")[0], {0})) == "(S tax)"
    assert mark(tree, ()) == tree


def test_the_beginning_of_a_tree_has_so_many_words():
    tree = shallow_tree("Life insurance, what is it?", "en")
    for words in range(1, 7):
        assert list(beginning(tree, words).words()) == list(tree.words())[:words]
    assert beginning(Tree("ROOT"), 3) == Tree("ROOT")


def test_leaves_are_tokens_of_the_house():
    assert leaf_tokens(parse_trees("(S (N Café) (P ,))")[0]) == ["café", ","]
    assert leaf_tokens(Tree("ROOT")) == []


def test_features_are_shares_of_matched_words_and_of_their_weights():
    weights = {"tax": 3.0, "impôt": 1.0, "haut": 3.0}
    query, document = (
        ReadTree.of(shallow_tree(text, None), lambda word: weights.get(word, 1.0))
        for text in ("tax tax rise", "impôt haut")
    )
    pair = make_pair(query, document, matcher([("tax", "impôt")]), found=0.25, words=2)
    assert pair.features == pytest.approx([0.25, 2 / 3, 6 / 7, 1 / 2, 1 / 4])
    assert str(pair.query) == "(ROOT (CLAUSE (REL-PHRASE (REL-CONTENT tax) (REL-CONTENT tax))))"
    assert str(pair.document) == "(ROOT (CLAUSE (REL-PHRASE (REL-CONTENT impôt) (CONTENT haut))))"


def test_empty_texts_make_pairs_too():
    empty = ReadTree.of(shallow_tree("", "en"), lambda word: 1.0)
    assert make_pair(empty, empty, matcher([]), 0.0, 5) == TreePair(Tree("ROOT"), Tree("ROOT"), [0.0] * 5)


def test_rare_words_weigh_more():
    weights = [inverse_frequency(100, frequency) for frequency in (0, 1, 50, 100)]
    assert weights == sorted(weights, reverse=True) and weights[-1] > 0


def pairs_by_match(count=12, seed=0):
    """Groups of one pair whose words match and two that do not; the words themselves say nothing."""
    rng = np.random.default_rng(seed)

    def pair(matched):
        words = [f"w{i}" for i in rng.integers(30, size=3)]
        tree = shallow_tree(" ".join(words), None)
        return TreePair(
            mark(tree, {0, 1} if matched else set()), mark(tree, {1} if matched else set()), [float(matched)]
        )

    return [[pair(True), pair(False), pair(False)] for _ in range(count)]


@pytest.mark.parametrize("objective", ["ranking", "classification"])
@pytest.mark.parametrize("combine", ["sum", "product"])
@pytest.mark.parametrize("use_features", [True, False])
def test_matched_pairs_of_unseen_words_are_ranked_first(objective, combine, use_features):
    ranker = train_ranker(pairs_by_match(), TreeKernel(), combine, objective, use_features=use_features)
    for group in pairs_by_match(5, seed=9):
        scores = ranker(group)
        assert scores[0] > max(scores[1:])


def test_a_ranker_that_was_saved_scores_the_same(tmp_path):
    ranker, others = train_ranker(pairs_by_match(), TreeKernel()), pairs_by_match(2, seed=9)[0]
    ranker.save(tmp_path)
    loaded = TreeRanker.load(tmp_path, TreeKernel(), "sum", True)
    assert loaded(others).tolist() == ranker(others).tolist()
    np.save(tmp_path / "known.weights.npy", np.zeros(1))
    with pytest.raises(ValueError, match="does not fit"):
        TreeRanker.load(tmp_path, TreeKernel(), "sum", True)
