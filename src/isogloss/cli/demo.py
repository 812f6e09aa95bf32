"""``isogloss demo``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli.options import add_json, add_overwrite
from isogloss.cli.output import check_outputs, console, note, print_table, write_json
from isogloss.cli.serve import add_address, can_browse, serve_index
from isogloss.storage.errors import InputError, import_extra

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from isogloss.search.searcher import Searcher

EXAMPLE = """\
  isogloss demo
  isogloss demo --serve
  isogloss demo --all
  isogloss demo -o demo-index --overwrite"""
SETTINGS: dict[str, dict[str, str]] = {
    "bm25": {}, "bm25-dict": {}, "psq": {}, "aligned": {"lexicon": "induced", "dimension": "150"},
    "smooth": {"epochs": "10"}, "layerwise": {}, "bridge": {},
}  # fmt: skip
_LONG = "layerwise"
_QUERIES = ("Why do volcanoes erupt?", "how bees make honey", "What do camels keep in their humps?")
LANGUAGES = {"fr": "French", "it": "Italian", "es": "Spanish", "sw": "Swahili", "tl": "Tagalog", "zh": "Chinese"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    parser.add_argument("-o", "--output", metavar="INDEX", help="keep the index here, to search in it later")
    parser.add_argument(
        "--system", default="bridge", choices=("bm25-dict", "psq", "aligned", "bridge"),
        help="the system that answers the queries (default bridge)",
    )  # fmt: skip
    parser.add_argument(
        "--all", action="store_true",
        help=f"evaluate {_LONG} too, trained with its own defaults: one to two minutes of a core for each of the six "
        "languages; needs the extra papers",
    )  # fmt: skip
    parser.add_argument(
        "--serve", action="store_true",
        help="open the page on the encyclopedia instead, to search with a browser; nothing is evaluated unless "
        "--all or --json asks for it",
    )  # fmt: skip
    parser.add_argument("--no-browser", action="store_true", help="with --serve: print the address and open no browser")
    add_address(parser)
    add_json(parser, "the measures")
    add_overwrite(parser)


def run(options: argparse.Namespace) -> None:
    """Evaluate the systems on the bundled collection and search it in six languages at once, or serve its page."""
    # Matrices this small gain nothing from threads; on a busy machine threads that wait for each other lose minutes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from isogloss.data.readers.demo import Demo
    from isogloss.index.making import make_index
    from isogloss.systems.lexicons import with_auto_lexicon

    check_outputs(options.overwrite, options.output, options.json)
    if options.serve:
        _check_service(options)
    elif options.no_browser:
        raise InputError("demo: --no-browser is for --serve")
    if options.all:
        import_extra("torch", "papers", f"--all: {_LONG}")
    evaluated = bool(not options.serve or options.all or options.json)
    chosen = {name: own for name, own in SETTINGS.items() if options.all or name != _LONG}
    results = _evaluate(chosen) if evaluated else []
    quick = options.system == "bridge" and not evaluated and not options.output
    with tempfile.TemporaryDirectory(prefix="isogloss-demo-") as scratch:
        path = Path(options.output or Path(scratch) / "index")
        settings = with_auto_lexicon("bridge", {"without": "weights"}) if quick else SETTINGS[options.system]
        make_index(path, options.system, Demo(), list(LANGUAGES), settings=settings, overwrite=options.overwrite)
        if options.json:
            write_json(options.json, results, options.overwrite)
        if evaluated and options.json != "-":
            _print_results(console(), results)
        if options.serve:
            if quick:
                note("The index was made in a hurry, with default weights; 'isogloss index' fits them.", options.quiet)
            _serve(path, options, Path(scratch))
        else:
            _search(path, options)


def _search(path: Path, options: argparse.Namespace) -> None:
    """Answer a few queries; then those that are typed, where there is a terminal."""
    from isogloss.cli.prompt import Prompt
    from isogloss.index.reader import open_index
    from isogloss.search.searcher import Searcher

    index = open_index(path)
    searcher = Searcher(index)
    if options.json != "-":
        _answer(console(), searcher)
    where = options.output or "demo-index"
    if not options.output:
        note(f"Keep the index:       isogloss demo -o {where}", options.quiet)
    note(f"Search in it:         isogloss search {where} 'why is the sea salty'", options.quiet)
    note("Search on a page:     isogloss demo --serve", options.quiet)
    note("Your own documents:   isogloss index FOLDER -o my-index", options.quiet)
    note("Your own queries:     isogloss evaluate --help", options.quiet)
    if options.json != "-" and sys.stdin and sys.stdin.isatty() and sys.stdout.isatty():
        Prompt(index.manifest, searcher, console(), k=5).run("the demo")


def _check_service(options: argparse.Namespace) -> None:
    """Raise now, and not when the index is made, if the page cannot be served."""
    from isogloss.server import check_extra

    check_extra()
    from isogloss.server.running import listen

    listen(options.host, options.port).close()


def _serve(path: Path, options: argparse.Namespace, scratch: Path) -> None:
    """Serve the page, with another system to compare rankings with."""
    from isogloss.data.readers.demo import Demo
    from isogloss.index.making import make_index

    other = "psq" if options.system == "bm25-dict" else "bm25-dict"
    make_index(scratch / other, other, Demo(), list(LANGUAGES))
    browse = not options.no_browser and can_browse()
    serve_index(path, options, browse=browse, compare=scratch / other, log=False, examples=_QUERIES)


def _evaluate(settings: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    from isogloss.data.dataset import load_dataset
    from isogloss.data.readers.demo import Demo
    from isogloss.evaluation.protocols import make_task
    from isogloss.evaluation.report import as_json
    from isogloss.systems.evaluate import evaluate_system
    from isogloss.systems.registry import make_system

    source = Demo()
    results = []
    for language in LANGUAGES:
        task = make_task(load_dataset(source, ("en", language)), "dev", "full")
        made = {name: make_system(name, ("en", language), own, source) for name, own in settings.items()}
        found = {name: evaluate_system(system, task, ("text",)) for name, system in made.items()}
        results.append(as_json(task, "dev", found, []))
    return results


def _print_results(out: Console, results: list[dict[str, Any]]) -> None:
    """A row for each language, its best number in bold."""
    from rich.text import Text

    names = [system["name"] for system in results[0]["systems"]]
    columns = ["English queries, documents in", *(f"{name} MRR" for name in names)]
    rows: list[Sequence[str | Text]] = []
    for result in results:
        language = result["pair"].removeprefix("en-")
        numbers = [f"{system['measures']['MRR_mr']:.3f}" for system in result["systems"]]
        best = max(numbers, key=float)
        marked = (Text(number, "bold" if number == best else "") for number in numbers)
        rows.append((f"{LANGUAGES[language]} ({language})", *marked))
    queries, documents = results[0]["systems"][0]["queries"], results[0]["documents"]
    title = f"A little encyclopedia: {documents} articles a language, {queries} English queries (dev), text only."
    print_table(out, title, columns, rows)
    out.print(
        "bm25 does not translate; bm25-dict and psq translate with a small bundled lexicon. It was made for the words\n"
        "of these queries: other dictionaries give lower numbers. aligned needs no lexicon: it trains word vectors on\n"
        "the articles and takes translations from those of the train split. smooth trains on judged pairs alone, of\n"
        "which there are few here. bridge trains on articles and the lexicon."
    )
    if _LONG in names:
        out.print(f"{_LONG} trains on the same pairs, starting from word vectors like those of aligned.\n")
    else:
        out.print(f"{_LONG} is left out: it trains for minutes. Evaluate it too: isogloss demo --all (extra papers).\n")


def _answer(out: Console, searcher: Searcher) -> None:
    from isogloss.search.snippets import reasons_of

    for query in _QUERIES:
        rows = []
        for hit in (hit for language in LANGUAGES for hit in searcher.search(query, k=1, languages=[language])):
            reasons = reasons_of(searcher, hit.language, hit.document, hit.explanation)
            told = [f"{part.query_word} → {', '.join(part.different_words)}" for part in reasons if part.document_words]
            topic = hit.document.id.removeprefix(f"{hit.language}-")
            rows.append((LANGUAGES[hit.language], f"{hit.document.title} ({topic})", "; ".join(told[:3])))
        print_table(out, f"“{query}”", ("", "best document", "because of"), rows, left=3)
