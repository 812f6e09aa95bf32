"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.data.dataset import Dataset
    from isogloss.data.source import Source

SOURCE_HELP = (
    "a folder, a file, or FORMAT:WHERE (wikiclir, beir, trec, jsonl, folder, platt, irds, po, tmx, moses, tsv), or demo"
)


def _whole_number(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
    return int(text)


count, seed = partial(_whole_number, least=1), partial(_whole_number, least=0)
"""Types of arguments: whole numbers from 1 and from 0 up."""


def number(what: str, fits: Callable[[float], bool]) -> Callable[[str], float]:
    """A number that fits; ``what`` it is stands in the error message."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")  # which fits nowhere
        if not fits(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number {what}")
        return value

    return parse


def add_index(parser: argparse.ArgumentParser) -> None:
    """INDEX and --engine."""
    parser.add_argument("index", metavar="INDEX", help="a directory made by 'isogloss index'")
    parser.add_argument(
        "--engine", dest="named_engine", metavar="URL",
        help="where the engine of INDEX is, if it has one that you have not named on this machine before",
    )  # fmt: skip


def add_data(parser: argparse.ArgumentParser) -> None:
    """--data, --pair and what goes with reading a pair."""
    parser.add_argument("--data", required=True, metavar="SOURCE", help=SOURCE_HELP)
    add_pair(parser)
    add_reading(parser)


def add_pair(parser: argparse.ArgumentParser) -> None:
    """--pair."""
    parser.add_argument("--pair", required=True, help="query language and document language, like en-fr")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """--seed and --skip-bad."""
    parser.add_argument("--seed", type=seed, default=0, help="fixes splits and samples (default 0)")
    add_skip_bad(parser, "lines that are wrong, and count them,")


def add_queries(parser: argparse.ArgumentParser) -> None:
    """--queries."""
    parser.add_argument(
        "--queries", type=count, default=0, metavar="N",
        help="use N judged queries of the data, drawn by the seed within each split (default: all)",
    )  # fmt: skip


def add_skip_bad(parser: argparse.ArgumentParser, what: str) -> None:
    """--skip-bad."""
    parser.add_argument("--skip-bad", action="store_true", help=f"skip {what} instead of stopping")


def add_cluster(parser: argparse.ArgumentParser, work: str) -> None:
    """--on."""
    parser.add_argument(
        "--on", choices=("ray",),
        help=f"{work} a Ray cluster: that of RAY_ADDRESS, which is enough to say so, or one that is started on this "
        "machine",
    )  # fmt: skip


def read_dataset(source: Source, options: argparse.Namespace) -> Dataset:
    """The pair of a source as --pair, --seed and --skip-bad say."""
    from isogloss.data.dataset import load_dataset
    from isogloss.data.problems import Problems
    from isogloss.data.source import parse_pair

    return load_dataset(source, parse_pair(options.pair), options.seed, Problems(not options.skip_bad))


def add_settings(parser: argparse.ArgumentParser) -> None:
    """--set."""
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="[NAME.]KEY=VALUE",
        help="an option of a system (see 'isogloss systems NAME'); NAME. is needed with several systems",
    )  # fmt: skip


def add_output(parser: argparse.ArgumentParser, required: bool = True, what: str = "where to write") -> None:
    """-o and --overwrite."""
    parser.add_argument("-o", "--output", required=required, metavar="PATH", help=what)
    add_overwrite(parser)


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """--json."""
    parser.add_argument("--json", metavar="FILE", help=f"write {what} as JSON ('-': standard output)")


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """--overwrite."""
    parser.add_argument(
        "--overwrite", action="store_true",
        help="replace an existing output; the old one stays until the new one is complete",
    )  # fmt: skip


def settings_for(name: str, systems: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    """The settings of one system from --set."""
    found = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InputError(f"--set: {setting!r} is not written KEY=VALUE")
        prefix = next((system for system in systems if key.startswith(f"{system}.")), None)
        if prefix is None and len(systems) > 1:
            raise InputError(f"--set: with several systems write NAME.{key}=…, NAME being one of {', '.join(systems)}")
        if prefix in (None, name):
            found[key.removeprefix(f"{name}.")] = value
    return name_models(found)


def name_models(settings: dict[str, str]) -> dict[str, str]:
    """Settings whose pretrained models the user has named, and which may be loaded now."""
    if not any("pretrained" in text for setting in settings.items() for text in setting):
        return settings  # and nothing more is imported
    from isogloss.encoders.pretrained_encoder import with_named_models

    return with_named_models(settings)


def add_reranking(parser: argparse.ArgumentParser) -> None:
    """--rerank and --rerank-depth."""
    parser.add_argument(
        "--rerank",
        metavar="RUN_OR_MODEL",
        help="put the first hits in the order of a run of 'isogloss train', or of a cross-encoder (folder or name)",
    )
    parser.add_argument(
        "--rerank-depth", type=count, default=50, metavar="N", help="with --rerank: how many hits (default 50)"
    )


def add_translator(parser: argparse.ArgumentParser) -> None:
    """--translator."""
    parser.add_argument(
        "--translator", metavar="TRANSLATOR",
        help="translate snippets instead of glossing them word for word: apertium, ctranslate2:DIR, argos:DIR, or the "
        "http address of a LibreTranslate service (default: what ISOGLOSS_TRANSLATOR names, else none)",
    )  # fmt: skip


def wants_ray(on: str | None) -> bool:
    """Whether a job is to run on Ray: the user wrote ``--on ray``, or a cluster is named in ``RAY_ADDRESS``.

    Raises an error that names the extra if Ray is wanted and not there.
    """
    wanted = on == "ray" or bool(os.environ.get("RAY_ADDRESS"))
    if wanted:
        from isogloss.engines.ray.cluster import import_ray

        import_ray()
    return wanted
