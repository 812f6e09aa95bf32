"""Which pairs of texts are learned from."""

import pytest

from isogloss.data.dataset import load_dataset
from isogloss.data.parallel import question_answer_pairs
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.storage.errors import InputError


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
