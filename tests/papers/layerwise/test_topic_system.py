"""The topic system: its probabilities, what mixing does, and that it survives being saved."""

import math

import numpy as np
import pytest

from isogloss.data.dataset import Dataset
from isogloss.data.documents import Collection, Document, Judgment, Query
from isogloss.data.judgments import Judgments
from isogloss.data.readers.demo import Demo
from isogloss.papers.layerwise.topic import Topic, TopicOptions
from isogloss.storage.errors import InputError

THEMES = {
    "bread": (["oven", "crust", "loaf"], ["flour", "yeast", "dough", "salt"]),
    "stars": (["orbit", "moon", "sky"], ["planet", "light", "gravity", "comet"]),
    "boats": (["sail", "harbour", "mast"], ["wind", "rope", "anchor", "tide"]),
}


def training(dev=3):
    """Questions of one vocabulary, answers of another; the last pairs are dev."""
    rng = np.random.default_rng(0)
    queries, documents, lines = [], [], []
    for number in range(60):
        asked, answered = THEMES[list(THEMES)[number % 3]]
        queries.append(Query(f"q{number}", " ".join(rng.choice(asked, 4))))
        documents.append(Document(f"d{number}", " ".join(rng.choice(answered, 6))))
        lines.append(Judgment(f"q{number}", f"d{number}", 2))
    ids = [query.id for query in queries]
    splits = {"train": ids[:-dev], "dev": ids[-dev:]}
    collection = Collection(documents, "en")
    return Dataset(Demo(), ("en", "en"), collection, {q.id: q for q in queries}, Judgments(lines), splits)


def fitted(**options):
    system = Topic(TopicOptions(**{"topics": 3, "rounds": 30, **options}), "en", "en")
    system.fit(training())
    return system


def test_a_question_finds_answers_that_share_no_word_with_it():
    system = fitted()
    system.index_texts(["dough yeast", "comet gravity", "anchor rope"])
    for row, (asked, _) in enumerate(THEMES.values()):
        assert int(system.scores(" ".join(asked)).argmax()) == row


def test_without_topics_it_is_query_likelihood():
    system = fitted(mixture=0.0, smoothing=2.0, stems=False)
    system.index_texts(["salt salt bread", "bread wind"])
    usual = 2 / 5
    expected = [math.log((n + 2 * usual) / (length + 2) / usual) for n, length in ((2, 3), (0, 2))]
    assert system.scores("salt") == pytest.approx(expected)
    assert not system.scores("oven").any()  # asked in training, but in no document
    assert system.unknown_words("salt oven zebu") == ["oven", "zebu"]


def test_the_probabilities_of_all_known_words_add_up_to_one():
    system = fitted(mixture=1.0, minimum_count=1, stems=False)
    system.index_texts(["dough yeast", "comet"])
    words = [word for asked, _ in THEMES.values() for word in asked]
    parts = {word.word: word for word in system._words(" ".join(words), None)}
    usual = {word: math.exp(-part.best_gain) for word, part in parts.items()}
    assert sum(usual.values()) == pytest.approx(1, abs=1e-4)
    for row in (0, 1):
        said = [usual[word] * math.exp(part.gains[row]) for word, part in parts.items()]
        assert sum(said) == pytest.approx(1, abs=1e-4)


def test_few_documents_score_as_they_do_among_all_and_no_better_than_possible():
    system, rows = fitted(), np.asarray([4, 0, 2])
    system.index_texts([document.text for document in training().documents])
    query = "oven crust salt salt tide"
    scores = system.scores(query)
    assert system.score(query, rows).tolist() == scores[rows].tolist()
    assert scores.max() <= system.best_possible(query)
    for row in rows.tolist():
        parts = system.explain(query, row, training().documents[row].text)
        assert sum(part.score for part in parts) == pytest.approx(scores[row])


def test_saving_and_loading_changes_no_score(tmp_path):
    system = fitted()
    system.index_texts(["dough yeast", "comet gravity", ""])
    system.save(tmp_path)
    loaded = Topic(system.options, "en", "en").load(tmp_path)
    assert loaded.scores("oven moon").tolist() == system.scores("oven moon").tolist()


def test_parts_that_do_not_fit_are_found(tmp_path):
    system = fitted()
    system.index_texts(["dough"])
    system.save(tmp_path)
    np.save(tmp_path / "theta.npy", np.ones((2, 3), dtype=np.float32))
    with pytest.raises(ValueError, match="does not fit"):
        Topic(system.options, "en", "en").load(tmp_path)


def test_the_answers_of_dev_questions_teach_nothing():
    held = training()
    changed = training()
    for number in (57, 58, 59):
        changed.documents.documents[number] = Document(f"d{number}", "dough " * 50)
    models = []
    for dataset in (held, changed):
        system = Topic(TopicOptions(topics=3, rounds=5), "en", "en")
        system.fit(dataset)
        models.append(system._topics.answer_words)
    assert np.array_equal(*models)


def test_a_train_split_without_answers_is_an_error():
    dataset = training()
    dataset.judgments = Judgments()
    with pytest.raises(InputError, match="no query with a relevant document"):
        Topic(TopicOptions(), "en", "en").fit(dataset)
