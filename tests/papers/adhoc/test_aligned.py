"""``aligned``: the paper's letter against a naive computation, what it explains, keeps and refuses."""

import json
import re
from collections import Counter

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset, load_training
from isogloss.data.documents import Collection, Document, Query
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.folder import Folder
from isogloss.data.readers.jsonl import Jsonl
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.evaluation.protocols import make_task
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.papers.adhoc.aligned import PAPER_SETTINGS
from isogloss.papers.word_vectors.alignment import PAPER
from isogloss.papers.word_vectors.files import write_vectors
from isogloss.papers.word_vectors.word_vectors import WordVectors
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError
from isogloss.systems.evaluate import evaluate_system
from isogloss.systems.registry import make_system
from isogloss.text.stopwords import stop_words
from isogloss.text.tokenizer import tokenize

PAIR = ("en", "fr")
ENGLISH = {
    "e1": "The baker bakes bread, warm bread.",
    "e2": "The sea is salt and the sea is wide.",
    "e3": "The red horse eats bread and salt.",
    "e4": "Rain falls on the sea and on the horse.",
}
FRENCH = {
    "f1": "Le boulanger cuit le pain, le pain chaud.",
    "f2": "La mer est du sel et la mer est grande.",
    "f3": "Le cheval rouge mange du pain et du sel.",
    "f4": "La pluie tombe sur la mer et sur le cheval.",
    "f5": "Rien ici ne parle.",
}
LEXICON = {
    "baker": "boulanger", "bread": "pain", "warm": "chaud", "sea": "mer", "salt": "sel", "red": "rouge",
    "horse": "cheval", "rain": "pluie",
}  # fmt: skip
QUERIES = {"q1": "Warm bread, warm yak bread", "q2": "the horse by the sea", "q3": "zebra", "q4": "red salt"}
UNKNOWN = "a yak & the YAK's xylophone"


@pytest.fixture(autouse=True)
def few_frequent_words(monkeypatch):
    """The texts here have not much more than 50 words: the most frequent one alone is left out."""
    monkeypatch.setitem(PAPER_SETTINGS, "drop_frequent", 1)


def words(text):
    return re.findall(r"\w+", text.lower())


def some_vectors(names, seed, size):
    """Of very different lengths, so that normalising would be seen."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((len(names), size)) * np.geomspace(0.2, 5, len(names))[:, None]
    return WordVectors(list(names), matrix.astype(np.float32))


@pytest.fixture
def vectors(tmp_path):
    """Vectors for most of the words, and for one that no text holds; in files too."""
    found = {
        "en": some_vectors([*LEXICON, "the", "zebra", "and"], 1, 4),
        "fr": some_vectors([*LEXICON.values(), "le", "la", "est", "zèbre"], 2, 5),
    }
    for language, made in found.items():
        write_vectors(made, f"word2vec:{tmp_path / language}.vec")
    return found


@pytest.fixture
def lexicon(tmp_path):
    def write(entries=LEXICON):
        path = tmp_path / "en-fr.tsv"
        path.write_text("".join(f"{word}\t{other}\n" for word, other in entries.items()), encoding="utf-8")
        return str(path)

    write({**LEXICON, "yak": "yack"})
    return write


@pytest.fixture
def source(tmp_path):
    """Pages of both languages as WikiCLIR files."""
    folder = tmp_path / "tiny"
    folder.mkdir()

    def write(name, rows):
        (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")

    write("wiki_en.documents", [(id_, "", text) for id_, text in ENGLISH.items()])
    write("wiki_fr.documents", [(id_, "", text) for id_, text in FRENCH.items()])
    write("wiki_en.queries", [(id_, "", text) for id_, text in QUERIES.items()])
    write("en2fr.rel", [(f"q{i}", f"f{i}", "2") for i in range(1, 5)])
    return WikiClir(str(folder))


@pytest.fixture
def given(tmp_path, vectors, lexicon):
    """Settings that name the vectors and the lexicon."""
    files = {"query_vectors": "{query}.vec", "document_vectors": "{document}.vec", "lexicon": "{pair}.tsv"}
    return {option: str(tmp_path / name) for option, name in files.items()}


@pytest.fixture
def fitted(source, given):
    def fit(**settings):
        system = make_system("aligned", PAIR, {**given, **settings})
        dataset = load_dataset(source, PAIR)
        system.fit(dataset)
        system.index(dataset.documents, ("text",))
        return system

    return fit


# The paper's letter


def naive_idf(texts, word):
    return np.log(len(texts) / max(1, sum(word in words(text) for text in texts)))


def naive_mean_tfidf(texts, word):
    holding = [words(text).count(word) for text in texts if word in words(text)]
    return naive_idf(texts, word) * (np.mean(holding) if holding else 1.0)


def naive_mean_over_all(texts, word):
    return naive_idf(texts, word) * max(1, sum(words(text).count(word) for text in texts)) / len(texts)


def naive_vocabulary(texts, language):
    """The most frequent words, without the first, without stop words."""
    counts = Counter(word for text in texts for word in words(text))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return set(ranked[1:20_001]) - stop_words(language)


def naive_average(text, vectors, weight, vocabulary=None):
    """Equation 3."""
    known = [word for word in words(text) if word in vectors and (vocabulary is None or word in vocabulary)]
    total = sum(weight(word) for word in known)
    if not known or not total:
        return np.zeros(vectors.dimension)
    return sum(weight(word) * vectors[word].astype(np.float64) for word in known) / total


def stacks(vectors):
    """S and T of the pairs."""
    left, right = vectors["en"], vectors["fr"]
    return tuple(
        np.stack([side[word] for word in words]).astype(np.float64)
        for side, words in ((left, LEXICON), (right, LEXICON.values()))
    )


def naive_scores(query, vectors, query_weight, vocabulary=lambda texts, language: None):
    """The whole paper in a few lines of double precision."""
    s, t = stacks(vectors)
    matrix = np.linalg.pinv(s) @ t
    english, french = list(ENGLISH.values()), list(FRENCH.values())
    own = vocabulary(english, "en")
    encoded = naive_average(query, vectors["en"], lambda word: query_weight(english, word), own) @ matrix
    scores = []
    for text in french:
        own = vocabulary(french, "fr")
        document = naive_average(text, vectors["fr"], lambda word: naive_idf(french, word), own)
        lengths = np.linalg.norm(encoded) * np.linalg.norm(document)
        scores.append(encoded @ document / lengths if lengths else 0.0)
    return scores


@pytest.mark.parametrize("query", [*QUERIES.values(), *ENGLISH.values(), UNKNOWN])
def test_the_papers_scores_are_those_of_a_naive_computation(fitted, vectors, query):
    expected = naive_scores(query, vectors, naive_mean_tfidf, naive_vocabulary)
    np.testing.assert_allclose(fitted(method="paper").scores(query), expected, atol=1e-5)


def test_documents_of_both_languages_have_tf_idf_as_equation_3_says(fitted, source, vectors):
    """Not the mean TF-IDF times tf, as if an English document were a query."""
    system, documents = fitted(method="paper"), load_dataset(source, PAIR).source_documents
    scores = system.encode_mates(documents) @ system.document_matrix.T
    for row, text in zip(scores, ENGLISH.values(), strict=True):
        expected = naive_scores(text, vectors, naive_idf, naive_vocabulary)
        np.testing.assert_allclose(row, expected, atol=1e-5)


def test_the_paper_drops_50_words_keeps_20000_and_drops_stop_words(monkeypatch):
    monkeypatch.undo()
    names = ("drop_frequent", "vocabulary", "drop_stop_words")
    assert [PAPER_SETTINGS[name] for name in names] == [50, 20_000, True]


def test_words_outside_of_the_vocabulary_are_unknown_and_the_matrix_is_the_same(fitted):
    every, fewer = fitted(alignment="pinv"), fitted(alignment="pinv", drop_frequent="2", vocabulary="5")
    assert every.unknown_words("the baker and bread") == []
    assert fewer.unknown_words("the baker and bread") == ["the", "baker", "and"]  # kept: bread, sea, horse, is, on
    assert every.unknown_words("the red sea") == []
    assert fitted(alignment="pinv", drop_stop_words="yes").unknown_words("the red sea") == ["the"]
    assert np.array_equal(every.alignment.map, fewer.alignment.map)


def test_a_vocabulary_of_nothing_is_an_error(fitted):
    with pytest.raises(InputError, match=r"no word of the 'en' texts is left without the 50 most frequent and .*best"):
        fitted(alignment="pinv", drop_frequent="50")


@pytest.mark.parametrize("query", [*QUERIES.values(), *ENGLISH.values()])
def test_the_options_one_by_one_give_the_paper_or_idf_weights(fitted, vectors, query):
    letter = {"alignment": "pinv", "normalise": "no", "centre": "no", "dictionary_share": "0"}  # and every word
    for name, weight in (("tfidf", naive_mean_tfidf), ("tfidf-all", naive_mean_over_all), ("idf", naive_idf)):
        scores = fitted(**letter, query_weights=name).scores(query)
        np.testing.assert_allclose(scores, naive_scores(query, vectors, weight), atol=1e-5)


def test_the_papers_matrix_is_the_pseudo_inverse_of_vectors_as_they_are(fitted, vectors):
    alignment = fitted(method="paper").alignment
    s, t = stacks(vectors)
    assert alignment.options == PAPER
    assert (alignment.pairs, alignment.skipped) == (8, 0)
    np.testing.assert_allclose(alignment.map, np.linalg.pinv(s) @ t, atol=1e-5)


def test_the_papers_letter_goes_before_all_other_options(fitted):
    others = {
        "alignment": "ridge",
        "query_weights": "idf",
        "remove_common": "yes",
        "dictionary_share": "1",
        "pairs": "3",
        "vocabulary": "2",
        "drop_stop_words": "no",
    }
    for query in QUERIES.values():
        assert np.array_equal(fitted(method="paper", **others).scores(query), fitted(method="paper").scores(query))


def test_the_most_frequent_words_alone_make_the_matrix_when_told(fitted):
    assert fitted(method="best", alignment="pinv", pairs="3").alignment.pairs == 3


def test_words_with_no_vector_are_skipped_in_the_pairs_and_counted(fitted, lexicon):
    lexicon({**LEXICON, "falls": "tombe", "wide": "grande", "zebra": "zèbre"})  # no English text says zebra
    alignment = fitted(method="paper").alignment
    assert (alignment.pairs, alignment.skipped) == (8, 2)


# Words it does not know


def test_unknown_words_are_named_and_change_nothing(fitted):
    system = fitted(method="paper")
    assert system.unknown_words(UNKNOWN) == ["a", "yak", "the", "s", "xylophone"]
    assert np.array_equal(system.scores("xylophone bread yak"), system.scores("bread"))


def test_a_word_that_the_dictionary_alone_knows_is_known(fitted, lexicon):
    lexicon({**LEXICON, "ocean": "mer", "yak": "yack"})
    assert fitted(method="paper").unknown_words("ocean yak") == ["ocean", "yak"]
    system = fitted(alignment="pinv")
    assert system.unknown_words("ocean yak") == ["yak"]
    assert system.translations("ocean")[0][1][0] == "mer"


@pytest.mark.parametrize("query", [UNKNOWN.replace("the", ""), "", "?!"])
def test_a_query_without_a_known_word_finds_nothing(fitted, query):
    system = fitted(method="paper")
    assert len(system.search(query, 10).rows) == 0
    assert not system.scores(query).any()
    assert system.explain(query, 0, FRENCH["f1"]) == system.translations(query) == []


def test_many_queries_find_what_each_finds_alone(fitted):
    system = fitted(method="paper")
    queries = [Query(str(i), text) for i, text in enumerate([*QUERIES.values(), "yak", "", *ENGLISH.values()] * 60)]
    for query, found in zip(queries, system.search_all(queries, 3), strict=True):
        alone = system.search(query.text, 3)
        assert (found.rows.tolist(), found.scores.tolist()) == (alone.rows.tolist(), alone.scores.tolist())


def test_a_document_without_a_known_word_scores_0(fitted):
    assert fitted(method="paper").scores("bread")[4] == 0


def test_scoring_few_documents_is_scoring_all_and_choosing(fitted):
    system, rows = fitted(method="paper"), np.asarray([4, 0, 2])
    assert system.score("red bread", rows).tolist() == system.scores("red bread")[rows].tolist()


def test_documents_alike_are_ordered_by_id(fitted):
    system = fitted(method="paper")
    texts = ["le pain chaud", "la mer"] * 2 + ["le pain chaud"]
    system.index(Collection([Document(id_, text) for id_, text in zip("dacbe", texts, strict=True)]), ("text",))
    assert {tuple(system.search(query, 5).rows.tolist()) for query in ("bread", "sea")} <= {
        (2, 0, 4, 1, 3),
        (1, 3, 2, 0, 4),
    }


# What it shows


def test_translations_are_the_nearest_words_of_the_documents_language(fitted):
    found = dict(fitted(alignment="pinv", dictionary_share="1").translations("Bread, SEA yak bread"))
    assert {word: near[0] for word, near in found.items()} == {"bread": "pain", "sea": "mer"}
    assert all(len(near) == 5 for near in found.values())


@pytest.mark.parametrize("remove_common", ["no", "yes"])
@pytest.mark.parametrize("query", [*QUERIES.values(), *ENGLISH.values()])
def test_an_explanation_sums_to_the_score_word_by_word(fitted, query, remove_common):
    system = fitted(alignment="pinv", remove_common=remove_common)
    known = [word for word in dict.fromkeys(tokenize(query)) if word not in system.unknown_words(query)]
    extra = {"(common to all queries)"} if remove_common == "yes" else set()
    for row, (text, score) in enumerate(zip(FRENCH.values(), system.scores(query).tolist(), strict=True)):
        parts = system.explain(query, row, text)
        assert sum(part.score for part in parts) == pytest.approx(score, abs=1e-5)
        assert parts == sorted(parts, key=lambda part: -part.score)
        if parts:
            assert sorted(part.query_word for part in parts) == sorted({*known, *extra})
            assert all(set(part.document_words) <= set(tokenize(text)) for part in parts)


def test_an_explanation_names_the_words_that_met(fitted):
    system = fitted(alignment="pinv", dictionary_share="1")
    assert [(part.query_word, part.document_words[0]) for part in system.explain("sea", 1, FRENCH["f2"])] == [
        ("sea", "mer")
    ]


def test_without_the_common_vector_queries_and_documents_have_unit_length_still(fitted):
    system = fitted(alignment="pinv", remove_common="yes")
    for matrix in (system.encode_queries(list(QUERIES.values())), system.document_matrix):
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), [1, 1, 1, 1, 0][: len(matrix)], atol=1e-5)
    assert np.array_equal(system.encode_documents(list(FRENCH.values())), system.document_matrix)


# On the bundled collection


@pytest.mark.parametrize("language", ["sw", "zh"])
def test_knowing_words_beats_knowing_none(language):
    task = make_task(load_dataset(Demo(), ("en", language)), "dev", "full")
    mrr = {}
    for name, settings in (("bm25", {}), ("aligned", {"dimension": "60"})):
        system = make_system(name, ("en", language), settings, Demo())
        mrr[name] = evaluate_system(system, task, ("text",)).means()["MRR_mr"]
    assert mrr["aligned"] > mrr["bm25"] + 0.2


# Saving and loading


@pytest.mark.parametrize(
    "settings",
    [{"method": "paper"}, {"alignment": "pinv", "remove_common": "true"}, {"alignment": "ridge", "pairs": "5"}],
)
def test_an_index_on_disk_answers_as_the_system_in_memory(tmp_path, source, given, fitted, settings):
    system = fitted(**settings)
    make_index(tmp_path / "index", "aligned", source, ["fr"], fields=("text",), settings={**given, **settings})
    for name in ("en.vec", "fr.vec", "en-fr.tsv"):
        (tmp_path / name).unlink()  # the index needs nothing from outside
    opened = open_index(tmp_path / "index")
    manifest, searcher = opened.manifest, Searcher(opened)
    loaded, store = searcher.languages["fr"].system, searcher.languages["fr"].store
    assert [store[row].id for row in range(len(store))] == list(FRENCH)
    assert {manifest.options[option] for option in given} == {""}
    for query in [*QUERIES.values(), UNKNOWN, ""]:
        assert loaded.scores(query).tolist() == system.scores(query).tolist()
        assert loaded.search(query, 3).rows.tolist() == system.search(query, 3).rows.tolist()
        assert loaded.unknown_words(query) == system.unknown_words(query)
        assert loaded.translations(query) == system.translations(query)
        for row, text in enumerate(FRENCH.values()):
            assert loaded.explain(query, row, text) == system.explain(query, row, text)
    assert np.array_equal(loaded.encode_documents(["le pain chaud"]), system.encode_documents(["le pain chaud"]))


def test_an_index_with_trained_vectors_answers_as_the_system_in_memory(tmp_path):
    settings = {"dimension": "20"}
    make_index(tmp_path / "index", "aligned", Demo(), ["fr"], settings=settings)
    loaded = open_index(tmp_path / "index").languages["fr"].system
    training = load_training(Demo(), PAIR)
    system = make_system("aligned", PAIR, settings, Demo())
    system.fit(training)
    system.index(training.documents, ("title", "text"))
    for query in ("why is the sea salty", "how bees make honey", "xyzzy"):
        assert loaded.scores(query).tolist() == system.scores(query).tolist()


# Data of other shapes


def test_documents_alone_are_enough_with_vectors_and_a_lexicon(tmp_path, given):
    """A folder gives the same documents in whatever language it is asked for: they are no text of the queries'."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for id_, text in FRENCH.items():
        (folder / f"{id_}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "pages.jsonl").write_text(
        "".join(json.dumps({"id": id_, "text": text, "lang": "fr"}) + "\n" for id_, text in FRENCH.items())
    )
    for number, source in enumerate((Folder(str(folder)), Jsonl(str(tmp_path / "pages.jsonl")))):
        make_index(tmp_path / f"{number}", "aligned", source, ["fr"], settings={**given, "alignment": "pinv"})
        searcher = Searcher(open_index(tmp_path / f"{number}"))
        assert "f4" in searcher.search("rain")[0].document.id
        weights = searcher.languages["fr"].system._query_encoder.weights
        assert len(set(weights.tolist())) == 1


def test_without_text_in_the_language_of_the_queries_their_vectors_are_asked_for(tmp_path, given):
    (tmp_path / "pages.jsonl").write_text(json.dumps({"id": "f1", "text": FRENCH["f1"], "lang": "fr"}) + "\n")
    settings = {"lexicon": given["lexicon"]}
    with pytest.raises(InputError, match=r"no text in 'en' to train word vectors on; give query_vectors=FILE$"):
        make_index(tmp_path / "index", "aligned", Jsonl(str(tmp_path / "pages.jsonl")), ["fr"], settings=settings)


def test_queries_of_the_train_split_stand_in_for_documents_of_their_language(source, given):
    (source.directory / "wiki_en.documents").unlink()
    (source.directory / "splits").mkdir()
    (source.directory / "splits" / "en.train").write_text("q1\nq2\n")
    system = make_system("aligned", PAIR, {**given, "method": "paper"})
    system.fit(load_dataset(source, PAIR))
    assert system.alignment.pairs == len({"warm", "bread", "horse", "sea"})


def test_data_without_a_train_split_need_none(source, given):
    (source.directory / "wiki_en.documents").unlink()
    (source.directory / "splits").mkdir()
    (source.directory / "splits" / "en.dev").write_text("q1\nq2\nq3\nq4\n")
    system = make_system("aligned", PAIR, {**given, "method": "paper"})
    system.fit(load_dataset(source, PAIR))
    assert system.alignment.pairs == len(LEXICON)


@pytest.mark.parametrize("longer", PAIR)
def test_little_text_gives_vectors_of_the_same_length_in_both_languages(source, given, longer):
    with open(source.directory / f"wiki_{longer}.documents", "a", encoding="utf-8") as file:
        file.write("x9\t\tone two three four five six seven eight nine ten eleven twelve\n")
    system = make_system("aligned", PAIR, {"lexicon": given["lexicon"]})
    dataset = load_dataset(source, PAIR)
    system.fit(dataset)
    assert len(set(system.alignment.map.shape)) == 1
    system.index(dataset.documents, ("text",))
    assert system.search("warm bread", 1).rows.tolist() == [0]


# What cannot be


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"method": "letter"}, "aligned.method: 'letter' is not one of best, paper"),
        ({"query_weights": "bm25"}, "aligned.query_weights: 'bm25' is not one of idf, tfidf, tfidf-all"),
        ({"alignment": "magic"}, "'magic' is no method of alignment; choose one of pinv, ridge, procrustes"),
        ({"dictionary_share": "2"}, "aligned.dictionary_share: 2 is not between 0 and 1"),
        ({"pairs": "0"}, "aligned.pairs: 0 is not between 1 and"),
    ],
)
def test_a_wrong_option_is_named_before_anything_is_read(settings, wrong):
    with pytest.raises(InputError) as error:
        make_system("aligned", PAIR, {"lexicon": "nowhere", **settings})
    assert wrong in str(error.value)


def test_vectors_of_different_dimensions_need_another_alignment(fitted):
    message = "^procrustes needs vectors of equal dimensions, the source has 4 and the target 5; choose pinv or ridge$"
    with pytest.raises(InputError, match=message):
        fitted()


def test_a_lexicon_of_unknown_words_is_named_as_such(fitted, lexicon):
    lexicon({"chien": "dog", "chat": "cat"})
    message = "^lexicon: none of its 2 entries is a word of the 'en' texts; is it a lexicon of en-fr\\?$"
    with pytest.raises(InputError, match=message):
        fitted(method="paper")
    lexicon({"eats": "mange", "wide": "grande"})  # in the texts, but without vectors
    with pytest.raises(InputError, match=r"^none of the lexicon's 2 pairs has a vector on both sides"):
        fitted(method="paper")


def test_the_lexicon_is_read_before_vectors_are_trained(source, tmp_path, monkeypatch):
    monkeypatch.setattr("isogloss.papers.adhoc.aligned.train_on_source", lambda *_: pytest.fail("trained in vain"))
    with pytest.raises(InputError, match="no such file"):
        make_system("aligned", PAIR, {"lexicon": str(tmp_path / "x.tsv")}).fit(load_dataset(source, PAIR))
