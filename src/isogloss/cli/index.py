"""``isogloss index``."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, add_cluster, add_output, add_settings, add_skip_bad, settings_for
from isogloss.cli.output import check_outputs, note
from isogloss.storage.errors import InputError

if TYPE_CHECKING:
    from isogloss.data.problems import Problems
    from isogloss.data.source import Source
    from isogloss.index.making import Encode
    from isogloss.index.manifest import Manifest

_EXAMPLE = """\
  isogloss index bm25-dict --documents demo --language fr --language sw -o my-index
  isogloss index psq --documents folder:manuals --language de -o manuals.index --set lexicon=en-de.txt
  isogloss index psq --documents jsonl:pages.jsonl --language fr --language it -o pages.index --set
  'lexicon=dictionaries/{pair}.txt'
  isogloss index my-run --documents demo --language fr -o my-index --store postgresql://localhost/pages
  isogloss index --into my-index --approximate yes       # build HNSW, and measure what it reaches
  isogloss index new-run --into my-index --re-encode     # all its documents by another model
  isogloss index --check my-index                        # is every file what was written?
  isogloss index --repair my-index                       # if not: what can be made again is"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command."""
    parser = add_command(commands, name, summary, _EXAMPLE)
    parser.add_argument(
        "system", nargs="?", metavar="SYSTEM_OR_RUN",
        help="a system ('isogloss systems'), or a run of 'isogloss train'",
    )  # fmt: skip
    parser.add_argument("--documents", metavar="SOURCE", help=SOURCE_HELP)
    parser.add_argument("--language", action="append", metavar="LANG", help="language of the documents (repeatable)")
    parser.add_argument("--query-language", default="en", metavar="LANG", help="language of the queries (default en)")
    parser.add_argument(
        "--fields", default="title,text", help="what is searched: text, title or title,text (default title,text)"
    )
    add_skip_bad(parser, "documents that are wrong, and count them,")
    parser.add_argument(
        "--no-source-documents", action="store_true",
        help="keep no documents in the language of the queries (':doc' at the prompt of 'isogloss search' needs them)",
    )  # fmt: skip
    add_settings(parser)
    add_output(parser, required=False, what="the index, a directory")
    parser.add_argument(
        "--store", metavar="URL",
        help="keep documents and vectors in an engine (postgresql://…, qdrant:FOLDER); INDEX says "
        "where they are, without the password: for that there are ISOGLOSS_STORE and the engine's own ways",
    )  # fmt: skip
    parser.add_argument(
        "--approximate", choices=("auto", "yes", "no"),
        help="with --store, or with --into for an index in a store: search vectors approximately (HNSW of pgvector), "
        "where there are many of them unless you say (default auto); vectors in files always decide by themselves",
    )  # fmt: skip
    add_cluster(parser, "encode the documents on")
    parser.add_argument("--into", metavar="INDEX", help="use the model for an index that is there")
    parser.add_argument(
        "--re-encode", action="store_true", help="with --into: encode all documents of the index anew by this model"
    )
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--check", metavar="INDEX", help="compare every file of an index with its checksum")
    other.add_argument(
        "--repair", metavar="INDEX",
        help="mend an index that is damaged: documents whose texts are whole are indexed anew, the others are listed",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make an index, or look after one."""
    if options.check:
        return _check(options)
    if options.repair:
        return _repair(options)
    if options.into and options.approximate and not options.system:
        _approximate(options.into, options.approximate, options.quiet)
        return 0
    if not options.system:
        raise InputError("index: a SYSTEM_OR_RUN is needed; see 'isogloss index --help'")
    if options.into:
        if options.store:
            raise InputError("index: --store is for a new index; one that is there stays where it is")
        if options.approximate:
            raise InputError("index: --into with --approximate takes no SYSTEM_OR_RUN; give it by itself")
        return _into(options)
    if options.approximate and not options.store:
        raise InputError("index: --approximate is for --store; vectors in files decide by themselves")
    return _make(options)


def _make(options: argparse.Namespace) -> int:
    from isogloss.data.documents import parse_fields
    from isogloss.data.formats import open_source
    from isogloss.data.problems import Problems
    from isogloss.index.making import make_index

    _need(options, "documents", "language", "output")
    check_outputs(options.overwrite, options.output, source=options.documents)
    problems = Problems(not options.skip_bad)
    with _encoding(options) as encode:
        manifest = make_index(
            Path(options.output), options.system, open_source(options.documents), options.language,
            options.query_language, parse_fields(options.fields),
            settings_for(options.system, [options.system], options.settings), options.overwrite, problems,
            not options.no_source_documents, options.store or "", encode,
        )  # fmt: skip
    _tell(options.output, manifest, options.quiet)
    tell_problems(problems, options.quiet)
    if options.store:
        _approximate_new(options)
    return 0


def _approximate_new(options: argparse.Namespace) -> None:
    """The same for an index that was just made, which is whole without it: so what nobody asked for may fail."""
    try:
        _approximate(options.output, options.approximate or "auto", options.quiet)
    except InputError as error:
        if options.approximate == "yes":
            raise
        way = f"build it later: isogloss index --into {options.output} --approximate yes"
        note(f"warning: {options.output}: searched exactly ({error}); {way}", options.quiet)


def _approximate(path: str, how: str, quiet: bool) -> None:
    """Let the store of an index search approximately, or not, and tell what that reaches."""
    from isogloss.index.in_engine import approximate_in_engine

    recalls = approximate_in_engine(Path(path), how)
    reached = ", ".join(f"{language} {recall:.3f}" for language, recall in recalls.items())
    if reached:
        note(f"{path}: searched approximately, recall@10 measured: {reached}", quiet)
    elif how != "auto":
        note(f"{path}: searched exactly", quiet)


def _encoding(options: argparse.Namespace) -> AbstractContextManager[Encode | None]:
    """What encodes the documents: a cluster, or nothing in particular."""
    from isogloss.engines.ray_cluster import wants_ray

    if not wants_ray(options.on):
        return nullcontext()
    from isogloss.engines.ray_encoding import encoding_on_ray

    return encoding_on_ray(Path(options.output))


def _into(options: argparse.Namespace) -> int:
    """Documents for an index by a model that is given: the same that made the index, or another for all of them."""
    from isogloss.data.formats import open_source
    from isogloss.data.problems import Problems
    from isogloss.index.re_encoding import re_encode

    problems = Problems(not options.skip_bad)
    path, source = Path(options.into), open_source(options.documents) if options.documents else None
    if options.re_encode:
        settings = settings_for(options.system, [options.system], options.settings)
        _tell(options.into, re_encode(path, options.system, source, settings, problems), options.quiet)
    if not options.re_encode or options.language:
        _need(options, "documents")
        assert source is not None
        _add_by_model(options, source, problems)
    tell_problems(problems, options.quiet)
    return 0


def _add_by_model(options: argparse.Namespace, source: Source, problems: Problems) -> None:
    from isogloss.cli.add import add_documents
    from isogloss.index.making import ready_system
    from isogloss.index.re_encoding import refuse_another_model
    from isogloss.index.reader import open_index

    settings = settings_for(options.system, [options.system], options.settings)
    with closing(open_index(Path(options.into))) as index:
        for language in options.language or index.engine.shelves:
            pair = (index.manifest.query_language, language)
            refuse_another_model(index, language, ready_system(options.system, source, pair, settings, problems))
    add_documents(options.into, source, options.language, settings, problems, options.quiet)


def _check(options: argparse.Namespace) -> int:
    from isogloss.index.checking import check_index

    count, problems = check_index(Path(options.check))
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        for problem in problems[1:]:
            note(problem, options.quiet)
        what = f"mend it with 'isogloss index --repair {options.check}', or restore it"
        raise InputError(f"{options.check}: is damaged: {problems[0]}{more}; {what}")
    note(f"{options.check}: all {count:,} files are what was written", options.quiet)
    return 0


def _repair(options: argparse.Namespace) -> int:
    """Mend an index; the ids of documents that have to be added again, behind their language, on standard output."""
    from isogloss.index.checking import repair_index

    done = repair_index(Path(options.repair))
    for problem in done.problems:
        note(problem, options.quiet)
    restored, named = sum(done.restored.values()), sum(map(len, done.lost.values()))
    if not done.problems:
        note(f"{options.repair}: all files are what was written", options.quiet)
        return 0
    note(f"{options.repair}: mended; documents indexed anew: {restored:,}", options.quiet)
    if named or done.unnamed:
        unnamed = f", and {done.unnamed:,} of which no id is left" if done.unnamed else ""
        note(f"{options.repair}: to be added again, unless they were deleted: {named:,}{unnamed}", options.quiet)
    for language, ids in done.lost.items():
        for id_ in ids:
            print(f"{language}\t{id_}")
    return 0


def _need(options: argparse.Namespace, *names: str) -> None:
    missing = [name for name in names if not getattr(options, name)]
    if missing:
        said = {"output": "-o/--output"}
        wanted = ", ".join(said.get(name, f"--{name}") for name in missing)
        raise InputError(f"index: the following arguments are required: {wanted}; see 'isogloss index --help'")


def _tell(path: str, manifest: Manifest, quiet: bool) -> None:
    counts = ", ".join(f"{count:,} in {language}" for language, count in manifest.documents.items())
    if manifest.sources:
        counts += f", and {manifest.sources:,} in {manifest.query_language} to search with"
    if manifest.store:
        counts += f", in {manifest.store.url} as {manifest.store.name}"
    note(f"{path}: {counts}; search with: isogloss search {path} 'your query'", quiet)


def tell_problems(problems: Problems, quiet: bool) -> None:
    """How many of each kind were found, and skipped."""
    for kind, count in (*problems.errors.items(), *problems.warnings.items()):
        note(f"{count:,} x {kind}", quiet)
