"""Which functions of isogloss a command enters, in which files and packages: how far a reader has to walk.

    python tools/count_walk.py                            the three walks of docs/architecture.md
    python tools/count_walk.py search my.index 'honey of bees'            any command of isogloss
    python tools/count_walk.py --list search my.index 'honey of bees'     and each function, in the order of entry
    python tools/count_walk.py index my-pages -o my.index --overwrite     it runs twice, so it has to overwrite

Counted are the functions and methods of ``isogloss``, without the bodies of modules and classes and without the frames
of comprehensions. A package change is two functions, one after the other in the order in which functions are first
entered, that are in different packages. The depth is the greatest number of them that are entered within each other.
Each walk is counted in a second run of the command, so that compiled code is loaded from its cache; what isogloss keeps
for its user is in a folder that is empty before each run. What other threads and processes enter is not counted.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

_FRAMES_OF_EXPRESSIONS = {"<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>"}
_PAGES = {
    "bees.md": "# Les abeilles\n\nLes abeilles fabriquent le miel dans la ruche avec le nectar des fleurs.\n",
    "volcano.md": "# Le volcan\n\nLe volcan crache de la lave et de la cendre sur la montagne.\n",
}
_WALKS: dict[str, Sequence[str]] = {
    "index": ("index", "pages", "-o", "my.index", "--overwrite"),
    "search --explain": ("search", "my.index", "honey of the bees", "--explain"),
    "train smooth": ("train", "smooth", "--data=demo", "--pair=en-fr", "--output=run", "--overwrite", "--set=epochs=1"),
}


class Function(NamedTuple):
    """A function that was entered: its module below ``isogloss`` and its name."""

    module: str
    name: str

    @property
    def package(self) -> str:
        """The first part of the module's name."""
        return self.module.partition(".")[0]


class Walk(NamedTuple):
    """The functions of one run in the order in which they are first entered, and what else was counted."""

    functions: list[Function]
    depth: int
    modules: int

    def __str__(self) -> str:
        files = len({function.module for function in self.functions})
        packages = [function.package for function in self.functions]
        changes = sum(one != other for one, other in pairwise(packages))
        counts = f"{len(self.functions)} functions in {files} files, {changes} package changes, depth {self.depth}"
        return f"{counts}; {self.modules} modules of isogloss are imported"


def record(arguments: Sequence[str]) -> Walk:
    """Run a command of isogloss in this process and record what it enters."""
    import isogloss
    from isogloss.cli.main import main

    root = str(Path(isogloss.__file__).parent) + os.sep
    functions: dict[Function, None] = {}
    counted: dict[CodeType, bool] = {}
    depth = deepest = 0

    def enter(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if event not in ("call", "return"):
            return
        if code not in counted:
            counted[code] = _is_function(code, root)
        if not counted[code]:
            return
        if event == "return":
            depth -= 1
            return
        depth += 1
        deepest = max(deepest, depth)
        module = code.co_filename.removeprefix(root).removesuffix(".py").replace(os.sep, ".")
        functions.setdefault(Function(module, code.co_qualname))

    sys.setprofile(enter)
    try:
        status = main(arguments)
    finally:
        sys.setprofile(None)
    if status:
        raise SystemExit(status)
    modules = sum(name.partition(".")[0] == "isogloss" for name in sys.modules)
    return Walk([*functions], deepest, modules)


def _is_function(code: CodeType, root: str) -> bool:
    """Whether code is that of a function or method of isogloss."""
    if not code.co_filename.startswith(root) or code.co_name in _FRAMES_OF_EXPRESSIONS:
        return False
    return bool(code.co_flags & inspect.CO_OPTIMIZED)  # which the bodies of classes and modules are not


def walk(arguments: Sequence[str], folder: Path) -> Walk:
    """The walk of a command, in a process of its own whose state folder is empty."""
    for _ in range(2):
        with tempfile.TemporaryDirectory() as state:
            command = [sys.executable, str(Path(__file__).absolute()), "--record", *arguments]
            environment = {**os.environ, "XDG_STATE_HOME": state}
            done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"isogloss {' '.join(arguments)}: exit status {done.returncode}")
    values = json.loads(done.stdout.splitlines()[-1])
    values["functions"] = [Function(*names) for names in values["functions"]]
    return Walk(**values)


def main(arguments: list[str]) -> None:
    """Print the walks."""
    if arguments[:1] == ["--record"]:
        recorded = record(arguments[1:])
        print()
        print(json.dumps(recorded._asdict()))
        return
    is_listed = arguments[:1] == ["--list"]
    command = arguments[is_listed:]
    if command:
        _print("isogloss " + " ".join(command), walk(command, Path.cwd()), is_listed)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "pages").mkdir()
        for name, text in _PAGES.items():
            (folder / "pages" / name).write_text(text, encoding="utf-8")
        for name, parts in _WALKS.items():
            _print(name, walk(parts, folder), is_listed)


def _print(name: str, recorded: Walk, is_listed: bool) -> None:
    print(f"{name}: {recorded}")
    if is_listed:
        print("\n".join(f"  {function.module}.{function.name}" for function in recorded.functions))


if __name__ == "__main__":
    main(sys.argv[1:])
