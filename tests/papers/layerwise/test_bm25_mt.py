"""``bm25-mt``: the query is translated, then searched."""

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.evaluation.protocols import make_task
from isogloss.papers.layerwise.translated_queries import TranslatedBM25, TranslatedBM25Options
from isogloss.storage.errors import InputError
from isogloss.systems.bm25 import LexicalOptions, UntranslatedBM25
from isogloss.systems.evaluate import evaluate_system

DOCUMENTS = ["la mer est salée", "le miel des abeilles", "le pain du boulanger", "the sea"]


@pytest.fixture
def lexicon(tmp_path):
    path = tmp_path / "en-fr.tsv"
    path.write_text("sea\tmer\nbee\tabeille\nbread\tpain\nthe\tle\n", encoding="utf-8")
    return path


def made(**options):
    system = TranslatedBM25(TranslatedBM25Options(**options), "en", "fr")
    system.index_texts(DOCUMENTS)
    return system


def same(system, query, translation):
    """Whether a query scores as its translation does."""
    plain = UntranslatedBM25(LexicalOptions(), "fr", "fr")
    plain.index_texts(DOCUMENTS)
    return system.scores(query).tolist() == plain.scores(translation).tolist()


def test_a_query_scores_as_its_translation_would(lexicon, tmp_path):
    ready = tmp_path / "ready.tsv"
    ready.write_text("the bees of the sea\tles abeilles de la mer\n", encoding="utf-8")
    query = "the bees of the sea"
    assert same(made(lexicon=str(lexicon)), query, "le abeille le mer")
    assert same(made(translator=f"lexicon:{lexicon}"), query, "le abeille le mer")
    assert same(made(translator=f"lexicon:{tmp_path}/{{pair}}.tsv"), query, "le abeille le mer")
    assert same(made(translator=f"file:{ready}"), query, "les abeilles de la mer")
    assert made(translator=f"file:{ready}").translations(query) == [(query, ["les abeilles de la mer"])]


def test_a_query_without_a_ready_translation_is_an_error_or_stays(lexicon):
    with pytest.raises(InputError, match=r"no translation of 1 of 1 texts \('honey'\)"):
        made(translator=f"file:{lexicon}").scores("honey")
    assert same(made(translator=f"file:{lexicon}", missing="keep"), "miel", "miel")


def test_saved_with_its_lexicon_it_needs_no_other(lexicon, tmp_path):
    (tmp_path / "saved").mkdir()
    system = made(lexicon=str(lexicon))
    system.save(tmp_path / "saved")
    lexicon.unlink()
    loaded = TranslatedBM25(TranslatedBM25Options(), "en", "fr").load(tmp_path / "saved")
    assert loaded.scores("bees").tolist() == system.scores("bees").tolist() != [0.0] * 4
    (tmp_path / "saved" / "translator.tsv").unlink()
    with pytest.raises(InputError, match=r"translator\.tsv: no such file"):
        TranslatedBM25(TranslatedBM25Options(), "en", "fr").load(tmp_path / "saved")


def test_saved_with_ready_translations_it_has_a_copy_of_them(lexicon, tmp_path):
    (tmp_path / "saved").mkdir()
    made(translator=f"file:{lexicon}").save(tmp_path / "saved")
    lexicon.unlink()
    options = TranslatedBM25Options(translator=f"file:{lexicon}")
    assert TranslatedBM25(options, "en", "fr").load(tmp_path / "saved").scores("bread").argmax() == 2


def test_a_lexicon_can_be_induced_and_is_kept(tmp_path):
    data = load_dataset(Demo(), ("en", "fr"))
    for options in (TranslatedBM25Options(lexicon="induced"), TranslatedBM25Options(translator="lexicon:induced")):
        system = TranslatedBM25(options, "en", "fr")
        assert system.learns
        with pytest.raises(InputError, match="has to induce its lexicon first"):
            system.index_texts(DOCUMENTS)
        system.fit(data)
        system.index_texts(DOCUMENTS)
    system.save(tmp_path)
    loaded = TranslatedBM25(options, "en", "fr").load(tmp_path)
    assert loaded.translations("how bees make honey") == system.translations("how bees make honey")


@pytest.mark.parametrize("language", ["fr", "zh"])
@pytest.mark.parametrize("protocol", ["full", "sampled"])
def test_on_the_bundled_collection_it_beats_the_floor(language, protocol):
    task = make_task(load_dataset(Demo(), ("en", language)), "dev", protocol)
    options = TranslatedBM25Options(lexicon=str(Demo().lexicon(("en", language))))
    translated, floor = (
        evaluate_system(system, task, ("text",)).means()["MRR_mr"]
        for system in (TranslatedBM25(options, "en", language), UntranslatedBM25(LexicalOptions(), "en", language))
    )
    assert translated > floor


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "bm25-mt: needs a bilingual lexicon: lexicon='FILE', or another translator"),
        ({"translator": "babel"}, "translator: 'babel' is none of lexicon:FILE"),
        ({"missing": "guess"}, "bm25-mt: missing 'guess' is neither error nor keep"),
        ({"translator": "file:nowhere.tsv"}, "nowhere.tsv: no such file"),
    ],
)
def test_what_cannot_work_is_said_before_the_work(options, said):
    with pytest.raises(InputError, match=said):
        made(**options)
