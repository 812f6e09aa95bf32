"""``isogloss reproduce adhoc``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.main import add_command
from isogloss.cli.options import add_data
from isogloss.cli.output import console, note, print_table
from isogloss.storage.errors import InputError
from isogloss.storage.files import refuse_existing

if TYPE_CHECKING:
    from isogloss.data.dataset import Dataset
    from isogloss.papers.adhoc import Mates
    from isogloss.systems.aligned import AlignedOptions

_ITEMS = ("table", "figure", "toy")
_TOY_LANGUAGES = ("fr", "it", "es", "sw", "tl", "zh")
_EXAMPLE = """\
  isogloss reproduce adhoc --data wikiclir:DIR --pair en-es -o adhoc --lexicon en-es.txt --text wikiclir:MORE
  isogloss reproduce adhoc toy --data demo --pair en-fr -o toy"""


def add_to(papers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the paper."""
    parser = add_command(papers, "adhoc", "Cross-Lingual ad hoc Semantic Retrieval", _EXAMPLE)
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"{', '.join(_ITEMS)} (default: all)")
    add_data(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="where tables and figures go; vectors there are used again"
    )
    parser.add_argument("--overwrite", action="store_true", help="write into a directory that is not empty")
    parser.add_argument(
        "--lexicon", default="", metavar="FILE", help="bilingual lexicon (default: the data's own, or induced)"
    )
    parser.add_argument(
        "--text", action="append", default=[], metavar="SOURCE", help="more text to train vectors on (repeatable)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Make the tables and figures of a paper."""
    from isogloss.data.dataset import load_dataset
    from isogloss.data.formats import open_source
    from isogloss.data.problems import Problems
    from isogloss.data.source import parse_pair
    from isogloss.papers.adhoc import known_mates, prepare_vectors
    from isogloss.papers.figures import need_drawing
    from isogloss.systems.aligned import AlignedOptions
    from isogloss.systems.lexicons import fill_languages
    from isogloss.translation.lexicon import Lexicon

    unknown = [item for item in options.items if item not in _ITEMS]
    if unknown:
        raise InputError(f"reproduce: {unknown[0]!r} is not one of {', '.join(_ITEMS)}")
    items, output = options.items or list(_ITEMS), Path(options.output)
    refuse_existing(output, options.overwrite)
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file, a directory is needed")
    if "figure" in items:
        need_drawing()
    source = open_source(options.data)
    dataset = load_dataset(source, parse_pair(options.pair), options.seed, Problems(not options.skip_bad))
    more = [open_source(text) for text in options.text]
    mates = known_mates(dataset)
    lexicon = fill_languages(options.lexicon, *dataset.pair) or str(source.lexicon(dataset.pair) or "")
    if lexicon not in ("", "induced"):
        Lexicon.read(lexicon)  # what is wrong with it is found before vectors are trained
    output.mkdir(parents=True, exist_ok=True)
    query_vectors, document_vectors = prepare_vectors(dataset, output / "vectors", more)
    base = AlignedOptions(lexicon=lexicon, query_vectors=str(query_vectors), document_vectors=str(document_vectors))
    makers = {"table": _table, "figure": _figure, "toy": _toy}
    for item in items:
        makers[item](dataset, mates, base, output)
    note(f"{output}: {', '.join(sorted(path.name for path in output.iterdir()))}", options.quiet)


def _table(dataset: Dataset, mates: Mates, base: AlignedOptions, output: Path) -> None:
    """Alignments by weights, the paper's own first; its ranked.csv and that of the best."""
    from isogloss.papers.adhoc import as_table, configurations, run_configuration, write_csv, write_ranked
    from isogloss.storage.progress import track

    made = configurations(base)
    runs = {
        name: run_configuration(dataset, mates, options, name)
        for name, options in track(list(made.items()), "searching mates")
    }
    header = ("configuration", "MAP", "R-precision", "found in the first 10")
    write_csv(output / "table.csv", header, as_table(runs))
    write_ranked(output / "ranked.csv", runs["paper"], dataset, mates)
    write_ranked(output / "ranked.best.csv", runs["best"], dataset, mates)
    pair = "-".join(dataset.pair)
    title = f"{dataset.source.name} {pair}: {len(mates.documents):,} documents search {len(dataset.documents):,}"
    print_table(console(), title, header, as_table(runs))


def _figure(dataset: Dataset, mates: Mates, base: AlignedOptions, output: Path) -> None:
    """MAP against the number of word pairs."""
    from isogloss.papers.adhoc import pair_curves, write_csv
    from isogloss.papers.figures import draw_lines
    from isogloss.storage.progress import track

    points = list(track(pair_curves(dataset, mates, base), "MAP by pairs"))
    header = ("configuration", "pairs", "MAP")
    write_csv(output / "map_by_pairs.csv", header, [(name, pairs, f"{value:.4f}") for name, pairs, value in points])
    print_table(console(), "MAP against the number of pairs", header, [(n, f"{p:,}", f"{v:.4f}") for n, p, v in points])
    curves = {
        name: ([p for n, p, _ in points if n == name], [v for n, _, v in points if n == name])
        for name in dict.fromkeys(name for name, _, _ in points)
    }
    draw_lines(output / "map_by_pairs.png", curves, "lexicon pairs", "MAP", "What the matrix gains from more pairs")


def _toy(dataset: Dataset, mates: Mates, base: AlignedOptions, output: Path) -> None:
    """Queries of typical words over the bundled collection."""
    from isogloss.data.dataset import load_dataset
    from isogloss.data.readers.demo import Demo
    from isogloss.papers.adhoc import prepare_vectors, write_csv
    from isogloss.papers.toy import ask_toy
    from isogloss.systems.aligned import AlignedOptions
    from isogloss.systems.registry import make_system
    from isogloss.translation.vectors.training import VectorTraining

    source = Demo()
    how = VectorTraining(minimum_count=1, window=AlignedOptions.window)  # what the system itself would choose here
    rows, shown = [], []
    for language in _TOY_LANGUAGES:
        toy = load_dataset(source, ("en", language))
        paths = map(str, prepare_vectors(toy, output / "vectors" / "toy", how=how))
        given = dict(zip(("query_vectors", "document_vectors"), paths, strict=True))
        for method in ("paper", "best"):
            system = make_system("aligned", toy.pair, {"method": method, **given}, source)
            system.fit(toy)
            system.index(toy.documents, ("text",))
            answers = ask_toy(system, toy.source_documents, toy.documents)
            rows += [(language, method, a.query, a.wanted, a.found, a.rank) for a in answers]
            first = sum(answer.rank == 1 for answer in answers) / len(answers)
            mean = sum(1 / answer.rank for answer in answers if answer.rank) / len(answers)
            shown.append((language, method, f"{first:.3f}", f"{mean:.3f}"))
    write_csv(output / "toy.csv", ("language", "method", "query", "wanted", "found", "rank"), rows)
    title = "Toy collection: every article asked with its five most typical English words"
    print_table(console(), title, ("language", "method", "found first", "MAP"), shown, left=2)
