"""``isogloss index``."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli import options as shared
from isogloss.cli.options import SOURCE_HELP, settings_for, wants_ray
from isogloss.cli.output import check_outputs, counted_languages, note, note_problems
from isogloss.storage.errors import InputError
from isogloss.text.language_names import code_or_itself

if TYPE_CHECKING:
    from isogloss.data.translations import OwnTranslations
    from isogloss.index.language_systems import Encode
    from isogloss.index.manifest import Manifest

APPROXIMATE = ("auto", "yes", "no")
EXAMPLE = """\
  isogloss index my-documents -o my-index                       # their languages are detected
  isogloss index my-documents -o my-index --query-language en --query-language de
  isogloss index manuals -o manuals.index --set lexicon=en-de.txt
  isogloss index docs/es -o docs.index --translations docs/en
  isogloss index pages.jsonl -o pages.index --language fr --language it --set 'lexicon=dictionaries/{pair}.txt'
  isogloss index articles.jsonl -o articles.index --facet product --facet year
  isogloss index demo -o my-index --language fr --system my-run --engine postgresql://localhost/pages"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments."""
    parser.add_argument("documents", metavar="DOCUMENTS", help=SOURCE_HELP)
    parser.add_argument(
        "--system", metavar="SYSTEM_OR_RUN",
        help="a system ('isogloss systems'), or a run of 'isogloss train' (default bridge)",
    )  # fmt: skip
    parser.add_argument(
        "--language", action="append", default=[], type=code_or_itself, metavar="LANG",
        help="language of the documents (repeatable; default: detected, document by document)",
    )  # fmt: skip
    parser.add_argument(
        "--translations", action="append", default=[], metavar="SOURCE",
        help="translations to train on: a folder or JSON lines with the documents in the language of the queries, or "
        "parallel text (.po, .mo, .tmx, .tsv, CORPUS for CORPUS.en and CORPUS.es); repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--translation-key", default="", metavar="KEY",
        help="with --translations: what documents and their translations share, a key of their front matter or of "
        "their JSON objects (default: paths without the language, ids, translation_key, slug)",
    )  # fmt: skip
    parser.add_argument(
        "--query-language", action="append", type=code_or_itself, metavar="LANG",
        help="language of the queries (repeatable: then that of each query is detected; default en)",
    )  # fmt: skip
    parser.add_argument(
        "--fields", default="title,text", help="what is searched: text, title or title,text (default title,text)"
    )
    parser.add_argument(
        "--facet", action="append", default=[], metavar="FIELD",
        help="a field of the documents whose values are counted among the hits of a search, to narrow it (repeatable)",
    )  # fmt: skip
    shared.add_skip_bad(parser, "documents that are wrong, and count them,")
    parser.add_argument(
        "--no-source-documents", action="store_true",
        help="keep no documents in the language of the queries (':doc' at the prompt of 'isogloss search' needs them)",
    )  # fmt: skip
    shared.add_settings(parser)
    shared.add_output(parser, what="the index, a directory")
    parser.add_argument(
        "--engine", metavar="URL",
        help="keep documents and vectors in an engine (postgresql://…, qdrant:FOLDER); INDEX says "
        "where they are, without the password: for that there are ISOGLOSS_ENGINE and the engine's own ways",
    )  # fmt: skip
    parser.add_argument(
        "--approximate", choices=APPROXIMATE,
        help="with --engine: search vectors approximately (HNSW), where there are many of them unless "
        "you say (default auto); vectors in files always decide by themselves",
    )  # fmt: skip
    shared.add_cluster(parser, "align words and index the documents on")


def run(options: argparse.Namespace) -> None:
    """Make an index."""
    from isogloss.data.documents import parse_fields
    from isogloss.data.problems import Problems
    from isogloss.data.readers.registry import open_source
    from isogloss.index.making import make_index
    from isogloss.systems.base import AUTO
    from isogloss.systems.lexicons import knowledge_note, with_auto_lexicon
    from isogloss.systems.registry import DEFAULT_SYSTEM, system_type

    system = options.system or DEFAULT_SYSTEM
    settings = with_auto_lexicon(system, settings_for(system, [system], options.settings))
    if options.approximate and not options.engine:
        raise InputError("index: --approximate is for --engine; vectors in files decide by themselves")
    check_outputs(options.overwrite, options.output, source=options.documents)
    problems, source = Problems(not options.skip_bad), open_source(options.documents)
    query_languages = options.query_language or ["en"]
    with _encoding(options) as encode:
        manifest = make_index(
            Path(options.output), system, source, options.language, query_languages, parse_fields(options.fields),
            settings, options.overwrite, problems,
            not options.no_source_documents, options.engine or "", encode, _translations(options),
            options.facet,
        )  # fmt: skip
    if settings.get("lexicon") == AUTO:
        starter = system_type(system).uses_starter
        pairs: dict[str, list[str]] = {}
        for pair in product(query_languages, manifest.documents):
            if known := knowledge_note(pair, starter, source):
                pairs.setdefault(known, []).append("-".join(pair))
        for known, of_pairs in pairs.items():
            note(f"{', '.join(of_pairs)}: uses {known}", options.quiet)
    tell_index(options.output, manifest, options.quiet)
    note_problems(problems, options.quiet, source=options.documents)
    try:
        if options.engine:
            approximate(options.output, options.approximate or "auto", options.quiet)
    except InputError as error:
        if options.approximate == "yes":  # the index is complete without, so only an explicit request may fail
            raise
        way = f"build it later: isogloss re-encode {options.output} --approximate yes"
        note(f"warning: {options.output}: searched exactly ({error}); {way}", options.quiet)


def approximate(path: str, how: str, quiet: bool) -> None:
    """Let the engine of an index search approximately, or not, and print the recall."""
    from isogloss.index.in_engine import approximate_in_engine

    recalls = approximate_in_engine(Path(path), how)
    reached = ", ".join(f"{language} {recall:.3f}" for language, recall in recalls.items())
    if reached:
        note(f"{path}: searched approximately, recall@10 measured: {reached}", quiet)
    elif how != "auto":
        note(f"{path}: searched exactly", quiet)


def _translations(options: argparse.Namespace) -> OwnTranslations | None:
    """The translations that the user has."""
    from isogloss.data.translations import OwnTranslations

    if not options.translations and not options.translation_key:
        return None
    return OwnTranslations(options.translations, options.translation_key, partial(note, quiet=options.quiet))


def _encoding(options: argparse.Namespace) -> AbstractContextManager[Encode | None]:
    """The cluster that indexes the documents, if one does."""
    if not wants_ray(options.on):
        return nullcontext()
    from isogloss.engines.ray.data import indexing_on_ray

    return indexing_on_ray(Path(options.output))


def tell_index(path: str, manifest: Manifest, quiet: bool) -> None:
    """Print how many documents an index has, and where they are."""
    counts = counted_languages(manifest.documents)
    for language, count in manifest.sources.items():
        counts += f", and {count:,} in {language} to search with"
    if manifest.engine:
        counts += f", in {manifest.engine.url} as {manifest.engine.name}"
    note(f"{path}: {counts}; search with: isogloss search {path} 'your query'", quiet)
