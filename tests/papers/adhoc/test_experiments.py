"""Mate retrieval and the toy collection of the ad hoc paper, and its measures."""

from dataclasses import replace

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.documents import Collection, Document, id_order
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.papers.adhoc import experiments as adhoc
from isogloss.papers.adhoc.aligned import PAPER_SETTINGS, Aligned, AlignedOptions
from isogloss.papers.adhoc.experiments import (
    MateRun,
    ToyAnswer,
    configurations,
    known_mates,
    pair_curves,
    prepare_vectors,
    run_configuration,
    search_mates,
    search_toy,
    skipped_words,
    typical_words,
    write_ranked,
)
from isogloss.papers.adhoc.tfidf_matrix import Platt
from isogloss.papers.reproduction.pages import write_csv
from isogloss.papers.word_vectors.alignment import METHODS
from isogloss.papers.word_vectors.files import write_vectors
from isogloss.papers.word_vectors.training import VectorTraining
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system

LITTLE = VectorTraining(4, minimum_count=1)


def run(ranks, best=None):
    return MateRun(AlignedOptions(), np.asarray(best if best is not None else [0] * len(ranks)), np.asarray(ranks), {})


@pytest.fixture(autouse=True)
def few_frequent_words(monkeypatch):
    """The texts here have not much more than 50 words: none is left out for its frequency."""
    monkeypatch.setitem(PAPER_SETTINGS, "drop_frequent", 0)


# Measures


def test_map_and_r_precision_by_hand():
    found = run([1, 2, 4, 1, 10])
    assert found.mean_average_precision == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 + 1 / 10) / 5)
    assert found.r_precision == 2 / 5


def test_a_trial_has_map_r_precision_and_the_share_in_the_first_ten_and_what_was_skipped():
    found = replace(run([1, 2, 10, 11]), skipped={"pairs asked": 8}).trial("paper")
    map_ = (1 + 1 / 2 + 1 / 10 + 1 / 11) / 4
    assert found.name == "paper"
    assert found.values == {"MAP": pytest.approx(map_), "R-precision": 0.25, "first 10": 0.75, "pairs asked": 8}


# Searching


def search(queries, documents, ids, targets):
    matrices = (np.asarray(side, dtype=np.float32) for side in (queries, documents))
    return [found.tolist() for found in search_mates(*matrices, id_order(ids), np.asarray(targets))]


def test_the_best_match_and_the_rank_of_the_mate():
    documents = [[1, 0], [0, 1], [0.6, 0.8]]
    assert search(documents, documents, ["a", "b", "c"], [0, 2, 0]) == [[0, 1, 2], [1, 2, 3]]


def test_equal_scores_are_ordered_by_id():
    best, ranks = search([[1, 0]] * 4, [[1, 0], [1, 0], [0, 1], [1, 0]], ["c", "d", "a", "b"], [0, 1, 2, 3])
    assert (best, ranks) == ([3, 3, 3, 3], [2, 3, 4, 1])


def test_a_document_of_unknown_words_does_not_find_its_mate_first_for_nothing():
    assert search([[0, 0]] * 2, np.eye(2)[[0, 1, 0, 1]], ["a", "b", "c", "d"], [3, 2])[1] == [4, 3]


def test_many_documents_are_searched_as_few():
    random = np.random.default_rng(0)
    documents, queries = (random.standard_normal((count, 3)).astype(np.float32) for count in (40, 600))
    targets = random.integers(0, 40, len(queries))
    found = search(queries, documents, [f"{i:02}" for i in range(40)], targets)
    for query, row, best, rank in zip(queries, targets, *found, strict=True):
        order = sorted(range(40), key=lambda i: -float(documents[i] @ query))
        assert (best, rank) == (order[0], order.index(row) + 1)


def test_the_mates_of_pages_are_what_the_judgments_say(dataset):
    found = known_mates(dataset)
    ours, theirs = dataset.source_documents.ids, dataset.documents.ids
    pairs = [(ours[source], theirs[target]) for source, target in zip(*found, strict=True)]
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


def test_the_papers_own_settings_come_first_every_alignment_between_and_the_best_last(options):
    made = configurations(options)
    assert (next(iter(made)), list(made)[-1]) == ("paper", "best")
    assert set(METHODS) < set(made)
    assert Aligned(replace(options, method="paper"), "en", "fr").settings == replace(made["paper"], method="paper")
    assert made["best"] == options
    assert all(o.query_vectors == options.query_vectors and o.lexicon == options.lexicon for o in made.values())
    for method in METHODS:
        assert (made[method].alignment, made[method].dictionary_share) == (method, 0)
    every = made["paper, all words"]
    assert (every.alignment, every.normalise, every.drop_frequent, every.drop_stop_words) == ("pinv", False, 0, False)
    assert (every.centre, every.vocabulary, every.query_weights) == (False, 0, "tfidf")
    assert (made["pinv"].normalise, made["pinv"].centre) == (True, True)
    assert made["best, paper's words"] == replace(options, vocabulary=20_000, drop_stop_words=True)


def test_every_configuration_finds_the_mates_of_words_alike(dataset, options):
    found = known_mates(dataset)
    for name, chosen in configurations(options).items():
        assert run_configuration(dataset, found, chosen).r_precision == 1.0, name


def test_mates_search_with_tf_idf_and_not_as_queries(dataset, options):
    """Equation (3): the weights of a query play no part where documents search."""
    found = known_mates(dataset)
    plain = replace(options, alignment="pinv", dictionary_share=0.0)
    runs = [run_configuration(dataset, found, replace(plain, query_weights=weights)) for weights in ("idf", "tfidf")]
    systems = [Aligned(run.options, *dataset.pair) for run in runs]
    for system in systems:
        system.fit(dataset)
    mates = [system.encode_mates(dataset.source_documents) for system in systems]
    texts = dataset.source_documents.texts(("text",))
    assert np.array_equal(*mates)
    assert not np.allclose(*(system.encode_queries(texts) for system in systems))
    np.testing.assert_allclose(systems[0].encode_queries(texts), mates[0], atol=1e-6)


def test_the_curves_rise_with_the_pairs_until_the_lexicon_knows_no_more(dataset, options, monkeypatch):
    monkeypatch.setattr(adhoc, "PAIR_COUNTS", (1, 6, 13, 500))
    points = list(pair_curves(dataset, known_mates(dataset), options))
    names = ("paper", "pinv", "procrustes")
    assert [(name, run.skipped["pairs asked"]) for name, run in points] == [
        (name, pairs) for name in names for pairs in (1, 6, 13)
    ]
    for name in names:
        values = [run.mean_average_precision for other, run in points if other == name]
        assert values[0] < values[-1] == 1.0


def test_pairs_without_vectors_are_asked_for_and_not_fitted(dataset, options, tmp_path):
    with open(options.lexicon, "a", encoding="utf-8") as file:
        file.write("turns\ttourne\nsleep\tdorment\n")  # in the pages, without vectors
    values = run_configuration(dataset, known_mates(dataset), options).trial("best").values
    assert (values["pairs asked"], values["pairs fitted"]) == (15, 13)


def test_the_share_of_words_without_a_vector(dataset, options):
    values = run_configuration(dataset, known_mates(dataset), replace(options, dictionary_share=0.0)).skipped
    english = WordVectors.load(options.query_vectors)
    assert values["en skipped"] == skipped_words(english, dataset.source_documents)
    assert skipped_words(english, ["the mill and the port"]) == 3 / 5
    assert skipped_words(english, [""]) == 0


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


@pytest.mark.parametrize("form", ["word2vec", "glove", "binary", ""])
def test_ready_vectors_are_read_in_any_format_and_nothing_is_trained(dataset, tmp_path, monkeypatch, form):
    monkeypatch.setattr(adhoc, "train_on_tokens", None)
    made = {language: some_vectors(["mill", "moulin", "port"], seed) for seed, language in enumerate(("en", "fr"))}
    files = tuple(str(tmp_path / f"{language}.vectors") for language in made)
    for vectors, file in zip(made.values(), files, strict=True):
        write_vectors(vectors, f"{form}:{file}" if form else file)
    for path, vectors in zip(prepare_vectors(dataset, tmp_path / "out", ready=files), made.values(), strict=True):
        found = WordVectors.load(path)
        assert list(found.words) == vectors.words
        np.testing.assert_allclose(found.matrix, vectors.matrix, rtol=1e-6)


def test_ready_vectors_of_one_language_stand_beside_trained_ones_of_the_same_dimension(dataset, tmp_path):
    some_vectors(["mill"], 0).save(tmp_path / "glove")
    ready = (str(tmp_path / "glove"), "")
    first, second = prepare_vectors(dataset, tmp_path / "out", how=LITTLE, ready=ready)
    assert (first, second) == (tmp_path / "glove", tmp_path / "out" / "fr")
    with pytest.raises(InputError, match="vectors of 4 and of 3 dimensions; Procrustes needs equal ones"):
        prepare_vectors(dataset, tmp_path / "other", how=VectorTraining(3, minimum_count=1), ready=ready)


def some_vectors(words, seed):
    matrix = np.random.default_rng(seed).standard_normal((len(words), 4)).astype(np.float32)
    return WordVectors(words, matrix)


# Weights of the data


@pytest.fixture
def weights(tmp_path):
    """Three pages in two languages with weights that are no counts: log-tf, of unit length."""

    def write(english="0.6 0.8 1", spanish="0.28 0.96 1", name="platt"):
        folder = tmp_path / name
        folder.mkdir()
        for language, words, values in (("en", "Mill port bees", english), ("fr", "moulin port abeilles", spanish)):
            first, second, third = values.split()
            entries = f"1 1 {first}\n1 2 {second}\n2 2 {third}\n3 3 1\n"
            (folder / f"{language}.mtx").write_text(f"3 3 4\n{entries}")
            (folder / f"{language}.vocab").write_text("\n".join(words.split()) + "\n")
        return load_dataset(Platt(str(folder)), ("en", "fr"))

    return write


def test_documents_with_weights_are_encoded_by_them(weights, options):
    plain = replace(options, alignment="pinv", normalise=False, centre=False, dictionary_share=0.0)
    system, data = Aligned(plain, "en", "fr"), weights()
    system.fit(data)
    system.index(data.documents, ("text",))
    english, french = system.spaces
    for found, vectors, parts in (
        (system.encode_mates(data.source_documents)[0], english, (("mill", 0.6), ("port", 0.8))),
        (system.document_matrix[0], french, (("moulin", 0.28), ("port", 0.96))),
    ):
        expected = sum(np.float32(weight) * vectors[word] for word, weight in parts)
        np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-5)


def test_the_words_of_a_query_have_their_mean_weight_in_the_file(weights, options):
    system = Aligned(replace(options, method="paper"), "en", "fr")
    system.fit(weights())
    assert system._query_encoder.weights[system.spaces[0].rows(["mill", "port", "bees"])].tolist() == pytest.approx(
        [0.6, 0.9, 1.0]
    )


def test_words_of_weights_without_a_vector_are_counted(weights):
    english = WordVectors(["mill"], np.ones((1, 1), np.float32))
    assert skipped_words(english, weights().source_documents) == 3 / 4


def test_a_vocabulary_that_comes_with_the_weights_is_not_cut_again(weights, options, monkeypatch):
    monkeypatch.setitem(PAPER_SETTINGS, "drop_frequent", 50)
    system = Aligned(replace(options, method="paper"), "en", "fr")
    system.fit(weights())
    assert {"mill", "port", "bees"} <= set(system.spaces[0].words)


def test_vectors_are_not_trained_on_weights(weights, tmp_path, pages):
    with pytest.raises(InputError, match=r"has weights of words in 'en' and no text .*; give --query-vectors and"):
        prepare_vectors(weights(), tmp_path / "vectors")
    path, _ = prepare_vectors(weights(name="more"), tmp_path / "vectors", [pages()], LITTLE)
    assert "grinds" in WordVectors.load(path)


# Files


def test_ranked_csv_has_the_four_columns_of_the_paper(dataset, tmp_path):
    found = known_mates(dataset)
    rows = {id_: row for row, id_ in enumerate(dataset.documents.ids)}
    best = [rows[id_] for id_ in ("fr-mill", "fr-mill", "fr-farm", "fr-port")]
    ids = [dataset.source_documents.ids[row] for row in found.sources]
    assert ids == ["en-mill", "en-port", "en-farm", "en-bees"]
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
