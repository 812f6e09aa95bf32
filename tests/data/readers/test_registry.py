"""A path alone is matched with the readers of other packages only where isogloss does not read what is there."""

import subprocess
import sys

import pytest

from isogloss.data.readers.registry import open_source, recognise_format
from isogloss.storage.errors import InputError

OPENING = """
import sys
from isogloss.data.readers.registry import open_source
print(open_source(sys.argv[1]).format)
print([name for name in sys.modules if name.startswith(("isogloss.papers", "importlib.metadata"))])
"""


def test_a_folder_of_known_kinds_is_opened_without_a_look_at_other_packages(tmp_path):
    (tmp_path / "bees.md").write_text("# Bees\n\nBees make honey.\n")
    (tmp_path / ".hidden.xyz").write_text("nobody reads this")
    done = subprocess.run([sys.executable, "-c", OPENING, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "folder\n[]\n"


def test_a_folder_with_files_of_another_package_s_format_is_of_that_format(tmp_path):
    (tmp_path / "README.md").write_text("# Matrices\n")
    assert recognise_format(tmp_path) == "folder"
    (tmp_path / "en.mtx").write_text("1 1 1\n1 1 0.5\n")
    assert recognise_format(tmp_path) == "platt"


def test_a_folder_with_files_that_nobody_reads_is_a_folder(tmp_path):
    (tmp_path / "bees.md").write_text("# Bees\n\nBees make honey.\n")
    (tmp_path / "bees.xyz").write_text("?")
    assert recognise_format(tmp_path) == "folder"


def test_a_file_that_nobody_reads_is_an_error_that_lists_the_endings(tmp_path):
    (tmp_path / "bees.xyz").write_text("?")
    with pytest.raises(InputError, match=r"a single file is read by its ending \(\.jsonl, \.ndjson, .*\.tsv\)"):
        open_source(str(tmp_path / "bees.xyz"))


def test_an_unknown_format_is_an_error_that_lists_those_of_all_packages():
    with pytest.raises(InputError, match=r"nor one of wikiclir:…, .*platt:… or demo"):
        open_source("nothing:here")
