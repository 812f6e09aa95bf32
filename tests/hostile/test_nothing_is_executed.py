"""The source: nothing unpickles, evaluates or imports what a file says, and no program but Apertium is run."""

import ast
from pathlib import Path

import pytest

import isogloss

SOURCE = Path(isogloss.__file__).parent
MODULES = {
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "subprocess", "pty",
    "runpy", "code", "codeop", "imp", "pdb", "xmlrpc", "h5py", "torch.package",
}  # fmt: skip
CALLS = {
    "eval", "exec", "compile", "__import__", "breakpoint",
    "torch.load", "torch.jit.load", "torch.hub.load", "np.load", "numpy.load", "np.fromfile", "np.memmap",
    "pickle.load", "pickle.loads", "pickle.Unpickler", "pandas.read_pickle", "pd.read_pickle",
    "os.system", "os.popen", "os.execv", "os.execvp", "os.spawnv", "os.startfile", "ctypes.CDLL",
    "urllib.request.urlopen", "urlopen", "importlib.import_module", "import_module",
}  # fmt: skip
EXCEPTIONS = {
    ("papers/word_vectors/formats/polyglot.py", "pickle"): "a reader in Python that knows four names, all stand-ins",
    ("translation/translators.py", "subprocess"): "apertium, with a mode that apertium itself lists; no shell",
    ("data/readers/files/isolated.py", "subprocess"): "this Python with a module of isogloss, to read files in",
    ("engines/ray/data.py", "np.fromfile"): "bytes of a file, not parsed",
    ("text/compiled/segmentation.py", "ctypes.CDLL"): "ICU, which the installed package icu4py is linked with",
    ("storage/files.py", "ctypes.CDLL"): "the C library of this process",
    ("storage/errors.py", "importlib.import_module"): "packages of extras, by constants",
    ("__init__.py", "import_module"): "public names, by a table",
    ("storage/plugins.py", "import_module"): "members of entry points, by what installed packages declare",
    ("papers/__main__.py", "import_module"): "a paper that the user types",
    ("retrieval/bm25.py", "import_module"): "a constant",
    ("systems/bridge/matching.py", "import_module"): "a constant",
    ("systems/bridge/system.py", "import_module"): "a constant",
}


def dotted(node):
    """``a.b.c`` of an expression, or what is left of it."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def dangers(tree):
    """The modules and calls in a file that could run what it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            yield node.module
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            keywords = {each.arg: each.value for each in node.keywords}
            never_pickles = getattr(keywords.get("allow_pickle"), "value", None) is False
            if name in CALLS and not (name in ("np.load", "numpy.load") and never_pickles):
                yield name
            for flag in ("allow_pickle", "trust_remote_code", "shell"):
                if flag in keywords and getattr(keywords[flag], "value", None) is not False:
                    yield f"{name}({flag}=)"


def found_in(path):
    return {(path.relative_to(SOURCE).as_posix(), name) for name in dangers(ast.parse(path.read_text("utf-8")))}


def test_the_source_runs_nothing_that_it_reads():
    found = set().union(*map(found_in, SOURCE.rglob("*.py")))
    assert found == EXCEPTIONS.keys()


@pytest.mark.parametrize(
    "code",
    [
        "import pickle", "from joblib import load", "import torch\ntorch.load('x')", "np.load(p)", "eval(text)",
        "np.load(p, allow_pickle=True)", "np.load(p, allow_pickle=flag)", "subprocess.run('x', shell=True)",
        "importlib.import_module(config['module'])", "read(p, allow_pickle=1)", "os.system(command)",
    ],
)  # fmt: skip
def test_the_search_finds_them(code):
    assert list(dangers(ast.parse(code)))


def test_it_passes_what_is_safe():
    assert not list(dangers(ast.parse("np.load(p, allow_pickle=False)\nmodel.eval()\nre.compile('x')")))
