"""The toy collection: articles asked with their most typical words."""

from isogloss.data.documents import Collection, Document
from isogloss.papers.toy import ToyAnswer, ask_toy, typical_words
from isogloss.systems.registry import make_system


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
    assert ask_toy(system, sources, targets) == [
        ToyAnswer("sea salt", "f1", "f2", 2),
        ToyAnswer("bread salt", "f2", "f2", 1),
        ToyAnswer("yak", "f3", "", 0),
        ToyAnswer("boat", "", "", 0),
    ]
