"""Pieces of work whose CPU time ``benchmarks/compare_commits.py`` compares between two commits.

    python benchmarks/workloads.py tokenizing      CPU seconds of one piece of work, after compiled code is ready

Each does its work once before it is timed, on a little input, so that loading and compiling do not count. ``indexing``
and ``searching`` are whole commands: there it does.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # before numpy and numba are imported
    os.environ |= {name: "1" for name in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from side_by_side import texts_of

from isogloss import Document, Index
from isogloss.cli.main import main as isogloss
from isogloss.data.dataset import load_dataset
from isogloss.data.problems import Problems
from isogloss.data.readers.registry import open_source
from isogloss.text.batches import tokenize_texts

Work = Callable[[int], object]
"""Does a piece of work of so many units."""


def tokenizing() -> tuple[Work, int]:
    """Texts in a language with spaces, and in one without."""
    texts = [text for language in ("fr", "zh") for text in texts_of("demo", language, 10_000)]
    return lambda count: tokenize_texts(random.Random(0).sample(texts, count), processes=1), 20_000


def reading_files() -> tuple[Work, int]:
    """Markdown, HTML and office files of a folder."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.golden.sample_files import sample_files

    files = {name: content for name, content in sample_files().items() if not name.endswith(".pdf")}

    def read(count: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for copy in range(count):
                for name, content in files.items():
                    path = Path(folder, str(copy), name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
            for _ in open_source(folder).all_documents(Problems()):
                pass

    return read, 30


def reading_records() -> tuple[Work, int]:
    """The documents, queries and judgments of the bundled collection."""

    def read(count: int) -> None:
        for _ in range(count):
            load_dataset(open_source("demo"), ("en", "fr"))

    return read, 25


def bm25() -> tuple[Work, int]:
    """An index of documents in the language of the queries, and searches in it."""
    return _index_and_search("bm25", "fr"), 20_000


def bridge() -> tuple[Work, int]:
    """An index of documents in another language, and searches in it."""
    return _index_and_search("bridge", "en"), 6_000


def training() -> tuple[Work, int]:
    """The average model, by compiled code."""

    def train(epochs: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            options = ("--set", f"epochs={epochs}", "--set", "dev_queries=0", "--quiet")
            with redirect_stdout(StringIO()):
                isogloss(["train", "smooth", "--data", "demo", "--pair", "en-fr", "-o", f"{folder}/run", *options])

    return train, 200


def indexing() -> tuple[Work, int]:
    """``isogloss index demo`` for queries in one language, whole."""
    return lambda count: [_command("index", "demo", "-o", f"{tempfile.mkdtemp()}/index") for _ in range(count)], 1


def searching() -> tuple[Work, int]:
    """``isogloss search`` in a little index, whole."""
    index = f"{tempfile.mkdtemp()}/index"
    _command("index", "demo", "--language", "sw", "-o", index)
    return lambda count: [_command("search", index, "why is the sea salty") for _ in range(count)], 5


WORK = {
    work.__name__: work
    for work in (tokenizing, reading_files, reading_records, bm25, bridge, training, indexing, searching)
}


def _index_and_search(system: str, query_language: str) -> Work:
    """Index documents made of sentences of the bundled collection, and search for a tenth as many queries."""
    sentences = [part for text in texts_of("demo", "fr", 104) for part in text.split(". ")]
    queries = [part for text in texts_of("demo", query_language, 104) for part in text.split(". ")]

    def work(count: int) -> None:
        generator = random.Random(count)
        texts = (". ".join(generator.choices(sentences, k=5)) for _ in range(count))
        documents = [Document(str(number), text) for number, text in enumerate(texts)]
        with Index.make(documents, "fr", system=system, query_language=query_language) as index:
            asked = generator.choices(queries, k=count // 10)
            index.search_many(asked, exact=True)

    return work


def _command(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "isogloss", *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)


def _cpu_seconds() -> float:
    """The CPU time of this process and of those it has started."""
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main(name: str) -> None:
    """Print the CPU seconds of one piece of work."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"XDG_STATE_HOME": scratch, "TMPDIR": scratch}
        tempfile.tempdir = scratch
        work, amount = WORK[name]()
        work(amount // 10)
        begun = _cpu_seconds()
        work(amount)
        print(f"{_cpu_seconds() - begun:.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
