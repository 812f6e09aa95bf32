"""Translated pages and question-answer pairs of the train split; nothing of dev and test is in them."""

from __future__ import annotations

import json

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.parallel import question_answer_pairs, translated_pages
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.storage.errors import InputError

SPLITS = {"splits/en.train": "q1\nq2\n", "splits/en.dev": "q3\n"}
ENGLISH = {
    "wiki_en.documents": "p1\tCat\tThe cat purrs all day.\np2\tTea\tTea is hot.\np3\tBridge\tA bridge is long.\n",
    "en2en.rel": "q1\tp1\t2\nq1\tp2\t1\nq2\tp2\t2\nq3\tp3\t2\n",
    "en2fr.rel": "q1\td1\t2\nq1\td2\t1\nq2\td2\t2\nq3\td3\t2\n",
}
CAT = ("The cat purrs all day.", "un animal qui ronronne")
TEA = ("Tea is hot.", "une boisson chaude")


def test_a_query_s_own_page_and_its_relevant_document_are_a_pair(tiny, read):
    assert translated_pages(read(tiny("wikiclir", ENGLISH | SPLITS))) == [CAT, TEA]


def test_titles_can_be_had_too(tiny, read):
    pages = translated_pages(read(tiny("wikiclir", ENGLISH | SPLITS)), ("title", "text"))
    assert pages[1] == ("Tea Tea is hot.", "Thé une boisson chaude")


def test_where_no_page_is_known_the_query_stands_in(tiny, read):
    without = ENGLISH | SPLITS | {"en2en.rel": "q1\tp1\t2\n"}
    assert translated_pages(read(tiny("wikiclir", without))) == [CAT, ("a hot drink", "une boisson chaude")]


def test_without_judgments_of_the_queries_own_language_all_queries_stand_in(tiny, read):
    """English documents alone do not say which query they belong to."""
    data = read(tiny("wikiclir", SPLITS | {"wiki_en.documents": ENGLISH["wiki_en.documents"]}))
    assert translated_pages(data) == [
        ("an animal that purrs", "un animal qui ronronne"), ("a hot drink", "une boisson chaude"),
    ]  # fmt: skip


@pytest.mark.parametrize("split", ["dev", "test"])
def test_pages_of_dev_and_test_never_contribute(tiny, read, split):
    data = read(tiny("wikiclir", ENGLISH | {"splits/en.train": "q2\n", f"splits/en.{split}": "q1\nq3\n"}))
    assert translated_pages(data) == [TEA]


def test_pages_of_a_query_in_no_split_never_contribute(tiny, read):
    assert translated_pages(read(tiny("wikiclir", ENGLISH | {"splits/en.train": "q2\n"}))) == [TEA]


@pytest.mark.parametrize("shared", [{"en2fr.rel": "q3\td2\t2\n"}, {"en2en.rel": "q3\tp2\t2\n"}], ids=["fr", "en"])
def test_a_page_that_also_answers_a_dev_query_never_contributes(tiny, read, shared):
    changed = {name: ENGLISH[name] + lines for name, lines in shared.items()}
    assert translated_pages(read(tiny("wikiclir", ENGLISH | SPLITS | changed))) == [CAT]


def test_data_that_are_split_by_the_seed_keep_the_rule(tiny, read):
    count = 30
    files = {
        "wiki_en.queries": "".join(f"q{n}\t-\tquery {n}\n" for n in range(count)),
        "wiki_en.documents": "".join(f"p{n}\t-\tpage {n}\n" for n in range(count)),
        "wiki_fr.documents": "".join(f"d{n}\t-\tseite {n}\n" for n in range(count)),
        "en2en.rel": "".join(f"q{n}\tp{n}\t2\n" for n in range(count)),
        "en2fr.rel": "".join(f"q{n}\td{n}\t2\n" for n in range(count)),
    }
    for seed in range(3):
        data = read(tiny("wikiclir", files), seed=seed)
        wanted = [query.removeprefix("q") for query in data.splits["train"]]
        assert translated_pages(data) == [(f"page {n}", f"seite {n}") for n in wanted]
        assert len(wanted) == 18


def test_graded_pages_give_each_pair_of_pages_once_however_many_queries_ask_for_it(read):
    data = read("demo")
    pages = {page.id: page for page in data.source_documents}
    train = dict.fromkeys(query.rpartition(".")[0] for query in data.splits["train"])
    wanted = [
        (pages[id_].text, data.documents[data.documents.row_of[pages[id_].translations["fr"]]].text) for id_ in train
    ]
    assert translated_pages(data) == wanted
    assert len(data.splits["train"]) == 2 * len(wanted)


def test_pages_that_bring_no_queries_are_asked_with_their_first_sentence(put, read):
    pages = [
        {"id": f"{lang}{n}", "lang": lang, "text": f"{lang} page {n}.", "translations": {other: f"{other}{n}"}}
        for n in range(10)
        for lang, other in (("en", "fr"), ("fr", "en"))
    ]
    directory = put({"pages.jsonl": "".join(json.dumps(page) + "\n" for page in pages)})
    data = read(f"jsonl:{directory / 'pages.jsonl'}")
    wanted = [query.removeprefix("en") for query in data.splits["train"]]
    assert translated_pages(data) == [(f"en page {n}.", f"fr page {n}.") for n in wanted]


def test_a_format_without_languages_never_pairs_a_document_with_itself(tiny, read):
    assert translated_pages(read(tiny("beir"))) == [("an animal that purrs", "un animal qui ronronne")]


def test_an_unknown_page_is_an_error_in_its_line(tiny, read, gather):
    source = tiny("wikiclir", ENGLISH | SPLITS | {"en2en.rel": "q1\tp1\t2\nq2\tp77\t2\n"})
    with pytest.raises(InputError, match=r"en2en\.rel:2: document id 'p77' does not exist"):
        translated_pages(read(source))
    assert translated_pages(gather(source))[0] == CAT


def test_no_page_in_the_train_split_is_an_error(tiny, read):
    with pytest.raises(InputError, match=r"wikiclir:.*: the train split has no translated pages for en-fr"):
        translated_pages(read(tiny("wikiclir", {"splits/en.train": "q3\n", "splits/en.dev": "q1\n"})))


def test_data_without_a_train_split_are_an_error(tiny, read):
    with pytest.raises(InputError, match="has no split 'train'"):
        translated_pages(read(tiny("wikiclir", {"splits/en.dev": "q1\n"})))


@pytest.fixture
def archive(tmp_path):
    def write(judgments, splits):
        (tmp_path / "splits").mkdir()
        for name, text in {
            "wiki_en.queries": "".join(f"q{i}\t-\tquestion {i}\n" for i in range(4)),
            "wiki_fr.documents": "".join(f"d{i}\t-\tréponse {i}\n" for i in range(4)),
            "en2fr.rel": "".join(f"{line}\n".replace(" ", "\t") for line in judgments),
            **{f"splits/en.{split}": "\n".join(ids) for split, ids in splits.items()},
        }.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return load_dataset(WikiClir(str(tmp_path)), ("en", "fr"))

    return write


def test_train_questions_stand_beside_their_relevant_answers(archive):
    data = archive(["q0 d0 2", "q0 d1 1", "q1 d2 2", "q1 d3 2", "q2 d1 2"], {"train": ["q0", "q1"], "dev": ["q2"]})
    assert question_answer_pairs(data) == [
        ("question 0", "réponse 0"),
        ("question 1", "réponse 2"),
        ("question 1", "réponse 3"),
    ]


def test_an_answer_that_a_question_outside_the_train_split_has_too_is_left_out(archive):
    data = archive(["q0 d0 2", "q1 d1 2", "q2 d0 2", "q3 d1 1"], {"train": ["q0", "q1"], "dev": ["q2"]})
    assert question_answer_pairs(data) == [("question 1", "réponse 1")]


def test_no_pair_at_all_is_an_error(archive):
    data = archive(["q0 d0 1", "q2 d1 2"], {"train": ["q0"], "dev": ["q2"]})
    with pytest.raises(InputError, match="train split has no query with a relevant document for en-fr"):
        question_answer_pairs(data)
