"""The bundled encyclopedia keeps what it promises, and its judgments are those its links make."""

from __future__ import annotations

import re
from itertools import product

import pytest

from isogloss.cli.main import main
from isogloss.data.dataset import load_dataset
from isogloss.data.problems import Problems
from isogloss.data.readers.demo import DEMO_FOLDER, DEMO_LANGUAGES, Demo
from isogloss.data.readers.registry import open_source
from isogloss.text.normalization import normalize
from isogloss.text.tokenizer import tokenize

OTHERS = [language for language in DEMO_LANGUAGES if language != "en"]


@pytest.fixture(scope="module")
def pages():
    """All pages by their id; any problem raises."""
    problems = Problems()
    found = {page.id: page for _, page in Demo().check(problems)}
    assert not problems.warnings
    return found


def test_there_are_at_least_100_topics_each_in_all_seven_languages(pages):
    by_language = {
        language: {page.id.removeprefix(language) for page in pages.values() if page.language == language}
        for language in DEMO_LANGUAGES
    }
    assert {page.language for page in pages.values()} == set(DEMO_LANGUAGES)
    assert len(by_language["en"]) >= 100
    assert all(topics == by_language["en"] for topics in by_language.values())


def test_every_article_has_40_to_80_words_and_a_title(pages):
    lengths = {
        page.id: len(tokenize(page.text) if page.language == "zh" else page.text.split()) for page in pages.values()
    }
    assert {id_: length for id_, length in lengths.items() if not 40 <= length <= 80} == {}
    assert all(page.title.strip() for page in pages.values())


def test_every_article_has_its_queries_two_in_english_and_one_elsewhere(pages):
    for page in pages.values():
        queries = page.fields["queries"]
        assert len(queries) == (2 if page.language == "en" else 1), page.id
        assert all(tokenize(query) for query in queries), page.id
        if page.language == "en":
            assert [query.endswith("?") for query in queries] == [False, True], page.id


def test_no_query_copies_its_article(pages):
    copied = []
    for page in pages.values():
        size = 8 if page.language == "zh" else 4
        article = ngrams(page.text, page.language, size)
        copied += [query for query in page.fields["queries"] if article & ngrams(query, page.language, size)]
    assert copied == []


def ngrams(text, language, size):
    """N-grams of words, or of characters of Chinese."""
    units = re.sub(r"[\W_]", "", normalize(text)) if language == "zh" else tokenize(text)
    return {tuple(units[start : start + size]) for start in range(len(units) - size + 1)}


def test_all_links_lead_to_other_pages_of_the_same_language(pages):
    for page in pages.values():
        assert page.links, page.id
        assert len(set(page.links)) == len(page.links), page.id
        assert all(pages[link].language == page.language and link != page.id for link in page.links), page.id


def test_all_translations_lead_to_pages_that_lead_back(pages):
    for page in pages.values():
        assert set(page.translations) == set(DEMO_LANGUAGES) - {page.language}, page.id
        for language, id_ in page.translations.items():
            assert pages[id_].language == language, page.id
            assert pages[id_].translations[page.language] == page.id


@pytest.mark.parametrize("language", OTHERS)
def test_a_lexicon_of_at_least_400_english_words_ships_for_every_language(language):
    path = open_source("demo").lexicon(("en", language))
    assert path == DEMO_FOLDER / "lexicon" / f"en-{language}.tsv"
    rows = [tuple(line.split("\t")) for line in path.read_text("utf-8").splitlines()]
    assert all(len(row) == 2 and all(cell and cell == cell.strip() for cell in row) for row in rows)
    assert len(set(rows)) == len(rows)
    assert len({english for english, _ in rows}) >= 400


def test_the_lexicon_has_the_words_of_the_queries(pages):
    words = {
        word for page in pages.values() if page.language == "en" for q in page.fields["queries"] for word in tokenize(q)
    }
    lines = (DEMO_FOLDER / "lexicon" / "en-fr.tsv").read_text("utf-8").splitlines()
    assert len(words & {line.partition("\t")[0] for line in lines}) >= 400


def test_there_is_no_lexicon_from_another_language():
    assert open_source("demo").lexicon(("fr", "en")) is None


def test_grading_the_pages_gives_the_judgments_that_ship_for_all_49_pairs(tmp_path):
    graded = tmp_path / "graded"
    assert main(["data", "grade", "demo", "-o", str(graded), "--quiet"]) == 0
    assert len(list(graded.glob("*.rel"))) == 49
    demo, directory = open_source("demo"), open_source(f"wikiclir:{graded}")
    for pair in product(DEMO_LANGUAGES, DEMO_LANGUAGES):
        ours, written = load_dataset(demo, pair), load_dataset(directory, pair)
        assert len(ours.judgments) > 0
        assert written.judgments == ours.judgments, pair
        assert written.splits == ours.splits, pair
        assert [(d.id, d.title, d.text) for d in written.documents] == [
            (d.id, d.title, d.text) for d in ours.documents
        ], pair
        assert {q.id: q.text for q in written.queries.values()} == {q.id: q.text for q in ours.queries.values()}, pair


def test_every_query_has_one_relevant_page_and_most_have_related_ones(read):
    data = read("demo", "en-zh")
    counts = data.judgments.grade_counts()
    assert counts[2] == len(data.queries) == len(data.judgments.queries)
    assert counts[1] >= len(data.queries)
    assert set(counts) == {1, 2}
