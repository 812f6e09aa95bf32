"""A feature whose package is missing says which extra brings it."""

import sys

import pytest

from isogloss.storage.errors import InputError, MissingExtraError, import_extra


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A folder on the path to put modules in, forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("package", ["isogloss_absent", "isogloss_absent.part"])
def test_a_missing_package_is_an_input_error_with_the_way_out(package):
    with pytest.raises(MissingExtraError) as error:
        import_extra(package, "serve", "the search page")
    assert isinstance(error.value, InputError)
    assert str(error.value) == f"the search page needs the package '{package}': pip install 'isogloss[serve]'"


def test_a_package_that_is_there_is_returned(packages):
    (packages / "isogloss_present.py").write_text("answer = 42\n")
    assert import_extra("isogloss_present", "x", "y").answer == 42
    assert import_extra("os.path", "x", "y").sep == "/"


def test_a_package_that_lacks_something_itself_is_not_called_missing(packages):
    (packages / "isogloss_broken.py").write_text("import isogloss_needed_by_it\n")
    with pytest.raises(ModuleNotFoundError, match="isogloss_needed_by_it"):
        import_extra("isogloss_broken", "x", "y")
