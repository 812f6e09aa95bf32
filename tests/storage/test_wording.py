"""Errors name options at the command line, and arguments in Python."""

import pytest

from isogloss import Index, InputError, evaluate, resume_training, train
from isogloss.cli.main import main
from isogloss.storage.wording import at_the_command_line, way

TEXTS = ["Las abejas hacen miel.", "El volcán arroja lava."]


def test_a_way_out_is_an_option_only_during_a_command():
    assert way("--fields", "fields=") == "fields="
    with pytest.raises(ZeroDivisionError), at_the_command_line():
        assert way("--fields", "fields=") == "--fields"
        _ = 1 / 0
    assert way("--fields", "fields=") == "fields="


@pytest.mark.parametrize(
    "wrong",
    [
        lambda path: Index.make([""]),
        lambda path: Index.make(TEXTS, "es", system="psq"),
        lambda path: Index.make(TEXTS, "es", system="bm25-mt", translator="lexicon"),
        lambda path: Index.make(TEXTS, "es", system="aligned"),
        lambda path: Index.make(TEXTS, "es", path=path, system="bm25"),
        lambda path: Index.make(TEXTS, "es", translations=[{"id": "other", "text": "Another page."}]),
        lambda path: Index.make(TEXTS, "es", translations=[("bees", "abejas")], translation_key="slug"),
        lambda path: Index.make(TEXTS, "es", system="smooth"),
        Index.open,
        lambda path: Index.make(TEXTS, "es", system="bm25").sync(),
        lambda path: _vanished(path).sync(),
        lambda path: Index.open(path / "nowhere"),
        lambda path: Index.make(TEXTS, "es", system="bm25").rerank(path),
        resume_training,
        lambda path: train("smooth", "demo", "en-fr", path),
        lambda path: evaluate("bm25", "demo", "en-fr", query_field="name"),
    ],
)
def test_no_error_of_python_speaks_of_options_of_commands(wrong, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError) as error:
        wrong(tmp_path)
    assert "--" not in str(error.value)
    assert "'isogloss " not in str(error.value)


def _vanished(path):
    """An index whose folder is gone."""
    (path / "pages").mkdir()
    (path / "pages" / "page.txt").write_text(TEXTS[0])
    made = Index.make(str(path / "pages"), "es", system="bm25")
    (path / "pages" / "page.txt").unlink()
    return made


def test_the_same_error_of_a_command_names_its_option(tmp_path, capsys):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "page.txt").write_text(".")
    assert main(["index", str(tmp_path / "pages"), "-o", str(tmp_path / "index"), "--quiet"]) == 2
    assert "--language LANG" in capsys.readouterr().err
    assert main(["search", str(tmp_path / "nowhere"), "honey"]) == 2
    assert "make one with 'isogloss index'" in capsys.readouterr().err
