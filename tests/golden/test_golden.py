"""What is committed of the golden outputs is what this code gives, on any machine up to the last digits of scores.

A difference is either a mistake or a change on purpose. After a change on purpose write the outputs again
(``python tools/make_golden.py --write``); the commit message says what has changed and why.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests.golden.comparing import differences, shorten

FOLDER = Path(__file__).parent
TOLERANCE = 1e-5
FITTED = ("isogloss_starter", "numba")
NEEDED = {"texts": ("pypdfium2",), "rankings": FITTED, "index": FITTED, "explanations": FITTED}
"""Set to the packages without which its outputs are others."""


@pytest.mark.parametrize("name", NEEDED)
def test_outputs_are_those_that_are_committed(name, tmp_path):
    for package in NEEDED[name]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    # A process of its own: it counts on one thread and on the starter tables, which other tests do without.
    command = [sys.executable, str(FOLDER / "make.py"), str(tmp_path / "whole"), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for path in (tmp_path / "whole" / name).iterdir():
        shorten(path, tmp_path / "short" / path.name)
    assert list(differences(FOLDER / "expected" / name, tmp_path / "short", TOLERANCE)) == []


def assert_difference(folder, name, expected, actual, said):
    """The difference of two files is what is said; there is none where nothing is."""
    for side, content in (("expected", expected), ("actual", actual)):
        (folder / side).mkdir()
        (folder / side / name).write_text(content)
    lines = list(differences(folder / "expected", folder / "actual", TOLERANCE))
    assert len(lines) == bool(said)
    assert said in "".join(lines)


RANKING = '"q"\t"a"\t2.0\n"q"\t"b"\t1.000001\n"q"\t"c"\t1.0\n"q"\t"d"\t0.5\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (RANKING, ""),
        (RANKING.replace("2.0", "2.000001"), ""),
        ('"q"\t"a"\t2.0\n"q"\t"c"\t1.0\n"q"\t"b"\t1.0\n"q"\t"d"\t0.5\n', ""),
        (RANKING.replace('"d"', '"e"'), ""),  # it may tie with the last
        (RANKING.replace("2.0", "2.1"), "had 'a' 2.0, has 'a' 2.1"),
        (RANKING.replace('"a"', '"e"'), "had 'a' 2.0, has 'e' 2.0"),
        (RANKING.replace('"q"\t"d"\t0.5\n', ""), "had 4 documents, has 3"),
        (RANKING.replace('"q"', '"r"'), "in another order"),
    ],
)
def test_documents_may_change_places_only_where_their_scores_are_nearly_the_same(tmp_path, content, said):
    assert_difference(tmp_path, "x.ranking", RANKING, content, said)
    assert bool(list(differences(tmp_path / "expected", tmp_path / "actual"))) == (content != RANKING)


LINES = '"q"\t"a"\t"word"\t["mot"]\t2.0\n"q"\t"a"\t"other"\t[]\t1.0\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (LINES.replace("2.0", "2.000001"), ""),
        ("".join(reversed(LINES.splitlines(keepends=True))), ""),
        (LINES.replace("2.0", "2.1"), "had"),
        (LINES.replace("mot", "pain"), "had"),
        (LINES.splitlines(keepends=True)[0], "had 2 lines, has 1"),
        ("", "1 hits are explained in one of both only, the first: ('q', 'a')"),
        (LINES + LINES.replace('"a"', '"b"'), "the first: ('q', 'b')"),
    ],
)
def test_explanations_have_the_same_lines_in_any_order(tmp_path, content, said):
    assert_difference(tmp_path, "x.explanation", LINES, content, said)


def test_a_file_that_is_missing_or_new_is_a_difference(tmp_path):
    for name, file in (("expected", "old.txt"), ("actual", "new.txt")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text('"x"\n')
    lines = differences(tmp_path / "expected", tmp_path / "actual", TOLERANCE)
    assert [line.partition(":")[0] for line in lines] == ["new.txt", "old.txt"]
