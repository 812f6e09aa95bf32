"""The tree-kernel system on small data: it learns, re-ranks, takes parsed trees, and survives being saved."""

import numpy as np
import pytest

from isogloss.data.dataset import Dataset, load_dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.evaluation.protocols import make_task
from isogloss.papers.layerwise.tree_kernel.system import TreeKernelOptions, TreeKernelSystem
from isogloss.storage.errors import InputError
from isogloss.systems.evaluate import evaluate_system

WORDS = {"tax": "impôt", "house": "maison", "sea": "mer", "bread": "pain", "dog": "chien", "road": "route"}


@pytest.fixture
def lexicon(tmp_path):
    path = tmp_path / "lexicon.tsv"
    path.write_text("".join(f"{word}\t{translation}\n" for word, translation in WORDS.items()), encoding="utf-8")
    return str(path)


def training(dev=4, languages=("en", "fr")):
    """Questions of three words, their documents the same three in the other language."""
    rng = np.random.default_rng(1)
    queries, documents, lines = [], [], []
    for number in range(40):
        chosen = [list(WORDS)[i] for i in rng.choice(len(WORDS), 3, replace=False)]
        said = chosen if languages[0] == languages[1] else [WORDS[word] for word in chosen]
        queries.append(Query(f"q{number}", f"what is {chosen[0]}, {chosen[1]} {chosen[2]}?"))
        documents.append(Document(f"d{number}", f"{said[1]} {said[2]}, {said[0]} {number}"))
        lines.append(Judgment(f"q{number}", f"d{number}", 2))
    ids = [query.id for query in queries]
    splits = {"train": ids[:-dev], "dev": ids[-dev:]}
    collection = Collection(documents, languages[1])
    return Dataset(Demo(), languages, collection, {q.id: q for q in queries}, Judgments(lines), splits)


def fitted(dataset=None, **options):
    dataset = dataset or training()
    system = TreeKernelSystem(TreeKernelOptions(**{"training_questions": 12, **options}), *dataset.pair)
    system.fit(dataset)
    system.index(dataset.documents, ("text",))
    return system


TEXTS = ["maison mer, impôt", "pain chien", "route chien", "impôt pain route"]


def test_documents_that_match_come_first(lexicon):
    system = fitted(lexicon=lexicon)
    system.index_texts(TEXTS)
    assert int(system.scores("what is tax, house sea?").argmax()) == 0
    assert int(system.score("the dog, the bread", np.asarray([3, 2, 1])).argmax()) == 2


def test_one_language_needs_no_lexicon():
    system = fitted(training(languages=("en", "en")))
    system.index_texts(["bread dog", "house sea tax", "roads"])
    assert int(system.scores("what are taxes, houses and seas?").argmax()) == 1


def test_a_lexicon_is_induced_from_the_questions_that_are_not_trained_on(monkeypatch):
    seen = []

    def induce(dataset, name):
        from isogloss.translation.lexicon import Lexicon

        seen.extend(dataset.splits["train"])
        return Lexicon([(word, translation, 0.0) for word, translation in WORDS.items()])

    monkeypatch.setattr("isogloss.papers.layerwise.tree_kernel.system.induce_from", induce)
    fitted(training_questions=1000)
    assert len(seen) == 18 and len(set(seen)) == 18  # half of the 36
    assert not {"q36", "q37", "q38", "q39"} & set(seen)


def test_only_the_best_of_the_first_pass_are_re_ranked_and_the_rest_stay_below(lexicon):
    system = fitted(lexicon=lexicon, depth=5)
    query = "what is tax, house sea?"
    scores, first = system.scores(query), system._bm25.scores(system._translator(query))
    order = np.argsort(-scores, kind="stable")
    assert first[order[:5]].min() >= first[order[5:]].max()
    assert (np.diff(first[order[5:]]) <= 0).all()
    assert scores[order[:5]].tolist() == system.score(query, order[:5]).tolist()


def test_saving_and_loading_changes_no_score(lexicon, tmp_path):
    trees = tmp_path / "queries.txt"
    trees.write_text("what tax?\t(S (W what) (N tax))\n", encoding="utf-8")
    system = fitted(lexicon=lexicon, query_trees=str(trees))
    folder = tmp_path / "saved"
    folder.mkdir()
    system.save(folder)
    loaded = TreeKernelSystem(system.options, "en", "fr").load(folder)
    for query in ("what is tax, house sea?", "what tax?", ""):
        assert loaded.scores(query).tolist() == system.scores(query).tolist()
    assert str(loaded._tree("query", "What tax?")) == "(S (W what) (N tax))"


def test_the_same_seed_gives_the_same_scores_and_the_data_of_dev_none(lexicon):
    changed = training()
    changed.queries["q39"] = Query("q39", "tax " * 20)
    first, again, other = fitted(lexicon=lexicon), fitted(lexicon=lexicon), fitted(changed, lexicon=lexicon)
    scores = first.scores("the tax and the sea").tolist()
    assert again.scores("the tax and the sea").tolist() == scores == other.scores("the tax and the sea").tolist()


def test_parsed_trees_take_the_place_of_shallow_ones(lexicon, tmp_path):
    dataset = training()
    trees = tmp_path / "documents.txt"
    trees.write_text(f"{dataset.documents[0].text}\t(S (NP (N maison)))\n", encoding="utf-8")
    system = fitted(dataset, lexicon=lexicon, document_trees=str(trees))
    assert str(system._document_tree(0)) == "(S (NP (N maison)))"
    assert str(system._document_tree(1)).startswith("(ROOT (CLAUSE")


@pytest.mark.parametrize(
    ("options", "said"),
    [({"objective": "fun"}, "neither ranking nor classification"), ({"pair_kernel": "max"}, "neither sum nor product")],
)
def test_unknown_choices_are_errors(options, said):
    with pytest.raises(InputError, match=said):
        TreeKernelSystem(TreeKernelOptions(**options), "en", "fr")


def test_a_train_split_without_answers_is_an_error(lexicon):
    dataset = training()
    dataset.judgments = Judgments()
    with pytest.raises(InputError, match="right and a wrong document"):
        fitted(dataset, lexicon=lexicon)


def test_it_beats_chance_by_far_on_the_bundled_collection():
    dataset = load_dataset(Demo(), ("en", "fr"))
    options = TreeKernelOptions(lexicon=str(dataset.lexicon), training_questions=20, negatives=2, words=15)
    task = make_task(dataset, "dev", "sampled", negatives=10)
    result = evaluate_system(TreeKernelSystem(options, "en", "fr"), task, ("text",))
    assert result.means()["MRR_mr"] > 0.6  # by chance about .27
