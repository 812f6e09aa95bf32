"""Mate retrieval and the toy collection of the ad hoc paper, and its measures."""

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection, Document, id_order
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.reproduce import adhoc
from isogloss.reproduce.adhoc import (
    MateRun,
    Mates,
    ToyAnswer,
    as_table,
    configurations,
    known_mates,
    pair_curves,
    prepare_vectors,
    run_configuration,
    search_mates,
    search_toy,
    typical_words,
    write_ranked,
)
from isogloss.reproduce.pages import write_csv
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system
from isogloss.translation.vectors.alignment import METHODS
from isogloss.translation.vectors.training import VectorTraining
from isogloss.translation.vectors.word_vectors import WordVectors

LITTLE = VectorTraining(4, minimum_count=1)


class Planned:
    """Searches with given vectors: what a system offers to ``search_mates``."""

    def __init__(self, queries, documents, ids):
        self.queries = dict(queries)
        self.document_matrix = np.asarray(documents, dtype=np.float32)
        self.id_order = id_order(ids)

    def encode_queries(self, texts):
        return np.asarray([self.queries[text] for text in texts], dtype=np.float32)


def run(ranks, best=None, name="made"):
    return MateRun(name, np.asarray(best if best is not None else [0] * len(ranks)), np.asarray(ranks))


def mates(*texts, rows):
    return Mates([Document(f"d{i}", text) for i, text in enumerate(texts)], np.asarray(rows))


# Measures


def test_map_and_r_precision_by_hand():
    found = run([1, 2, 4, 1, 10])
    assert found.mean_average_precision == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 + 1 / 10) / 5)
    assert found.r_precision == 2 / 5


def test_the_table_has_map_r_precision_and_the_share_in_the_first_ten():
    table = as_table({"paper": run([1, 2, 10, 11]), "best": run([1, 1, 1, 1])})
    assert table == [("paper", "0.4227", "0.2500", "0.7500"), ("best", "1.0000", "1.0000", "1.0000")]


# Searching


def test_the_best_match_and_the_rank_of_the_mate():
    documents = [[1, 0], [0, 1], [0.6, 0.8]]
    system = Planned({"east": [1, 0], "north": [0, 1], "up": [0.6, 0.8]}, documents, ["a", "b", "c"])
    found = search_mates(system, mates("east", "north", "up", rows=[0, 2, 0]), "made")
    assert (found.name, found.best.tolist(), found.ranks.tolist()) == ("made", [0, 1, 2], [1, 2, 3])


def test_equal_scores_are_ordered_by_id():
    system = Planned({"east": [1, 0]}, [[1, 0], [1, 0], [0, 1], [1, 0]], ["c", "d", "a", "b"])
    found = search_mates(system, mates("east", "east", "east", "east", rows=[0, 1, 2, 3]), "made")
    assert found.ranks.tolist() == [2, 3, 4, 1]
    assert found.best.tolist() == [3, 3, 3, 3]


def test_a_document_of_unknown_words_does_not_find_its_mate_first_for_nothing():
    system = Planned({"": [0, 0]}, np.eye(2)[[0, 1, 0, 1]], ["a", "b", "c", "d"])
    assert search_mates(system, mates("", "", rows=[3, 2]), "made").ranks.tolist() == [4, 3]


def test_many_documents_are_searched_as_few():
    random = np.random.default_rng(0)
    documents, count = random.standard_normal((40, 3)).astype(np.float32), 600
    queries = {f"q{i}": vector for i, vector in enumerate(random.standard_normal((count, 3)).astype(np.float32))}
    rows = random.integers(0, 40, count)
    system = Planned(queries, documents, [f"{i:02}" for i in range(40)])
    found = search_mates(system, mates(*queries, rows=rows), "made")
    for query, row, best, rank in zip(queries.values(), rows, found.best, found.ranks, strict=True):
        order = sorted(range(40), key=lambda i: -float(documents[i] @ query))
        assert (best, rank) == (order[0], order.index(row) + 1)


def test_the_mates_of_pages_are_what_the_judgments_say(dataset):
    found = known_mates(dataset)
    pairs = [(page.id, dataset.documents.ids[row]) for page, row in zip(found.documents, found.rows, strict=True)]
    assert sorted(pairs) == [(f"en-{name}", f"fr-{name}") for name in ("bees", "farm", "mill", "port")]


@pytest.mark.parametrize("english", ["e1\t\tA mill.\n", None])
def test_pages_without_mates_are_an_error(tmp_path, english):
    files = {"wiki_en.queries": "q1\t\tmills\n", "wiki_fr.documents": "f1\t\tUn moulin.\n", "en2fr.rel": "q1\tf1\t2\n"}
    for name, text in {**files, "wiki_en.documents": english}.items():
        if text is not None:
            (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        known_mates(load_dataset(WikiClir(str(tmp_path)), ("en", "fr")))
    assert "the en page that each query was taken from" in str(error.value)
    assert "\n" not in str(error.value)


# Configurations


def test_the_papers_own_settings_come_first_the_best_last_and_every_method_by_every_weight_between(options):
    made = configurations(options)
    assert (next(iter(made)), list(made)[-1]) == ("paper", "best")
    assert {f"{method}, {weights}" for method in METHODS for weights in ("tfidf", "idf")} < set(made)
    assert made["paper"].method == "paper"
    assert made["best"] == options
    assert all(o.query_vectors == options.query_vectors and o.lexicon == options.lexicon for o in made.values())
    for name, chosen in made.items():
        if name not in ("paper", "best"):
            assert name.split(", ")[:2] == [chosen.alignment, chosen.query_weights]
            assert chosen.dictionary_share == 0


def test_every_configuration_finds_the_mates_of_words_alike(dataset, options):
    found = known_mates(dataset)
    for name, chosen in configurations(options).items():
        assert run_configuration(dataset, found, chosen, name).r_precision == 1.0, name


def test_the_curves_rise_with_the_pairs_until_the_lexicon_knows_no_more(dataset, options, monkeypatch):
    monkeypatch.setattr(adhoc, "PAIR_COUNTS", (1, 6, 13, 500))
    points = list(pair_curves(dataset, known_mates(dataset), options))
    assert [(name, pairs) for name, pairs, _ in points] == [
        (name, pairs) for name in ("pinv", "procrustes") for pairs in (1, 6, 13)
    ]
    for name in ("pinv", "procrustes"):
        values = [value for other, _, value in points if other == name]
        assert values[0] < values[-1] == 1.0


# Vectors


def test_vectors_are_trained_once_and_read_the_next_time(dataset, tmp_path):
    paths = prepare_vectors(dataset, tmp_path / "vectors", how=LITTLE)
    assert [path.name for path in paths] == ["en", "fr"]
    assert "moulin" in WordVectors.load(paths[1]) and "mill" in WordVectors.load(paths[0])
    before = [(path / "matrix.npy").stat() for path in paths]
    assert prepare_vectors(dataset, tmp_path / "vectors", how=VectorTraining(2, minimum_count=1)) == paths
    assert [(path / "matrix.npy").stat().st_ino for path in paths] == [stat.st_ino for stat in before]


def test_more_text_gives_more_words_in_the_languages_it_has(dataset, pages, tmp_path):
    more = pages(english={"yak": "A yak and a yak."})
    path, other = prepare_vectors(dataset, tmp_path / "more", [more], LITTLE)
    assert "yak" in WordVectors.load(path)
    assert list(WordVectors.load(other).words)[:2] == ["le", "bateaux"]


def test_damaged_vectors_are_named_and_not_trained_over(dataset, tmp_path):
    path, _ = prepare_vectors(dataset, tmp_path / "vectors", how=LITTLE)
    (path / "matrix.npy").write_bytes(b"half")
    with pytest.raises(InputError, match="vectors/en: not word vectors"):
        prepare_vectors(dataset, tmp_path / "vectors", how=LITTLE)


# Files


def test_ranked_csv_has_the_four_columns_of_the_paper(dataset, tmp_path):
    found = known_mates(dataset)
    rows = {id_: row for row, id_ in enumerate(dataset.documents.ids)}
    best = [rows[id_] for id_ in ("fr-mill", "fr-mill", "fr-farm", "fr-port")]
    by_name = {document.id: i for i, document in enumerate(found.documents)}
    assert list(by_name) == ["en-mill", "en-port", "en-farm", "en-bees"]
    write_ranked(tmp_path / "ranked.csv", run([1, 3, 1, 12], best), dataset, found)
    assert (tmp_path / "ranked.csv").read_bytes() == (
        b"document,best_match,precision_fraction,precision\n"
        b"en-mill,fr-mill,1,1.000000\n"
        b"en-port,fr-mill,1/3,0.333333\n"
        b"en-farm,fr-farm,1,1.000000\n"
        b"en-bees,fr-port,1/12,0.083333\n"
    )


def test_a_table_is_written_as_other_programs_read_it(tmp_path):
    write_csv(tmp_path / "table.csv", ("name", "MAP"), [("pinv, idf", "0.5"), ('say "no"', "été")])
    assert (tmp_path / "table.csv").read_bytes() == 'name,MAP\n"pinv, idf",0.5\n"say ""no""",été\n'.encode()


# The toy collection


def collection(texts, language="en", **translations):
    documents = [
        Document(id_, text, language=language, translations=translations.get(id_, {})) for id_, text in texts.items()
    ]
    return Collection(documents, language)


def test_typical_words_are_those_with_the_highest_tf_idf_by_hand():
    texts = {
        "a": "the mill and the mill and wheat by the river",  # mill 2 ln 3, wheat ln 3, river ln 3/2
        "b": "the port by the river: boats boats boats",  # boats 3 ln 3, port ln 3, river ln 3/2
        "c": "wind over the hill",  # ln 3 each: by name
    }
    assert typical_words(collection(texts), 2) == ["mill wheat", "boats port", "hill wind"]
    assert typical_words(collection(texts))[0] == "mill wheat river"


def test_no_stop_word_is_typical_and_an_article_of_nothing_else_has_no_query():
    assert typical_words(collection({"a": "the of and", "b": "the sea"})) == ["", "sea"]


def test_each_article_asks_for_its_own_translation():
    sources = collection(
        {"e1": "sea sea salt", "e2": "bread salt", "e3": "yak", "e4": "boat"},
        e1={"fr": "f1"}, e2={"fr": "f2"}, e3={"fr": "f3", "it": "i3"},
    )  # fmt: skip
    targets = collection({"f1": "sea of salt", "f2": "sea sea salt salt", "f3": "wind"}, "fr")
    system = make_system("bm25", ("en", "fr"), {"stems": "no"})
    system.index(targets, ("text",))
    assert search_toy(system, sources, targets) == [
        ToyAnswer("sea salt", "f1", "f2", 2),
        ToyAnswer("bread salt", "f2", "f2", 1),
        ToyAnswer("yak", "f3", "", 0),
        ToyAnswer("boat", "", "", 0),
    ]
