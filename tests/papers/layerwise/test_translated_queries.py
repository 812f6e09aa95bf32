"""How queries reach the translator: together, once, and by their ids."""

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.papers.layerwise.translated_queries import TranslatedQueries, TranslatorOptions
from isogloss.storage.errors import InputError
from isogloss.translation.translators import Translator


class Shouting(Translator):
    """Counts what it is asked."""

    def __init__(self):
        self.calls = []

    def translate(self, texts, ids=()):
        self.calls.append((list(texts), list(ids)))
        return [text.upper() for text in texts]


@pytest.fixture
def shouted():
    translated = TranslatedQueries("test", TranslatorOptions(), "en", "fr")
    translated.translator = Shouting()
    return translated


def test_texts_asked_for_together_are_translated_together_and_once(shouted):
    assert shouted(["a", "b"]) == ["A", "B"]
    assert shouted(iter(["b", "a"])) == ["B", "A"]
    assert [texts for texts, _ in shouted.translator.calls] == [["a", "b"]]
    assert shouted([]) == []


def test_the_queries_of_a_split_are_translated_at_the_first_of_them(shouted):
    data = load_dataset(Demo(), ("en", "fr"))
    shouted.learn(data)
    assert shouted.translator.calls == []
    for query in data.split("dev"):
        assert shouted([query.text]) == [query.text.upper()]
    assert shouted(["none of them"]) == ["NONE OF THEM"]
    dev = data.split("dev")
    assert shouted.translator.calls == [
        ([query.text for query in dev], [query.id for query in dev]),
        (["none of them"], [""]),
    ]


def test_ready_translations_are_found_by_the_ids_of_the_queries(tmp_path):
    data = load_dataset(Demo(), ("en", "fr"))
    dev = data.split("dev")
    path = tmp_path / "ready.tsv"
    path.write_text("".join(f"{query.id}\ttraduction {query.id}\n" for query in dev[1:]), encoding="utf-8")
    strict, lenient = (
        TranslatedQueries("test", TranslatorOptions(translator=f"file:{path}", missing=missing), "en", "fr")
        for missing in ("error", "keep")
    )
    lenient.learn(data)
    assert lenient([dev[1].text, dev[0].text]) == [f"traduction {dev[1].id}", dev[0].text]
    strict.learn(data)
    with pytest.raises(InputError, match=f"no translation of 1 of {len(dev)} texts .'{dev[0].id}'."):
        strict([dev[1].text])
