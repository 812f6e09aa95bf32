"""Systems that are ready to index: fitted to all that the documents come with."""

from itertools import chain

import pytest

from isogloss.data.dataset import all_for_training, load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.index.fitting import ready_system, ready_systems
from isogloss.papers.adhoc.aligned import Aligned
from isogloss.papers.smooth.system import Smooth
from isogloss.storage.errors import InputError


@pytest.fixture
def splits_of(monkeypatch):
    """The splits that a system is fitted to."""

    def fitted(name, system):
        seen = []
        monkeypatch.setattr(system, "fit", lambda _, training: seen.append(training))
        ready_system(name, Demo(), ("en", "fr"))
        return {name: len(queries) for name, queries in seen[0].splits.items()}

    return fitted


def test_every_judged_query_is_trained_on_where_documents_are_only_indexed(splits_of):
    whole = load_dataset("demo", "en-fr")
    assert splits_of("aligned", Aligned) == {"train": len(whole.queries)}
    assert sorted(all_for_training(whole).splits["train"]) == sorted(chain(*whole.splits.values()))


def test_a_system_that_stops_by_the_dev_split_keeps_it(splits_of):
    whole = load_dataset("demo", "en-fr")
    dev = len(whole.splits["dev"])
    assert splits_of("smooth", Smooth) == {"train": len(whole.queries) - dev, "dev": dev}


def test_of_one_language_bm25_takes_the_place_of_systems_that_translate_and_of_no_other():
    systems = ready_systems("bridge", Demo(), ["en"], "en", {"passages": "20"})
    assert (systems["en"].name, systems["en"].options.passages) == ("bm25", 20)
    assert systems["en"].options.drop_stop_words
    assert ready_system("bm25", Demo(), ("en", "en")).options.drop_stop_words is False
    assert ready_system("aligned", Demo(), ("en", "en"), {"dimension": "5"}).name == "aligned"


def test_an_option_that_the_system_does_not_have_is_an_error_in_one_language_too():
    with pytest.raises(InputError, match="bridge: has no option 'speed'"):
        ready_system("bridge", Demo(), ("en", "en"), {"speed": "9"})
