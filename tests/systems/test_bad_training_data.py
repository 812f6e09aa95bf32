"""What a system learns from is checked: bad lines are reported, not taken for data that are not there."""

import pytest

from isogloss.data.dataset import load_training
from isogloss.data.readers.wikiclir import WikiClir
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wiki_en.queries").write_text("q1\t-\tbright lamp\n")
    (tmp_path / "wiki_fr.documents").write_text("d1\t-\tlampe claire lampe claire\n")
    (tmp_path / "wiki_en.documents").write_text("e1\t-\tbright lamp bright lamp\n")
    (tmp_path / "en2fr.rel").write_text("q1\td1\t2\n")
    (tmp_path / "lexicon.tsv").write_text("lamp\tlampe\nbright\tclaire\n")
    return tmp_path


def test_a_bad_judgment_is_an_error_and_not_a_source_without_judgments(folder):
    (folder / "en2fr.rel").write_text("q1\td1\t7\n")
    with pytest.raises(InputError, match=r"en2fr\.rel:1: grade '7'"):
        load_training(WikiClir(str(folder)), ("en", "fr"))


def test_a_source_without_judgments_still_has_documents_to_learn_from(folder):
    (folder / "en2fr.rel").unlink()
    training = load_training(WikiClir(str(folder)), ("en", "fr"))
    assert (len(training.documents), len(training.queries), len(training.judgments)) == (1, 0, 0)


def test_a_bad_source_document_is_an_error_and_not_a_language_without_documents(folder):
    (folder / "wiki_en.documents").write_text("e1\t-\tbright lamp bright lamp\ne2 without tabs\n")
    system = make_system("aligned", ("en", "fr"), {"lexicon": str(folder / "lexicon.tsv"), "dimension": "2"})
    with pytest.raises(InputError, match=r"wiki_en\.documents:2: expected id, title, text"):
        system.fit(load_training(WikiClir(str(folder)), ("en", "fr")))
