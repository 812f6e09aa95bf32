"""Names of the package that pages mention in the text can be imported."""

import importlib
import re
from pathlib import Path

import pytest

PAGES = sorted(Path(__file__).parents[2].glob("docs/**/*.md"))
DOTTED = re.compile(r"`(isogloss(?:\.\w+)+)")


def found(name):
    """Whether it is a module, or something of one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        try:
            for part in parts[count:]:
                value = getattr(value, part)
        except AttributeError:
            return False
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_of_the_package_are_there(page):
    assert [name for name in DOTTED.findall(page.read_text(encoding="utf-8")) if not found(name)] == []


def test_a_name_that_is_not_there_is_seen():
    assert found("isogloss.index.checking.check_index")
    assert not found("isogloss.systems.index_check.check_index")
