"""The registry: names, options as users write them, and where a lexicon comes from."""

import pytest

from isogloss.data.readers.demo import Demo
from isogloss.storage.errors import InputError
from isogloss.storage.wording import at_the_command_line
from isogloss.systems.registry import make_system, parse_options, system_names, system_type


def parsed(name, **settings):
    return parse_options(name, system_type(name).options_type, settings)


def test_every_system_says_what_it_is_and_what_its_options_mean():
    assert {"bm25", "bm25-dict", "psq", "aligned", "smooth"} <= set(system_names())
    for name in system_names():
        system = system_type(name)
        assert system.name == name
        assert system.summary and system.paper
        assert all(text for _, _, text in system.options_type.describe())


@pytest.mark.parametrize(
    ("name", "key", "text", "value"),
    [
        *[("bm25", "stems", text, False) for text in ("false", "No", "OFF", "0")],
        *[("bm25", "drop_stop_words", text, True) for text in ("true", "Yes", "ON", "1")],
        ("bm25", "k1", "0.9", 0.9),
        ("bm25", "b", "1", 1.0),
        ("bm25-dict", "translations", "5", 5),
        ("bm25-dict", "structure", "independent", "independent"),
        ("psq", "decay", "0.3", 0.3),
        ("psq", "lexicon", "a file.txt", "a file.txt"),
    ],
)
def test_settings_are_read_as_the_type_of_their_default(name, key, text, value):
    read = getattr(parsed(name, **{key: text}), key)
    assert read == value
    assert type(read) is type(value)


def test_what_is_not_set_has_its_default():
    assert parsed("psq") == system_type("psq").options_type()
    assert parsed("bm25", k1="1").b == 0.75


@pytest.mark.parametrize(
    ("name", "key", "text", "message"),
    [
        ("bm25", "stems", "maybe", "bm25.stems: 'maybe' is neither true nor false"),
        ("bm25-dict", "translations", "2.5", "bm25-dict.translations: '2.5' is not a whole number"),
        ("bm25-dict", "translations", "", "bm25-dict.translations: '' is not a whole number"),
        ("bm25-dict", "translations", "0", "bm25-dict.translations: 0 is not between 1 and 1000"),
        ("bm25", "k1", "fast", "bm25.k1: 'fast' is not a number"),
        ("bm25", "k1", "-1", "bm25.k1: -1 is not between 0 and 1000"),
        ("bm25", "k1", "nan", "bm25.k1: nan is not between 0 and 1000"),
        ("bm25", "b", "1.5", "bm25.b: 1.5 is not between 0 and 1"),
        ("psq", "decay", "inf", "psq.decay: inf is not between 0 and 1"),
        ("bm25", "lexicon", "x", "bm25: has no option 'lexicon'; it has stems, drop_stop_words, k1, b, passages"),
    ],
)
def test_a_wrong_setting_is_an_error_of_one_line(name, key, text, message):
    with pytest.raises(InputError) as caught:
        make_system(name, ("en", "fr"), {key: text})
    assert str(caught.value) == message


def test_an_unknown_system_is_an_error_that_names_those_there_are():
    with pytest.raises(InputError, match=r"^system: 'bm26' is not one of bridge, bm25, bm25-dict, psq"):
        make_system("bm26", ("en", "fr"))


def test_an_unknown_structure_is_an_error(lexicons):
    system = make_system("bm25-dict", ("en", "fr"), {**lexicons, "structure": "heap"})
    with pytest.raises(InputError, match="bm25-dict: structure 'heap' is neither synonym nor independent"):
        system.index_texts(["mer"])


@pytest.mark.parametrize("placeholder", ["{pair}", "{query}-{document}"])
@pytest.mark.parametrize(("language", "word"), [("fr", "miel"), ("it", "miele")])
def test_placeholders_of_the_lexicon_stand_for_the_languages(lexicons, placeholder, language, word):
    lexicon = lexicons["lexicon"].replace("{pair}", placeholder)
    system = make_system("psq", ("en", language), {"lexicon": lexicon, "stems": "false"})
    assert system.concepts("honey")[0].terms == ((word, 1.0),)


def test_the_lexicon_of_the_source_is_used_where_no_other_is_named(lexicons):
    own = make_system("bm25-dict", ("en", "fr"), source=Demo())
    assert own.options.lexicon == str(Demo().lexicon(("en", "fr")))
    named = make_system("bm25-dict", ("en", "fr"), lexicons, Demo())
    assert named.options.lexicon == lexicons["lexicon"]


@pytest.mark.parametrize("name", ["bm25-dict", "psq"])
@pytest.mark.parametrize("source", [None, Demo()], ids=["no source", "a source without one"])
def test_without_any_lexicon_the_error_names_the_way_out(name, source):
    system = make_system(name, ("de", "fr"), source=source)
    what, rest = f"{name}: needs a bilingual lexicon: ", r" \(or bundled: a small one, to try\)$"
    with pytest.raises(InputError, match=f"^{what}lexicon='FILE'{rest}"):
        system.index_texts(["mer"])
    with at_the_command_line(), pytest.raises(InputError, match=rf"^{what}--set {name}\.lexicon=FILE{rest}"):
        system.index_texts(["mer"])


def test_a_lexicon_that_is_not_there_is_an_error_before_the_work(tmp_path):
    system = make_system("psq", ("en", "fr"), {"lexicon": str(tmp_path / "{pair}.gz")})
    with pytest.raises(InputError, match=r"en-fr\.gz: no such file"):
        system.index_texts(["mer"])
