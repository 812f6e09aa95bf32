"""Documents with translations of the user's own: which are paired, and what is trained on."""

from __future__ import annotations

import json

import pytest

from isogloss.data.dataset import load_collection, load_dataset, load_training
from isogloss.data.in_memory import as_source
from isogloss.data.parallel import translated_pages
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.data.translations import OwnTranslations, add_parallel_text
from isogloss.storage.errors import InputError


def page(text, **front_matter):
    head = "".join(f"{key}: {value}\n" for key, value in front_matter.items())
    return (f"---\n{head}---\n" if head else "") + text


def add_translations(source, translations, languages, query_language="en", key="", problems=None):
    """The source with translations, and what the user is told."""
    notes = []
    own = OwnTranslations(translations, key, notes.append)
    return own.added_to(source, languages, [query_language], problems=problems)[0], notes


def lines(*pages):
    return "".join(json.dumps(each) + "\n" for each in pages)


@pytest.fixture
def paired(put):
    """The pairs of texts that are found between two folders or files, the notes, and the source."""

    def find(files, documents="es", translations="en", language=("es",), key="", problems=None):
        directory = put(files)
        source, notes = add_translations(
            open_source(str(directory / documents)), [str(directory / translations)], language, "en", key, problems
        )
        found = {each: translated_pages(load_training(source, ("en", each))) for each in language}
        return sorted(found[language[0]]), [note.replace(f"{directory}/", "") for note in notes], source

    return find


def test_files_of_two_folders_are_paired_by_their_paths(paired):
    files = {
        "es/a.md": "# Uno\n\nEl uno. Más.", "es/sub/a.md": "El dos.", "es/solo.md": "Nadie.",
        "en/a.md": "# One\n\nNumber one. More.", "en/sub/a.md": "Number two.", "en/other.md": "Nobody.",
    }  # fmt: skip
    found, notes, source = paired(files)
    assert found == [("Number one. More.", "El uno. Más."), ("Number two.", "El dos.")]
    assert notes == ["2 of 3 documents have a translation in en"]
    data = load_dataset(source, "en-es")
    assert [(query.id, query.text, query.title) for query in data.queries.values()] == [
        ("a.md", "Number.", "One"), ("sub/a.md", "Number two.", "a"),
    ]  # fmt: skip
    assert data.splits == {"train": ["a.md", "sub/a.md"]}
    assert {(query, document) for query, document, _ in data.judgments} == {("a.md", "a.md"), ("sub/a.md", "sub/a.md")}
    assert data.source_documents.ids == ["a.md", "other.md", "sub/a.md"]


@pytest.mark.parametrize(
    ("document", "translation"),
    [
        ("guide.es.md", "guide.en.md"), ("guide_es.md", "guide_en.md"), ("guide-es.md", "guide-en.md"),
        ("es/guide.md", "en/guide.md"), ("guide.es.html", "guide.en.txt"), ("guide.es.md", "guide.md"),
        ("guide_es.md", "guide.md"), ("docs/es/a/guide.md", "docs/en-US/a/guide.html"),
        ("guide.es-MX.md", "guide.en.md"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("together", [True, False], ids=["one folder", "two folders"])
def test_the_language_in_a_path_makes_no_difference(paired, document, translation, together):
    folders = ("all", "all") if together else ("first", "second")
    files = {f"{folders[0]}/{document}": "La guía.", f"{folders[1]}/{translation}": "The guide."}
    found, notes, source = paired(files, *folders)
    assert found == [("The guide.", "La guía.")]
    assert notes == [f"1 of 1 documents have a translation in {folders[1]}"]
    assert [each.text for each in load_collection(source, "es")] == ["La guía."]


@pytest.mark.parametrize("key", ["translation_key", "translationKey", "slug", "original_slug"])
def test_front_matter_pairs_files_of_different_names(paired, key):
    files = {
        "es/guia.md": page("La guía.", title="Guía", **{key: '"docs/guide"'}),
        "en/guide.md": page("The guide.", **{key: "docs/guide"}),
        "en/broken.md": "---\nnot closed",
    }
    assert paired(files)[0] == [("The guide.", "La guía.")]


def test_a_translation_key_counts_before_the_path_and_a_slug_after_it(paired):
    files = {
        "es/a.md": page("Uno.", translation_key="one", slug="x"), "en/a.md": page("Two.", translation_key="two"),
        "es/b.md": page("Dos.", translation_key="two"), "en/b.md": page("One.", translation_key="one"),
        "es/c.md": page("Tres.", slug="x"), "en/c.md": page("Three.", slug="y"),
    }  # fmt: skip
    assert paired(files)[0] == [("One.", "Uno."), ("Three.", "Tres."), ("Two.", "Dos.")]


def test_a_key_that_the_user_names_is_the_only_one(paired):
    files = {
        "es/a.md": page("Uno.", code="1"), "en/b.md": page("One.", code="1"),
        "es/c.md": "Dos.", "en/c.md": "Not two.",
    }  # fmt: skip
    assert paired(files, key="code")[0] == [("One.", "Uno.")]
    what = r"en: no page is the translation of a document of .*es: compared the key 'isbn', which 0 of 2 documents and"
    with pytest.raises(InputError, match=what):
        paired(files, key="isbn")


def test_a_key_that_occurs_twice_pairs_nothing_and_is_a_warning(paired):
    files = {
        "es/a.md": page("Uno.", slug="same"), "es/b.md": page("Dos.", slug="same"),
        "en/c.md": page("One.", slug="same"), "es/d.md": "Tres.", "en/d.md": "Three.",
    }  # fmt: skip
    problems = Problems()
    found, notes, _ = paired(files, problems=problems)
    assert (found, notes) == ([("Three.", "Tres.")], ["1 of 3 documents have a translation in en"])
    assert problems.warnings == {"ambiguous translation key": 1}
    assert "es/b.md: 'a.md' and 'b.md' have the same key 'same', so neither is paired by it" in str(problems.kept[0])


def test_pages_that_are_not_translated_yet_or_empty_are_no_translations(paired):
    files = {"es/a.md": "The same.", "en/a.md": "The same.", "es/b.md": "Dos.", "en/b.md": "Two.", "en/c.md": ""}
    files["es/c.md"] = "Tres."
    found, notes, _ = paired(files)
    assert found == [("Two.", "Dos.")]
    assert notes == ["1 of 3 documents have a translation in en; 1 have the same text there"]
    with pytest.raises(InputError, match="the texts of 2 are the same in both, so they are not translated yet"):
        paired({"es/b.md": "Two."})


def test_no_translation_at_all_is_an_error_that_says_what_was_compared(paired):
    files = {"es/guia.md": "La guía.", "en/guide.md": "The guide."}
    what = (
        r"en: no page .* of .*es: compared paths or ids, such as 'guia\.md' with 'guide\.md', translation_key and slug"
    )
    with pytest.raises(InputError, match=what) as raised:
        paired(files)
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="there are no pages beside the documents"):
        paired(files, "es", "es")
    with pytest.raises(InputError, match="there are no documents"):
        paired({"no/a.pdf": "x"}, "no", "en")


def test_markup_is_taken_out_of_html_and_broken_text_is_no_page(paired):
    files = {"es/a.html": "<h1>Uno</h1><script>x</script><p>El uno.</p>", "en/a.html": "<p>Number <b>one</b>.</p>"}
    assert paired(files)[0] == [("Number one.", "El uno.")]
    assert paired(files | {"en/b.md": b"caf\xe9", "es/b.md": "x"})[0] == [("Number one.", "El uno.")]


def test_json_lines_are_paired_by_their_ids_or_by_a_key(paired):
    files = {
        "es.jsonl": lines({"id": 1, "text": "Uno.", "slug": "x"}, {"id": 2, "text": "Dos.", "fields": {"slug": "y"}}),
        "en.jsonl": lines({"id": "1", "text": "One.", "slug": "y"}, {"id": "3", "text": "Three.", "slug": "x"}),
    }
    assert paired(files, "es.jsonl", "en.jsonl")[0] == [("One.", "Uno.")]
    assert paired(files, "es.jsonl", "en.jsonl", key="slug")[0] == [("One.", "Dos."), ("Three.", "Uno.")]


@pytest.mark.parametrize("names", ["document", "page"])
def test_json_lines_of_one_file_are_paired_by_what_they_name(paired, names):
    spanish = {"id": "a", "lang": "es", "text": "Uno."} | ({"translations": {"en": "b"}} if names == "document" else {})
    english = {"id": "b", "lang": "en", "text": "One."} | ({"translations": {"es": "a"}} if names == "page" else {})
    files = {"all.jsonl": lines(spanish, english, {"id": "c", "lang": "es", "text": "Dos."})}
    found, notes, source = paired(files, "all.jsonl", "all.jsonl")
    assert (found, notes) == ([("One.", "Uno.")], ["1 of 2 documents have a translation in all.jsonl"])
    assert load_collection(source, "es").ids == ["a", "c"]


def test_several_languages_are_paired_each_for_itself(paired):
    files = {
        "all/es/a.md": "Uno.",
        "all/fr/b.md": "Deux.",
        "all/sw/x.md": "Tatu.",
        "en/a.md": "One.",
        "en/b.md": "Two.",
    }
    with pytest.raises(InputError, match="the train split has no translated pages for en-sw"):
        paired(files, "all", language=("es", "fr", "sw"))
    _, notes, source = paired(files, "all", language=("es", "fr"))
    assert notes == [
        "1 of 1 documents in es have a translation in en", "1 of 1 documents in fr have a translation in en",
    ]  # fmt: skip
    assert translated_pages(load_dataset(source, "en-fr")) == [("Two.", "Deux.")]


def test_documents_in_the_language_of_the_queries_stay_documents(put):
    directory = put({"all/es/a.md": "Uno.", "all/en/z.md": "Own.", "en/a.md": "One."})
    source, _ = add_translations(open_source(str(directory / "all")), [str(directory / "en")], ["en", "es"])
    assert load_collection(source, "en").ids == ["en/z.md"]
    assert translated_pages(load_training(source, ("en", "es"))) == [("One.", "Uno.")]
    assert load_training(source, ("en", "en")).documents.ids == ["en/z.md"]


def test_programs_give_texts_objects_or_pairs():
    documents = as_source(["Las abejas.", "La miel.", "El volcán."])
    source, notes = add_translations(documents, [["The bees.", "Honey."]], ["es"])
    assert translated_pages(load_training(source, ("en", "es"))) == [
        ("The bees.", "Las abejas."),
        ("Honey.", "La miel."),
    ]
    assert notes == ["2 of 3 documents have a translation in translations"]
    source, _ = add_translations(documents, [[{"id": "3", "text": "The volcano."}]], ["es"])
    assert translated_pages(load_training(source, ("en", "es"))) == [("The volcano.", "El volcán.")]
    source, _ = add_translations(documents, [[("lava", "la lava"), ("ash", "la ceniza")]], ["es"])
    assert translated_pages(load_training(source, ("en", "es"))) == [("lava", "la lava"), ("ash", "la ceniza")]
    with pytest.raises(InputError, match="some are pairs of texts and some are not"):
        add_translations(documents, [[("lava", "la lava"), "ash"]], ["es"])


def test_parallel_text_comes_after_the_pages(put):
    directory = put({"es/a.md": "Uno.", "en/a.md": "One.", "t.tsv": "two\tdos\n"})
    source, notes = add_translations(
        open_source(str(directory / "es")), [str(directory / "t.tsv"), str(directory / "en")], ["es"]
    )
    assert translated_pages(load_training(source, ("en", "es"))) == [("One.", "Uno."), ("two", "dos")]
    assert notes[0] == f"1 translated texts (en-es) in {directory / 't.tsv'}"


def test_parallel_text_in_some_of_the_languages_is_enough(put):
    directory = put({"all/es/a.md": "Uno.", "all/fr/a.md": "Un.", "c.en": "two\n", "c.fr": "deux\n"})
    source, notes = add_translations(open_source(str(directory / "all")), [str(directory / "c")], ["es", "fr"])
    assert len(notes) == 1
    assert load_training(source, ("en", "fr")).parallel == [("two", "deux")]
    assert load_training(source, ("en", "es")).parallel == []
    with pytest.raises(InputError, match="has no lines in en and sw"):
        add_translations(source, [str(directory / "c")], ["sw"])


def test_the_source_s_own_queries_stay_beside_parallel_text(tiny, put):
    table = put({"t.tsv": "two\tdeux\n"}) / "t.tsv"
    source = open_source(tiny("wikiclir", {"splits/en.train": "q1\n"}))
    source = add_parallel_text(source, [str(table)], ("en", "fr"), Problems())
    data = load_dataset(source, "en-fr")
    assert data.splits["train"] == ["q1"]
    assert translated_pages(data) == [("an animal that purrs", "un animal qui ronronne"), ("two", "deux")]


@pytest.mark.parametrize("documents", ["es", "es.jsonl"])
def test_documents_alone_can_be_trained_on_with_parallel_text(put, documents):
    directory = put({"es/a.md": "Uno.", "es.jsonl": lines({"id": "a", "text": "Uno."}), "t.tsv": "two\tdos\n"})
    source = open_source(str(directory / documents))
    data = load_dataset(add_parallel_text(source, [str(directory / "t.tsv")], ("en", "es"), Problems()), "en-es")
    assert (len(data.documents), data.queries, translated_pages(data)) == (1, {}, [("two", "dos")])


def test_what_is_no_translation_is_refused(put):
    directory = put({"es/a.md": "Uno.", "en/a.md": "One.", "t.tsv": "two\tdos\n", "empty.tsv": ""})
    source = open_source(str(directory / "es"))
    table, pages = str(directory / "t.tsv"), str(directory / "en")
    with pytest.raises(InputError, match=r"en: is no parallel text \(\.po"):
        add_parallel_text(source, [pages], ("en", "es"), Problems())
    with pytest.raises(InputError, match="translation_key: is for folders and JSON lines"):
        add_translations(source, [table], ["es"], key="slug")
    with pytest.raises(InputError, match="is a second folder or file of documents; give one"):
        add_translations(source, [pages, pages], ["es"])
    with pytest.raises(InputError, match="documents and queries are all in 'es'"):
        add_translations(source, [pages], ["es"], "es")
    with pytest.raises(InputError, match=r"empty\.tsv: has no text with its translation; is it empty\?"):
        add_translations(source, [str(directory / "empty.tsv")], ["es"])


def test_where_languages_are_not_named_pages_are_no_documents(put):
    directory = put({"all/es/a.md": "Uno.", "all/en/a.md": "One.", "all/en/b.md": "Two.", "all/c.en.md": "Three."})
    source, own = open_source(str(directory / "all")), OwnTranslations([str(directory / "all" / "en")])
    found, languages = own.added_to(source, ["en", "es"], ["en"], named=False)
    assert languages == ["en", "es"]
    assert load_collection(found, "en").ids == ["c.en.md"]
    found, languages = OwnTranslations([str(directory / "all")]).added_to(source, ["en", "es"], ["en"], named=False)
    assert languages == ["es"]
    assert translated_pages(load_training(found, ("en", "es"))) == [("One.", "Uno.")]
    _, languages = own.added_to(source, ["en", "es"], ["en"])
    assert languages == ["en", "es"]


def test_pages_in_several_languages_of_queries_are_told_apart(put):
    files = {
        "es/a.md": "Las abejas hacen miel.", "es/b.md": "El volcán arroja lava.",
        "all/en/a.md": "The bees make honey in summer.", "all/a.de.md": "Die Bienen machen Honig.",
        "plain/a.md": "Die Bienen machen im Sommer den Honig.", "plain/b.md": "The volcano throws out the lava.",
    }  # fmt: skip
    directory = put(files)
    documents = open_source(str(directory / "es"))
    for folder, english, german in (("all", "a", "a"), ("plain", "b", "a")):
        notes = []
        own = OwnTranslations([str(directory / folder)], tell=notes.append)
        found, _ = own.added_to(documents, ["es"], ["en", "de"])
        assert [document for _, document in translated_pages(load_training(found, ("en", "es")))] == [
            files[f"es/{english}.md"].strip()
        ]
        assert [document for _, document in translated_pages(load_training(found, ("de", "es")))] == [
            files[f"es/{german}.md"].strip()
        ]
        assert notes[0] == f"1 of 2 documents in es have a translation (en) in {directory / folder}"
