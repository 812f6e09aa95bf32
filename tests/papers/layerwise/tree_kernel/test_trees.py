"""Trees: what brackets and CoNLL-U files become, what is wrong with bad ones, and the shallow tree."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.papers.layerwise.tree_kernel.trees import Tree, parse_trees, read_trees, shallow_tree, text_key
from isogloss.storage.errors import InputError
from isogloss.text.tokenizer import tokenize

CONLLU = """# newdoc id = a
# sent_id = 1
# text = Taxes rise.
1\tTaxes\ttax\tNOUN\t_\t_\t2\tnsubj\t_\tSpaceAfter=No
2\trise\trise\tVERB\t_\t_\t0\troot\t_\t_
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# text = Why?
1\tWhy\twhy\tADV\t_\t_\t0\troot\t_\t_
2\t?\t?\tPUNCT\t_\t_\t1\tpunct\t_\t_

# newdoc id = b
# text = du pain
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_
2.1\tbon\tbon\tADJ\t_\t_\t_\t_\t_\t_
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\t_
"""


def written(tmp_path, text, name="trees"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def trees(depth=3):
    words = st.text(st.characters(blacklist_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1, max_size=4)
    safe = words.filter(lambda word: "-LRB-" not in word and "-RRB-" not in word)
    leaves = safe.map(Tree)
    return st.recursive(
        leaves, lambda inner: st.builds(Tree, safe, st.lists(inner, min_size=1, max_size=3).map(tuple)), max_leaves=6
    ).map(lambda tree: tree if tree.children else Tree("S", (tree,)))


@settings(max_examples=40, deadline=None)
@given(trees())
def test_brackets_read_back_what_was_written(tree):
    assert parse_trees(str(tree)) == [tree]


def test_brackets_around_nothing_but_a_tree_are_its_root():
    assert parse_trees("( (S (N a)) )") == [Tree("ROOT", (Tree("S", (Tree("N", (Tree("a"),)),)),))]


@pytest.mark.parametrize(
    ("brackets", "message"),
    [
        ("(S (N a)", "never closed"), ("(S a))", "never opened"), ("()", "empty"), ("(S)", "no word"),
        ("(A " * 300 + "b" + ")" * 300, "200 deep"),
    ],
)  # fmt: skip
def test_bad_brackets_say_what_is_wrong(brackets, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        parse_trees(brackets)
    path = written(tmp_path, f"(S good)\n{brackets}\n")
    with pytest.raises(InputError, match=f"trees:2: .*{message}"):
        read_trees(path)


def test_a_bracketed_file_is_found_by_its_text_or_its_leaves(tmp_path):
    found = read_trees(written(tmp_path, "What's up?\t(S (W What) (V 's) (P up))\n\n(S (N Tax)) (S (V rises))\n"))
    assert str(found[text_key("WHAT'S  up?")]) == "(S (W What) (V 's) (P up))"
    assert str(found[text_key("tax rises")]) == "(ROOT (S (N Tax)) (S (V rises)))"


def test_conllu_becomes_trees_of_relations_one_a_document(tmp_path):
    found = read_trees(written(tmp_path, CONLLU))
    first = "(ROOT (root (nsubj (NOUN Taxes)) (VERB rise) (punct (PUNCT .))))"
    assert str(found[text_key("Taxes rise. Why?")]) == f"(ROOT {first} (ROOT (root (ADV Why) (punct (PUNCT ?)))))"
    assert str(found[text_key("du pain")]) == "(ROOT (root (case (ADP de)) (det (DET le)) (NOUN pain)))"


def test_without_documents_each_sentence_is_a_text_and_its_words_may_be_its_text(tmp_path):
    plain = "\n".join(line for line in CONLLU.splitlines() if not line.startswith("#"))
    assert set(read_trees(written(tmp_path, plain))) == {"taxesrise.", "why?", "delepain"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1\ta\t_\tN\t_\t_\t2\tx\t_\t_\n2\tb\t_\tN\t_\t_\t1\tx\t_\t_\n", "do not make a tree"),
        ("1\ta\t_\tN\t_\t_\t0\tx\t_\n", "10 columns of CoNLL-U, got 9"),
        ("1\ta\t_\tN\t_\t_\t_\tx\t_\t_\n", "not a number"),
        ("".join(f"{n}\ta\t_\tN\t_\t_\t{n - 1}\tx\t_\t_\n" for n in range(1, 400)), "200 deep"),
    ],
)
def test_bad_conllu_is_an_error_with_its_location(lines, message, tmp_path):
    with pytest.raises(InputError, match=f"trees:[0-9]+: .*{message}"):
        read_trees(written(tmp_path, "# text = a\n" + lines))


def test_a_file_without_a_tree_is_an_error(tmp_path):
    with pytest.raises(InputError, match="has no tree"):
        read_trees(written(tmp_path, "\n \n"))
    with pytest.raises(InputError, match="only a text"):
        read_trees(written(tmp_path, "some text\t \n"))


@settings(max_examples=40, deadline=None)
@given(st.text("the Tax, of 12 是 保险。!", max_size=40), st.sampled_from(["en", "zh", "xx", None]))
def test_the_shallow_tree_holds_the_words_in_order_under_four_levels(text, language):
    tree = shallow_tree(text, language)
    words = tokenize(text)
    assert (list(tree.words()) if words else [tree.label]) == (words or ["ROOT"])
    for clause in tree.children:
        assert clause.label == "CLAUSE"
        labels = [phrase.label for phrase in clause.children]
        assert all(label != after for label, after in pairwise(labels))
        for phrase in clause.children:
            assert {tag.label for tag in phrase.children} <= (
                {"STOP"} if phrase.label == "LINK" else {"CONTENT", "NUMBER"}
            )


def test_punctuation_ends_a_clause_and_spaces_do_not():
    assert len(shallow_tree("tax  on income\nand land", "en").children) == 1
    assert len(shallow_tree("tax, on income; land.", "en").children) == 3
