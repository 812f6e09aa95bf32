"""Documents whose languages nobody names: mixed folders in one index, each language with what searches it best."""

import json

import pytest

from isogloss.data.dataset import load_collection
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.index.detecting import languages_to_index, only_languages, with_languages
from isogloss.index.making import make_index
from isogloss.index.reader import open_index
from isogloss.index.writer import IndexWriter
from isogloss.search.public import Index
from isogloss.search.searcher import Searcher
from isogloss.storage.errors import InputError

TEXTS = {
    "miel.txt": "Les abeilles fabriquent le miel avec le nectar des fleurs et le gardent dans la ruche.",
    "mer.md": "# La mer\n\nLa mer est salée parce que les rivières y apportent le sel des roches.",
    "notes/bees.txt": "Bees make honey from the nectar of flowers, and keep it in the hive for the winter.",
    "notes/milk.txt": "Buy milk.",
    "brot.txt": "Der Bäcker backt das Brot am frühen Morgen und verkauft es auf dem Markt.",
    "guide.zh.txt": "蜜蜂用花蜜酿造蜂蜜，并把它储存在蜂巢里过冬。",
}
LEXICON = {"honey": ["miel", "蜂蜜"], "bee": "abeille", "bread": "Brot", "sea": "mer", "salt": "sel", "salty": "salé"}


@pytest.fixture
def mixed(tmp_path):
    for name, text in TEXTS.items():
        path = tmp_path / "mixed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return open_source(str(tmp_path / "mixed"))


@pytest.fixture
def index(mixed, tmp_path):
    return Index.make(mixed, path=tmp_path / "index", lexicon=LEXICON)


def languages_of(index):
    return {hit.language for hit in index}


def test_a_mixed_folder_becomes_one_index_of_all_its_languages(index):
    assert index.about()["documents"] == {"fr": 2, "en": 2, "de": 1, "zh": 1}
    assert index.get("notes/milk.txt").language == "en"
    assert index.get("guide.zh.txt").title == "guide"
    assert index.about()["system"] == "bridge"


def test_one_query_finds_documents_of_all_languages_its_own_too(index):
    assert {hit.document.id for hit in index.search("honey")} == {"miel.txt", "notes/bees.txt", "guide.zh.txt"}
    assert [hit.document.id for hit in index.search("bread")] == ["brot.txt"]
    assert [hit.document.id for hit in index.search("milk")] == ["notes/milk.txt"]


def test_documents_in_the_language_of_the_queries_are_searched_by_bm25_without_stop_words(index):
    systems = {language: each.system for language, each in index.searcher.languages.items()}
    assert {language: system.name for language, system in systems.items()} == {
        "fr": "bridge", "en": "bm25", "de": "bridge", "zh": "bridge",
    }  # fmt: skip
    assert systems["en"].options.passages == systems["fr"].options.passages > 0
    assert languages_of(index.search("why is the sea salty")) == {"fr"}


def test_parts_of_an_explanation_sum_to_the_score_in_a_mixed_list(index):
    for hit in index.search("honey of bees", explain=True):
        assert sum(part.score for part in hit.explanation) == pytest.approx(hit.score, rel=1e-4)
        assert index.explain("honey of bees", hit.document.id, hit.language) == hit.explanation


def test_what_comes_first_does_not_depend_on_how_many_are_wanted(index):
    listed = [hit.document.id for hit in index.search("honey of bees")]
    for k in range(1, len(listed) + 1):
        assert [hit.document.id for hit in index.search("honey of bees", k)] == listed[:k]
        assert [hit.document.id for hit in index.search_many(["honey of bees"], k)[0]] == listed[:k]


def test_a_language_of_its_own_wins_over_what_a_text_looks_like(tmp_path):
    lines = [{"id": "a", "text": TEXTS["miel.txt"], "lang": "it"}, {"id": "b", "text": TEXTS["miel.txt"]}]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert with_languages(open_source(str(tmp_path / "pages.jsonl"))).counts == {"it": 1, "fr": 1}


def test_pages_in_the_language_of_judged_queries_are_stored_to_search_with():
    detected = with_languages(open_source("demo"))
    assert set(languages_to_index(detected, ["en"])) == {"fr", "it", "es", "sw", "tl", "zh"}
    assert set(languages_to_index(detected, ["en", "fr"])) == set(detected.counts)
    assert len(load_collection(detected.source, "en")) == 104


@pytest.mark.parametrize(
    ("files", "languages"),
    [
        (("wiki_en.documents", "wiki_fr.documents", "en2fr.rel"), ["fr"]),
        (("wiki_en.documents", "wiki_fr.documents"), ["en", "fr"]),
    ],
)
def test_the_names_of_files_say_the_language(tmp_path, files, languages):
    for name in files:
        (tmp_path / name).write_text("" if name.endswith("rel") else f"{name}\t-\t42\n", encoding="utf-8")
    detected = with_languages(open_source(f"wikiclir:{tmp_path}"))
    assert detected.counts == {"en": 1, "fr": 1}
    assert languages_to_index(detected, ["en"]) == languages


def test_documents_of_trec_and_beir_have_languages_too(tmp_path):
    (tmp_path / "documents.fr.jsonl").write_text('{"id": "1", "text": "42"}\n', encoding="utf-8")
    assert with_languages(open_source(f"trec:{tmp_path}")).counts == {"fr": 1}
    (tmp_path / "documents.fr.jsonl").rename(tmp_path / "documents.jsonl")
    (tmp_path / "documents.jsonl").write_text('{"id": "1", "text": "42", "lang": "sw"}\n', encoding="utf-8")
    assert with_languages(open_source(f"trec:{tmp_path}")).counts == {"sw": 1}
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "1", "text": TEXTS["brot.txt"]}), encoding="utf-8")
    assert with_languages(open_source(f"beir:{tmp_path}")).counts == {"de": 1}


def test_added_documents_are_detected_and_a_new_language_is_begun(index, tmp_path):
    index.add(["Il fornaio prepara il pane ogni mattina con la farina e l'acqua."], lexicon={"bread": "pane"})
    index.add(["Le miel du printemps est clair et doux comme le soleil du matin.", "Buy honey."])
    assert index.about()["documents"] == {"fr": 3, "en": 3, "de": 1, "zh": 1, "it": 1}
    assert languages_of(index.search("bread")) == {"de", "it"}
    assert len(index.search("honey", languages=["fr"])) == 2


def test_english_documents_alone_make_an_index_that_can_take_others_later():
    index = Index.make([TEXTS["notes/bees.txt"], "The sea is salty."])
    assert [hit.document.id for hit in index.search("honey")] == ["1"]
    index.add([TEXTS["brot.txt"]], lexicon=LEXICON)
    assert (index.languages, languages_of(index.search("bread"))) == (["en", "de"], {"de"})


def test_an_empty_folder_and_texts_without_a_language_are_errors(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "page.pdf").write_bytes(b"%PDF")
    with pytest.raises(InputError, match=r"^folder:.*empty: has no documents; 1 file skipped: 1 damaged \(page\.pdf\)"):
        make_index(tmp_path / "index", "bm25", open_source(str(tmp_path / "empty")))
    (tmp_path / "empty" / "page.txt").write_text("42", encoding="utf-8")
    with pytest.raises(InputError, match=r"^folder:.*cannot be detected.*; name it: language='fr'"):
        make_index(tmp_path / "index", "bm25", open_source(str(tmp_path / "empty")))
    (tmp_path / "empty" / "page.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"1 unknown character set \(page\.txt\)"):
        make_index(tmp_path / "index", "bm25", open_source(str(tmp_path / "empty")))
    assert not (tmp_path / "index").exists()


def test_a_language_that_the_system_cannot_take_is_named(tmp_path, pages, lexicons):
    make_index(tmp_path / "index", "psq", pages(), settings=lexicons)
    index = Index.open(tmp_path / "index")
    assert index.languages == ["fr", "it"]
    with pytest.raises(InputError, match="cannot take documents in 'de'"):
        index.add([TEXTS["brot.txt"]])
    assert open_index(tmp_path / "index").generation == 1


def test_bad_lines_are_counted_where_they_are_skipped(tmp_path):
    text = json.dumps({"id": "1", "text": TEXTS["brot.txt"]}) + '\n{"id"\n'
    (tmp_path / "pages.jsonl").write_text(text, encoding="utf-8")
    source, problems = open_source(str(tmp_path / "pages.jsonl")), Problems(stop_at_errors=False)
    assert make_index(tmp_path / "index", "bm25", source, problems=problems).documents == {"de": 1}
    assert problems.errors == {"malformed line": 1}
    assert Searcher(open_index(tmp_path / "index")).get("1").language == "de"


GERMAN = "Der Bäcker backt das Brot am frühen Morgen, und die Leute kaufen es gern in der Stadt.\n\n"
FRENCH = "Le boulanger prépare le pain chaque matin, et les gens l'achètent volontiers en ville.\n\n"


def mixed_folder(path, files):
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return str(path)


def test_a_named_language_leaves_out_files_that_are_beyond_doubt_in_others(tmp_path):
    files = {"a.txt": GERMAN, "b.txt": FRENCH, "c.txt": "Radio", "zh-cn/d.txt": GERMAN * 2}
    problems = Problems()
    source = only_languages(open_source(mixed_folder(tmp_path, files)), ["de"], problems)
    assert [document.id for _, document in source.documents("de", problems)] == ["a.txt", "c.txt", "zh-cn/d.txt"]
    assert problems.told_skipped() == "1 file skipped: 1 in other languages (b.txt)"


def test_a_folder_is_never_taken_as_one_language_without_a_word(tmp_path):
    folder = mixed_folder(tmp_path, {"zh-cn/a.txt": FRENCH * 3, "fr/b.txt": FRENCH, "c.txt": GERMAN})
    with pytest.raises(InputError, match=r"no documents in 'zh'; 3 files skipped: 3 in other languages"):
        Index.make(folder, "zh-cn", system="bm25", path=tmp_path / "index")
    assert Index.make(folder, "french", system="bm25").languages == ["fr"]


def test_a_file_in_two_languages_makes_a_document_of_each(tmp_path):
    text = GERMAN * 30 + "```\nx = 1\n\ny = 2\n```\n\n" + FRENCH * 25 + "Radio\n\n" + GERMAN
    made = Index.make(mixed_folder(tmp_path, {"a/manual.txt": text}), system="bm25")
    assert made.about()["documents"] == {"de": 1, "fr": 1}
    german, french = made.get("a/manual.txt"), made.get("a/manual.txt#fr")
    assert german.fields == french.fields == {"path": "a/manual.txt", "kind": "text"}
    assert german.text == (GERMAN * 30).strip() + "\n\n```\nx = 1\n\ny = 2\n```"
    assert french.text == FRENCH * 25 + "Radio\n\n" + GERMAN.strip(), "one paragraph is a quotation"


def test_a_file_with_a_quotation_is_one_document(tmp_path):
    made = Index.make(mixed_folder(tmp_path, {"a.txt": GERMAN * 20 + FRENCH * 2 + GERMAN * 20}), system="bm25")
    assert made.about()["documents"] == {"de": 1}


@pytest.mark.parametrize("language", ["de", "DE", "German", "de-AT", "deu"])
def test_a_language_is_known_by_any_of_its_names_when_searching_and_deleting(language, tmp_path):
    made = Index.make(mixed_folder(tmp_path, {"a.txt": GERMAN, "b.txt": FRENCH}), system="bm25", path=tmp_path / "ix")
    assert [hit.document.id for hit in made.search("Brot", languages=[language])] == ["a.txt"]
    with IndexWriter(made.path) as writer:
        assert writer.delete(["a.txt"], [language]) == 1
