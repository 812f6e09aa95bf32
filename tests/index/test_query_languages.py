"""An index for queries in several languages: documents once, a system for each pair."""

import shutil

import pytest

from isogloss.data.readers.demo import Demo
from isogloss.index.checking import check_index, repair_index
from isogloss.index.making import make_index, re_encode
from isogloss.index.reader import open_index
from isogloss.search.public import Index
from isogloss.search.query_language import query_language_note, read_query_language
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError

ASKED = {"en": "why do volcanoes erupt", "fr": "pourquoi un volcan entre en éruption"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("asked") / "index"
    make_index(path, "bridge", Demo(), ["fr", "es"], ["en", "fr"], settings={"epochs": "0"})
    return path


@pytest.fixture
def index(made, tmp_path):
    shutil.copytree(made, tmp_path / "index")
    return Index.open(tmp_path / "index")


def first(index, query, **options):
    return [hit.document.id for hit in index.search(query, k=1, **options)]


def test_there_is_a_system_for_each_pair_and_the_documents_once(made):
    opened = open_index(made)
    names = {
        asked: {language: each.system.name for language, each in indexes.items()}
        for asked, indexes in opened.by_query_language.items()
    }
    assert names == {"en": {"fr": "bridge", "es": "bridge"}, "fr": {"fr": "bm25", "es": "bridge"}}
    assert sorted(path.name for path in made.glob("segments/*/system/*")) == ["en", "en", "fr", "fr"]
    assert len(list(made.glob("segments/*/arrays.bin"))) == 2
    assert opened.manifest.sources == {"en": 104}


@pytest.mark.parametrize("language", ASKED)
@pytest.mark.parametrize("named", [True, False])
def test_a_query_is_searched_in_its_language_named_or_detected(index, language, named):
    options = {"query_language": language} if named else {}
    assert first(index, ASKED[language], languages=["es"], **options) == ["es-volcano"]
    assert index.query_languages == ["en", "fr"]


def test_each_of_many_queries_has_its_own_language(index):
    found = index.search_many(list(ASKED.values()) * 2, k=1, languages=["es"])
    assert [hit.document.id for hits in found for hit in hits] == ["es-volcano"] * 4


def test_a_language_that_the_index_does_not_take_is_an_error(index):
    with pytest.raises(InputError, match=r"'de' is not a language that this index takes queries in; it takes en, fr"):
        index.search("Honig", query_language="de")


@pytest.mark.parametrize(
    ("query", "named", "language", "note"),
    [
        ("how bees make honey", "", ("en", "en"), ""),
        ("comment les abeilles font le miel", "", ("fr", "fr"), ""),
        ("honey", "fr", ("fr", "fr"), ""),
        ("honey", "it", ("en", "it"), "query in 'it'; the index expects queries in 'en' or 'fr'"),
        ("por qué las abejas hacen la miel", "", (None, "es"), "'es', the language of the documents themselves; the"),
    ],
)
def test_the_user_is_told_where_a_query_is_in_another_language(made, query, named, language, note):
    opened = open_index(made)
    found = read_query_language(query, opened, named)
    assert found.seems == language[1]
    assert language[0] in (None, found.searched)
    assert note in query_language_note(found, opened)
    assert bool(note) == bool(query_language_note(found, opened))


def test_words_that_are_known_tell_the_language_of_short_queries(made):
    opened = open_index(made)
    assert [read_query_language(word, opened).searched for word in ("sea", "mer", "bread", "pain")] == [
        "en", "fr", "en", "fr",
    ]  # fmt: skip


def test_documents_are_added_deleted_and_merged_for_all_queries(index):
    index.add([{"id": "new", "text": "El volcán entra en erupción y arroja lava.", "lang": "es"}])
    for language, query in ASKED.items():
        found = [hit.document.id for hit in index.search(query, languages=["es"], query_language=language)]
        assert "new" in found
    index.compact()
    assert index.about()["segments"] == 2
    index.delete(["es-volcano", "new"])
    for language, query in ASKED.items():
        found = [hit.document.id for hit in index.search(query, query_language=language)]
        assert not {"es-volcano", "new"} & set(found)
        assert "fr-volcano" in found
    assert check_index(index.path)[1] == []


def test_a_damaged_part_of_one_system_is_made_again_for_all(index, damage_array):
    before = {language: first(index, query) for language, query in ASKED.items()}
    damage_array(next(index.path.glob("segments/es-*")), "system/fr/texts.offsets.npy")
    assert repair_index(index.path).restored == {"es": 104}
    assert {language: first(index.refresh(), query) for language, query in ASKED.items()} == before


def test_all_systems_are_replaced_when_documents_are_encoded_anew(index):
    re_encode(index.path, "psq", Demo(), {"lexicon": "induced"})
    opened = index.refresh().searcher.index
    assert {each.system.name for each in opened.by_query_language["en"].values()} == {"psq"}
    assert opened.manifest.query_languages == ("en", "fr")
    assert first(index, ASKED["fr"], languages=["es"], query_language="fr") == ["es-volcano"]


def test_documents_to_search_with_are_those_of_each_language(made):
    searcher = Searcher(open_index(made))
    assert [searcher.source(*which).language for which in (("1",), ("1", "fr"), ("1", "xx"))] == ["en", "fr", "en"]


@pytest.mark.parametrize("languages", [[], ["en", "en"], ["klingon"]])
def test_wrong_languages_of_queries_are_errors(tmp_path, pages, languages):
    with pytest.raises(InputError, match="language"):
        make_index(tmp_path / "index", "bm25", pages(), ["fr"], languages)


def test_an_engine_takes_queries_in_one_language(tmp_path, pages):
    with pytest.raises(InputError, match="one vector of each document, for queries in one language"):
        make_index(tmp_path / "index", "aligned", pages(), ["fr"], ["en", "it"], engine="qdrant:store")
