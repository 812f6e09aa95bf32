"""Snippets show the words that matched, as they are written, within their width."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.search.snippets import (
    OTHER_WORDS,
    content_words,
    make_snippet,
    passage_of_text,
    surface_words,
    told,
    translated_terms,
)
from isogloss.systems.base import Contribution
from isogloss.text.stemming import stem
from isogloss.text.tokenizer import token_spans, tokenize

TEXTS = {
    "en": "Bees visit flowers. They carry the nectar home, and in the Hive it slowly turns into honey for the winter.",
    "fr": "Les abeilles visitent les fleurs. Elles rapportent le nectar à la ruche, où l'eau s'en va et le miel mûrit.",
    "zh": "蜜蜂在花丛中采集花蜜，然后把花蜜带回蜂巢。水分慢慢蒸发，花蜜就变成了蜂蜜，可以保存整个冬天。",
}


def marked(snippet):
    return [snippet.text[begin:end] for begin, end in snippet.marks]


@pytest.mark.parametrize(
    ("language", "words", "wanted"),
    [
        ("en", {"hive", "honey"}, ["Hive", "honey"]),
        ("en", {"the"}, ["the", "the", "the"]),
        ("fr", {"eau", "miel"}, ["eau", "miel"]),
        ("fr", {"à", "mûrit"}, ["à", "mûrit"]),
        ("zh", {"蜂蜜", "冬天"}, ["蜂蜜", "冬天"]),
    ],
)
def test_the_right_words_are_marked(language, words, wanted):
    snippet = make_snippet(TEXTS[language], words.__contains__)
    assert marked(snippet) == wanted
    assert snippet.words == tuple(dict.fromkeys(wanted))
    assert snippet.text == TEXTS[language]  # shorter than the width: the whole text, without dots


@pytest.mark.parametrize(("language", "word"), [("en", "honey"), ("fr", "miel"), ("zh", "蜂蜜")])
@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_a_narrow_snippet_still_shows_the_word(language, word, width):
    snippet = make_snippet(TEXTS[language], {word}.__contains__, width)
    assert marked(snippet) == [word]
    assert len(token_spans(snippet.text)) <= width


def test_the_word_stands_in_the_middle_of_its_context():
    text = " ".join(f"w{number}" for number in range(100))
    assert make_snippet(text, {"w50"}.__contains__, 5).text == "… w48 w49 w50 w51 w52 …"
    assert make_snippet(text, {"w99"}.__contains__, 5).text == "… w95 w96 w97 w98 w99"
    assert make_snippet(text, {"w1"}.__contains__, 5).text == "w0 w1 w2 w3 w4 …"


def test_the_window_with_the_most_different_words_is_shown():
    text = "sea sea sea sea " + "x " * 20 + "salt in the sea " + "y " * 20 + "salt sea"
    assert make_snippet(text, {"sea", "salt"}.__contains__, 4).text == "… salt in the sea …"


@pytest.mark.parametrize("text", ["", "…", "no such word here"])
def test_without_a_match_the_beginning_is_shown(text):
    assert make_snippet(text, lambda word: False) == make_snippet(text, {"zebra"}.__contains__)
    assert make_snippet(text, lambda word: False).text == text
    assert make_snippet(text, lambda word: False).marks == ()


WORDS = st.lists(st.sampled_from(["sea", "Salt", "L'eau", "été", "x", "蜜蜂在花丛中", "…", "  "]), max_size=60)


@given(words=WORDS, width=st.integers(1, 12))
@settings(deadline=None, max_examples=100)
def test_marks_are_matches_the_width_is_kept_and_the_best_window_is_not_lost(words, width):
    text, wanted = " ".join(words), {"sea", "salt", "eau", "蜜蜂"}
    snippet = make_snippet(text, wanted.__contains__, width)
    assert {tokenize(word)[0] for word in marked(snippet)} <= wanted
    assert marked(snippet) == [snippet.text[b:e] for b, e, token in token_spans(snippet.text) if token in wanted]
    assert len(token_spans(snippet.text)) <= width
    assert snippet.text.removeprefix("… ").removesuffix(" …") in text
    tokens = [token if token in wanted else None for _, _, token in token_spans(text)]
    best = max((len(set(tokens[i : i + width]) - {None}) for i in range(len(tokens))), default=0)
    assert len({tokenize(word)[0] for word in marked(snippet)}) == best


def test_words_are_given_as_they_are_written_each_once():
    def to_term(word):
        return None if word == "the" else stem([word], "en")[0]

    text = "The Horses met a horse; HORSE-riding by the sea."
    assert surface_words(text, {"hors", "sea"}, to_term) == ("Horses", "horse", "HORSE", "sea")
    assert surface_words(text, set(), to_term) == ()


TEXT = "Le roi dort. La mer est salée et le vent souffle fort sur la mer bleue ce soir."


def test_of_a_long_text_only_what_is_around_the_passage_is_read(monkeypatch):
    read = []
    monkeypatch.setattr("isogloss.search.snippets.token_spans", lambda text: read.append(text) or token_spans(text))
    text = "page " * 50_000 + TEXT + " page" * 50_000
    begin = text.index("le vent")
    snippet = make_snippet(text, {"mer"}.__contains__, passage=(begin, text.index(" bleue")))
    assert snippet.text == "… le vent souffle fort sur la mer …"
    assert text[slice(*snippet.span)] == "le vent souffle fort sur la mer"
    assert marked(snippet) == ["mer"]
    assert sum(map(len, read)) < 5_000


def test_the_best_passage_is_shown_whole():
    begin = TEXT.index("le vent")
    end = TEXT.index(" bleue")
    snippet = make_snippet(TEXT, lambda token: token == "mer", passage=(begin, end))
    assert snippet.text == "… le vent souffle fort sur la mer …"
    assert [snippet.text[b:e] for b, e in snippet.marks] == ["mer"]


def test_of_a_long_passage_the_best_window_is_shown():
    end = TEXT.index(" et le")
    snippet = make_snippet(TEXT, lambda token: token == "mer", width=3, passage=(0, end))
    assert "La mer est" in snippet.text
    assert len(snippet.text.replace("…", "").split()) == 3


def test_a_passage_at_either_end_has_no_dots_there():
    assert make_snippet("a b c d", lambda token: False, passage=(4, 7)).text == "… c d"
    assert make_snippet("a b c d", lambda token: False, passage=(0, 3)).text == "a b …"
    assert make_snippet("a b c d", lambda token: False, passage=(20, 30)).text == "a b c d"


def test_a_passage_of_title_and_text_is_one_of_the_text():
    assert passage_of_text((0, 3), "Sea salt water", "salt water") is None
    assert passage_of_text((4, 8), "Sea salt water", "salt water") == (0, 4)
    assert passage_of_text((0, 4), "salt", "water") is None
    assert passage_of_text(None, "salt", "salt") is None


def test_what_makes_a_heading_or_code_is_not_shown():
    text = "# Le sel\n\n- un grain\n```\nsel --fin # gros\n```\nC# et -1"
    snippet = make_snippet(text, {"sel"}.__contains__)
    assert snippet.text.split() == ["Le", "sel", "un", "grain", "sel", "--fin", "#", "gros", "C#", "et", "-1"]
    assert [snippet.text[begin:end] for begin, end in snippet.marks] == ["sel", "sel"]
    assert snippet.span == (0, len(text))


lines = st.lists(
    st.builds(
        Contribution, st.sampled_from(["the", "of", "sea", "salt", "(length)", "how"]),
        st.sampled_from([(), ("mer",), ("le",), ("sel", "mer")]), st.floats(-10, 10),
    )
)  # fmt: skip


@settings(deadline=None)
@given(lines)
def test_every_line_that_is_told_says_something_and_the_sum_stays(parts):
    shown = told(parts, "en")
    assert sum(part.score for part in shown) == pytest.approx(sum(part.score for part in parts))
    assert all(part.document_words or part.query_word.startswith("(") for part in shown)
    content = [part for part in shown if part.document_words]
    if any(part.query_word in ("sea", "salt") for part in content):
        assert not any(part.query_word in ("the", "of", "how") for part in content)


def test_words_of_the_query_without_stop_words_unless_there_are_no_others():
    assert content_words("How salt is the sea", "en") == ["salt", "sea"]
    assert content_words("to be or not to be", "en") == ["to", "be", "or", "not", "to", "be"]
    parts = [Contribution("to", ("à",), 1.0), Contribution("be", (), 2.0)]
    assert told(parts, "en") == [parts[0], Contribution(OTHER_WORDS, (), 2.0)]


def test_a_translation_that_is_a_stem_already_is_marked_as_it_is():
    terms = translated_terms(["printer"], [("printer", ["druka"])], lambda word: word[:4])
    assert terms == {"druka", "druk"}
