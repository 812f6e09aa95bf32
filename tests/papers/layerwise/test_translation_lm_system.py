"""The system ``translation-lm``: what it learns from questions and answers, and what it does with it."""

import numpy as np
import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.readers.demo import Demo
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.evaluation.protocols import make_task
from isogloss.papers.layerwise.translation_lm import TranslationLanguageModel, TranslationLMOptions
from isogloss.storage.errors import InputError
from isogloss.systems.base import System
from isogloss.systems.bm25 import LexicalOptions, UntranslatedBM25
from isogloss.systems.evaluate import evaluate_system
from isogloss.text.tokenizer import tokenize

ASKED = ["rust", "fire", "tide", "bread", "honey", "glass"]
ANSWERED = ["oxide", "oxygen", "moon", "yeast", "nectar", "sand"]


def archive(folder, languages=("en", "en"), judged=("train", "dev")):
    """Questions of two topics each, whose answers say them in other words; dev asks for pairs that train has not."""
    folder.mkdir()
    (folder / "splits").mkdir()
    pairs = [(i, j) for i in range(6) for j in range(i)]
    train = [number for number in range(len(pairs)) if number % 3]
    texts = {
        f"wiki_{languages[0]}.queries": [f"why {ASKED[i]} and {ASKED[j]}" for i, j in pairs],
        f"wiki_{languages[1]}.documents": [f"{ANSWERED[j]} makes {ANSWERED[i]} happen" for i, j in pairs],
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"x{i}\t-\t{line}\n" for i, line in enumerate(lines)), encoding="utf-8")
    splits = {"train": train, "dev": [i for i in range(len(pairs)) if i not in train]}
    rel = "".join(f"x{i}\tx{i}\t2\n" for split in judged for i in splits[split])
    (folder / f"{languages[0]}2{languages[1]}.rel").write_text(rel)
    for split, numbers in splits.items():
        (folder / "splits" / f"{languages[0]}.{split}").write_text("".join(f"x{i}\n" for i in numbers))
    return load_dataset(WikiClir(str(folder)), languages)


def made(data, **options):
    system = TranslationLanguageModel(TranslationLMOptions(**options), *data.pair)
    system.fit(data)
    system.index(data.documents, ("text",))
    return system


@pytest.mark.parametrize("languages", [("en", "en"), ("en", "fr")])
def test_answers_in_other_words_are_found(tmp_path, languages):
    task = make_task(archive(tmp_path / "data", languages), "dev", "full")
    system = TranslationLanguageModel(TranslationLMOptions(iterations=20), *languages)
    assert evaluate_system(system, task, ("text",)).means()["MRR_mr"] > 0.9
    floor = evaluate_system(UntranslatedBM25(LexicalOptions(), *languages), task, ("text",))
    assert floor.means()["MRR_mr"] < 0.1


@pytest.mark.parametrize("language", ["fr", "sw", "zh"])
def test_on_the_bundled_collection_it_beats_the_floor(language):
    task = make_task(load_dataset(Demo(), ("en", language)), "dev", "full")
    pair = ("en", language)
    systems = TranslationLanguageModel(TranslationLMOptions(), *pair), UntranslatedBM25(LexicalOptions(), *pair)
    learned, floor = (evaluate_system(system, task, ("text",)).means()["MRR_mr"] for system in systems)
    assert learned > floor


@pytest.mark.parametrize("options", [{}, {"drop_stop_words": True}, {"stems": False, "translation_weight": 1.0}])
def test_contributions_sum_to_the_score_and_name_words_of_query_and_document(tmp_path, options):
    data = archive(tmp_path / "data")
    system = made(data, **options)
    for query in data.queries.values():
        assert system.scores(query.text).max() <= system.best_possible(query.text) * (1 + 1e-6)
        ranking = system.search(query.text, 3)
        for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
            parts = system.explain(query.text, row, "")
            assert sum(part.score for part in parts) == pytest.approx(score, rel=1e-5)
            assert {part.query_word for part in parts} <= set(tokenize(query.text))
            said = {system.term_of(word) for word in tokenize(data.documents[row].text)}
            assert all(part.document_words and set(part.document_words) <= said for part in parts)


def test_it_knows_what_stands_for_a_word_and_what_it_does_not_know(tmp_path):
    system = made(archive(tmp_path / "data"), iterations=20, stems=False)
    translations = dict(system.translations("honey zebu makes"))
    assert translations["honey"][0] == "nectar"
    assert "makes" in translations["makes"]
    assert "zebu" not in translations
    assert system.unknown_words("honey zebu") == ["zebu"]
    assert not system.scores("zebu").any()
    assert len(system.search("zebu", 5).rows) == 0


def test_what_was_saved_scores_the_same(tmp_path):
    data = archive(tmp_path / "data")
    system = made(data)
    (tmp_path / "saved").mkdir()
    system.save(tmp_path / "saved")
    loaded = TranslationLanguageModel(TranslationLMOptions(), *data.pair).load(tmp_path / "saved")
    for query in data.queries.values():
        assert np.array_equal(loaded.scores(query.text), system.scores(query.text))
    assert loaded.translations("honey") == system.translations("honey")


def test_judgments_of_other_splits_change_nothing(tmp_path):
    data, other = archive(tmp_path / "data"), archive(tmp_path / "other", judged=("train",))
    query = data.split("dev")[0].text
    assert np.array_equal(made(data).scores(query), made(other).scores(query))


def test_it_has_to_learn_and_to_index_first(tmp_path):
    system = TranslationLanguageModel(TranslationLMOptions(), "en", "fr")
    assert system.learns
    with pytest.raises(InputError, match=r"^translation-lm: has to be trained"):
        system.index_texts(["un"])
    with pytest.raises(InputError, match=r"^translation-lm: no documents were indexed"):
        system.scores("one")
    data = archive(tmp_path / "data")
    data.splits["train"] = []
    with pytest.raises(InputError, match=r"^translation-lm: nothing to learn from: .* train split"):
        system.fit(data)


def test_it_is_a_system_like_the_others():
    assert issubclass(TranslationLanguageModel, System)
    assert all(help_ for _, _, help_ in TranslationLMOptions.describe())
