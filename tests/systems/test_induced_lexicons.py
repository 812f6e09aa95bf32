"""Systems that translate with what the translated pages of the train split show."""

import pytest

from isogloss.data.dataset import all_for_training, load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.jsonl import Jsonl
from isogloss.evaluation.protocols import make_task
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError
from isogloss.systems.evaluate import evaluate_system
from isogloss.systems.registry import make_system


@pytest.mark.parametrize("language", ["sw", "zh"])
def test_a_lexicon_induced_from_train_pages_beats_no_lexicon(language):
    task = make_task(load_dataset(Demo(), ("en", language)), "train", "full")
    mrr = {
        name: evaluate_system(make_system(name, ("en", language), settings), task, ("text",)).means()["MRR_mr"]
        for name, settings in (("bm25", {}), ("psq", {"lexicon": "induced"}))
    }
    assert mrr["psq"] > mrr["bm25"] + 0.2


def test_only_systems_that_are_told_to_induce_learn():
    assert make_system("psq", ("en", "fr"), {"lexicon": "induced"}).learns
    assert not make_system("psq", ("en", "fr"), source=Demo()).learns
    assert make_system("aligned", ("en", "fr"), source=Demo()).learns


def test_an_index_keeps_the_lexicon_that_was_induced(tmp_path):
    make_index(tmp_path / "index", "psq", Demo(), ["fr"], settings={"lexicon": "induced"})
    searcher = Searcher(open_index(tmp_path / "index"))
    system = make_system("psq", ("en", "fr"), {"lexicon": "induced"})
    system.fit(all_for_training(load_dataset(Demo(), ("en", "fr"))))
    assert searcher.languages["fr"].system.concepts("how bees make honey") == system.concepts("how bees make honey")


@pytest.mark.parametrize("name", ["psq", "bm25-dict", "aligned"])
def test_without_translated_pages_a_lexicon_is_asked_for(tmp_path, name):
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"id": "a", "lang": "fr", "text": "le phare"}\n{"id": "b", "lang": "en", "text": "the boat"}\n')
    with pytest.raises(InputError, match=f"^{name}: needs a lexicon"):
        make_index(tmp_path / "index", name, Jsonl(str(pages)), ["fr"], settings={"lexicon": "induced"})
    assert not (tmp_path / "index").exists()
