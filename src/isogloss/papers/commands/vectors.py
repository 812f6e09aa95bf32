"""``isogloss vectors train | convert | align | nearest | translate``."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.cli.main import Commands, add_command
from isogloss.cli.options import SOURCE_HELP, add_json, add_output, add_overwrite, add_skip_bad, count, number, seed
from isogloss.cli.output import check_outputs, console, note, note_problems, print_table, write_json
from isogloss.storage.errors import InputError
from isogloss.text.language_names import code_or_itself

if TYPE_CHECKING:
    from isogloss.papers.word_vectors.alignment import Alignment
    from isogloss.papers.word_vectors.refinement import Refinement, TranslationAccuracy
    from isogloss.papers.word_vectors.word_vectors import WordVectors
    from isogloss.storage.array_types import Matrix

FILE_FORMATS = ("word2vec", "glove", "binary")
_VECTORS_HELP = "word2vec, GloVe, fastText or Polyglot, plain or .gz, or a directory made by isogloss"
_HELD_OUT = 0.2
_SHORTLIST = 1_000
_BAD = "lines that are wrong, and count them,"
SUMMARY = "word vectors: train, convert, align two languages, find nearest words"
EXAMPLE = """\
  isogloss vectors train --documents demo --language en -o en.vectors
  isogloss vectors align --help"""
_TRAIN_EXAMPLE = """\
  isogloss vectors train --documents demo --language en -o en.vectors
  isogloss vectors train --documents wikiclir:DIR --documents folder:DIR --language fr -o word2vec:fr.vec"""
_CONVERT_EXAMPLE = """\
  isogloss vectors convert cc.fr.300.vec.gz --limit 200000 -o fr.vectors
  isogloss vectors convert fr.vectors -o word2vec:fr.vec.gz"""
_ALIGN_EXAMPLE = """\
  isogloss vectors align en.vectors fr.vectors --lexicon en-fr.txt -o en-fr.alignment --evaluate
  isogloss vectors align en.vec fr.vec --lexicon en-fr.txt -o DIR --pairs 4000 --method pinv \\
      --no-normalise --no-centre       # the ad hoc paper's way"""
_NEAREST_EXAMPLE = "  isogloss vectors nearest en.vectors volcano 'ice cream' -k 5"
_TRANSLATE_EXAMPLE = "  isogloss vectors translate en.vectors fr.vectors --alignment en-fr.alignment volcano honey"
_SHARE = number("from 0 to 1", lambda value: 0 <= value <= 1)
_PART = number("between 0 and 1", lambda value: 0 < value < 1)
_POSITIVE = number("above 0", lambda value: 0 < value < float("inf"))

Scored = list[tuple[str, float]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the sub-commands."""
    parts = parser.add_subparsers(dest="part", metavar="train|convert|align|nearest|translate", required=True)
    for add in (_add_train, _add_convert, _add_align, _add_nearest, _add_translate):
        add(parts)


def _add_train(parts: Commands) -> None:
    parser = add_command(parts, "train", "vectors for the words of some documents", _TRAIN_EXAMPLE, train)
    parser.add_argument(
        "--documents", required=True, action="append", metavar="SOURCE", help=f"{SOURCE_HELP} (repeatable)"
    )
    parser.add_argument(
        "--language", required=True, type=code_or_itself, metavar="LANG", help="language of the documents"
    )
    parser.add_argument("--fields", default="title,text", help="what is read: text, title or title,text (the default)")
    for name, default, text in (
        ("--dimension", 300, "numbers a word"),
        ("--window", 5, "neighbours on each side that count"),
        ("--minimum-count", 3, "words that occur less often get no vector"),
        ("--maximum-words", 50_000, "words that get a vector, the most frequent ones"),
        ("--contexts", 4_000, "words that count as neighbours, the most frequent ones"),
    ):
        parser.add_argument(name, type=count, default=default, metavar="N", help=f"{text} (default {default})")
    parser.add_argument(
        "--smoothing", type=_SHARE, default=0.75, metavar="A", help="power of the neighbours' counts (default 0.75)"
    )
    parser.add_argument(
        "--singular-power", type=_SHARE, default=0.0, metavar="P", help="power of the singular values (default 0)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="fixes the vectors (default 0)")
    add_skip_bad(parser, _BAD)
    _add_target(parser)


def _add_convert(parts: Commands) -> None:
    parser = add_command(parts, "convert", "word vectors into another format", _CONVERT_EXAMPLE, convert)
    parser.add_argument("vectors", metavar="INPUT", help=_VECTORS_HELP)
    _add_reading(parser)
    _add_target(parser)


def _add_align(parts: Commands) -> None:
    parser = add_command(parts, "align", "one space for the word vectors of two languages", _ALIGN_EXAMPLE, align)
    _add_two_languages(parser)
    parser.add_argument(
        "--lexicon", required=True, metavar="FILE", help="words and their translations: tab-separated, MUSE or FreeDict"
    )
    parser.add_argument(
        "--pairs", type=count, metavar="N",
        help="fit on the N most frequent words of the query language (the first of its vectors), one translation each "
        "(default: on all pairs)",
    )  # fmt: skip
    methods = ("procrustes", "ridge", "pinv")
    parser.add_argument(
        "--method", default=methods[0], choices=methods, help=f"how the map is found (default {methods[0]})"
    )
    parser.add_argument("--ridge", type=_POSITIVE, metavar="L", help="lambda of --method ridge (default 1)")
    parser.add_argument("--no-normalise", dest="normalise", action="store_false", help="leave the lengths as they are")
    parser.add_argument("--no-centre", dest="centre", action="store_false", help="leave the mean where it is")
    directions = ("source-to-target", "target-to-source")
    parser.add_argument(
        "--direction", default=directions[0], choices=directions,
        help=f"which side is mapped to the other; the query language is the source (default {directions[0]})",
    )  # fmt: skip
    parser.add_argument(
        "--refine", type=count, default=0, metavar="ROUNDS",
        help="so many times: add the words that are each other's nearest, align again (default: never)",
    )  # fmt: skip
    _add_reading(parser)
    add_output(parser, required=False, what="the alignment, a directory (not needed with --evaluate)")
    parser.add_argument(
        "--evaluate", action="store_true",
        help="show how many words are translated right (P@1, P@5, P@10) when it is fitted without them; what is "
        "written is fitted on all",
    )  # fmt: skip
    parser.add_argument(
        "--held-out", type=_PART, metavar="SHARE", help="of the lexicon's words, for --evaluate (default 0.2)"
    )
    parser.add_argument("--seed", type=seed, help="draws the held-out words (default 0)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--csls", action="store_true", default=None, help="--evaluate by CSLS, which counters hubs (the default)"
    )
    how.add_argument("--cosine", action="store_true", default=None, help="--evaluate by cosine")
    add_json(parser, "what it was made of and how good it is")


def _add_nearest(parts: Commands) -> None:
    parser = add_command(parts, "nearest", "the words nearest to a word, by cosine", _NEAREST_EXAMPLE, nearest)
    parser.add_argument("vectors", metavar="VECTORS", help=_VECTORS_HELP)
    _add_words(parser, "neighbours")


def _add_translate(parts: Commands) -> None:
    parser = add_command(
        parts, "translate", "the words of another language nearest to a word", _TRANSLATE_EXAMPLE, translate
    )
    _add_two_languages(parser)
    parser.add_argument("--alignment", required=True, metavar="DIR", help="made by 'isogloss vectors align'")
    parser.add_argument("--cosine", action="store_true", help="by cosine (default: CSLS, which counters hubs)")
    _add_words(parser, "translations")


def _add_two_languages(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query_vectors", metavar="QUERY_VECTORS", help=f"of the query language: {_VECTORS_HELP}")
    parser.add_argument("document_vectors", metavar="DOCUMENT_VECTORS", help="of the document language, likewise")


def _add_words(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="a word, or a phrase in quotes")
    parser.add_argument("-k", type=count, default=10, help=f"how many {what} (default 10)")
    _add_reading(parser)
    add_json(parser, "them")
    add_overwrite(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, metavar="N", help="read only the first N words of vectors")
    add_skip_bad(parser, _BAD)


def _add_target(parser: argparse.ArgumentParser) -> None:
    add_output(parser, what="a directory (opened without being read), or word2vec:FILE, glove:FILE, binary:FILE")
    parser.add_argument("--format", choices=FILE_FORMATS, help="another way to say it: -o FILE --format word2vec")


def train(options: argparse.Namespace) -> None:
    """Train vectors on the documents of some sources and write them."""
    from isogloss.data.dataset import load_collection
    from isogloss.data.documents import parse_fields
    from isogloss.data.problems import Problems
    from isogloss.data.readers.registry import open_source
    from isogloss.papers.word_vectors.training import VectorTraining, train_vectors

    target = _checked_target(options, options.documents)
    read = parse_fields(options.fields)
    sources = [open_source(name) for name in options.documents]
    problems = Problems(not options.skip_bad)
    texts = [text for source in sources for text in load_collection(source, options.language, problems).texts(read)]
    vectors = train_vectors(texts, VectorTraining(**{f.name: getattr(options, f.name) for f in fields(VectorTraining)}))
    _write(vectors, target, options)
    if vectors.dimension < options.dimension:
        note(f"{vectors.dimension} dimensions are all that so few words allow", options.quiet)
    note_problems(problems, options.quiet)


def convert(options: argparse.Namespace) -> None:
    """Read vectors in one format, write them in another."""
    target = _checked_target(options, [f"vectors:{options.vectors}"])
    _write(_read(options.vectors, options), target, options)


def align(options: argparse.Namespace) -> None:
    """Measure an alignment on held-out words, then fit one on all of them and write it; or only one of the two."""
    _check_align(options)
    inputs = {name: getattr(options, name) for name in ("query_vectors", "document_vectors", "lexicon")}
    for path in inputs.values():
        check_outputs(options.overwrite, options.output, options.json, source=f"input:{path}")
    fit = _Fit(options)
    found: dict[str, Any] = {**inputs, "options": asdict(fit.options)}
    trial = accuracy = final = None
    if options.evaluate:
        trial, accuracy = fit.evaluated()
        found["evaluation"] = {
            **asdict(accuracy), "held_out": options.held_out or _HELD_OUT, "seed": options.seed or 0,
            "by": _by(options), "fitted_on": _counts(trial),
        }  # fmt: skip
    if options.output:
        final = fit.without(frozenset())
        found["alignment"] = {"path": options.output, **_counts(final)}
    _write_alignment(options, final.alignment if final else None, found)
    if trial and accuracy and options.json != "-":
        vectors = f"{options.query_vectors} to {options.document_vectors}"
        row = (f"{trial.alignment.pairs:,} pairs", *(f"{value:.4f}" for value in accuracy.measures.values()))
        title = f"{vectors}: {accuracy.words:,} held-out words, by {_by(options)}"
        print_table(console(), title, ("fitted on", *accuracy.measures), [row])
    fitted = final or trial
    assert fitted is not None
    _note_alignment(options, accuracy, fitted)


def nearest(options: argparse.Namespace) -> None:
    """Show the nearest words of the same language; the word itself, or those of a phrase, are not among them."""
    from isogloss.papers.word_vectors.nearest import WordRetriever

    check_outputs(options.overwrite, options.json)
    vectors = _read(options.vectors, options)
    known = _known_words(options.words, vectors, options.vectors)
    retriever = WordRetriever(vectors.matrix)
    found = {}
    for word, rows in known.items():
        near = retriever.nearest_words(_mean(vectors, rows), vectors.words, options.k + len(rows))[0]
        itself = {vectors.words[row] for row in rows}
        found[word] = [scored for scored in near if scored[0] not in itself][: options.k]
    _show(options, found, "nearest", "cosine", options.vectors)


def translate(options: argparse.Namespace) -> None:
    """Show the nearest words of the other language."""
    from isogloss.papers.word_vectors.alignment import Alignment
    from isogloss.papers.word_vectors.nearest import WordRetriever
    from isogloss.papers.word_vectors.word_vectors import WordVectors

    check_outputs(options.overwrite, options.json)
    alignment = Alignment.load(options.alignment)
    source = _fitting(alignment, "source", options.query_vectors, options)
    target = _fitting(alignment, "target", options.document_vectors, options)
    known = _known_words(options.words, source, options.query_vectors)
    queries = {word: alignment.apply(_mean(source, rows), "source") for word, rows in known.items()}
    candidates = alignment.apply(target.matrix, "target")
    if options.cosine:
        retriever = WordRetriever(candidates)
        found = {word: retriever.nearest_words(query, target.words, options.k)[0] for word, query in queries.items()}
    else:
        background = alignment.apply(source.matrix, "source")
        found = _by_csls(queries, WordVectors(target.words, candidates), background, options.k)
    _show(options, found, "translations", _by(options), options.query_vectors)


def _read(path: str, options: argparse.Namespace) -> WordVectors:
    """Read vectors as --limit and --skip-bad say."""
    from isogloss.data.problems import Problems
    from isogloss.papers.word_vectors.files import read_vectors

    problems = Problems(not options.skip_bad)
    vectors = read_vectors(path, options.limit, problems)
    note_problems(problems, options.quiet, f"{path}: ")
    return vectors


def _checked_target(options: argparse.Namespace, sources: list[str]) -> str:
    """The target as ``write_vectors`` takes it, refused before the work where it cannot be written."""
    target = f"{options.format}:{options.output}" if options.format else options.output
    form, colon, where = target.partition(":")
    if colon and (form not in FILE_FORMATS or not where or ":" in where):
        known = ", ".join(f"{name}:FILE" for name in FILE_FORMATS)
        raise InputError(f"output: {target!r} is not one of {known}, or a directory (without a colon in its name)")
    path = Path(where if colon else target)
    for source in sources:
        check_outputs(options.overwrite, path, source=source)
    if colon and path.is_dir():
        raise InputError(f"{path}: is a directory, a file name is needed")
    if not colon and path.is_file():
        raise InputError(f"{path}: is a file, a directory is needed")
    return str(target)


def _write(vectors: WordVectors, target: str, options: argparse.Namespace) -> None:
    from isogloss.papers.word_vectors.files import write_vectors

    write_vectors(vectors, target, options.overwrite)
    note(f"{target}: {len(vectors):,} words, {vectors.dimension} dimensions", options.quiet)


def _check_align(options: argparse.Namespace) -> None:
    if not options.output and not options.evaluate:
        raise InputError("vectors align: give -o DIR, --evaluate or both; see 'isogloss vectors align --help'")
    for name in ("held_out", "seed", "csls", "cosine"):
        if getattr(options, name) is not None and not options.evaluate:
            raise InputError(f"--{name.replace('_', '-')}: is for --evaluate, which is missing")
    if options.ridge is not None and options.method != "ridge":
        raise InputError(f"--ridge: is for --method ridge, not {options.method}")


class _Fit:
    """The inputs of an alignment, and alignments fitted on all or some of the lexicon."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from isogloss.papers.word_vectors.alignment import AlignmentOptions
        from isogloss.translation.lexicon import Lexicon

        self.arguments = arguments
        ridge = {} if arguments.ridge is None else {"ridge": arguments.ridge}
        self.options = AlignmentOptions(
            arguments.method, arguments.normalise, arguments.centre, direction=arguments.direction, **ridge
        )
        self.lexicon = Lexicon.read(arguments.lexicon)
        self.source = _read(arguments.query_vectors, arguments)
        self.target = _read(arguments.document_vectors, arguments)

    def evaluated(self) -> tuple[Refinement, TranslationAccuracy]:
        """An alignment fitted without a share of the lexicon's words, and how well it translates those."""
        from isogloss.papers.word_vectors.alignment import lexicon_pairs
        from isogloss.papers.word_vectors.refinement import split_pairs, translation_accuracy

        arguments = self.arguments
        _, held_out = split_pairs(lexicon_pairs(self.lexicon), arguments.held_out or _HELD_OUT, arguments.seed or 0)
        fitted = self.without({word for word, _ in held_out})
        csls = not arguments.cosine
        return fitted, translation_accuracy(fitted.alignment, self.source, self.target, held_out, csls)

    def without(self, held_out: Collection[str]) -> Refinement:
        """An alignment fitted on the pairs of other words; with --pairs, the most frequent of them."""
        from isogloss.papers.word_vectors.alignment import frequent_pairs, lexicon_pairs
        from isogloss.papers.word_vectors.refinement import refine

        if self.arguments.pairs is None:
            pairs = [pair for pair in lexicon_pairs(self.lexicon) if pair[0] not in held_out]
        else:
            counts = {word: number for word, number in _frequencies(self.source).items() if word not in held_out}
            of_target = _frequencies(self.target)
            pairs = frequent_pairs(self.lexicon, counts, self.arguments.pairs, of_target, self.target)
        if not pairs:
            what = f"no word that {self.arguments.query_vectors} knows is left to fit on"
            raise InputError(f"{self.arguments.lexicon}: {what}; is the lexicon of these languages, in this order?")
        return refine(self.source, self.target, pairs, self.options, self.arguments.refine)


def _frequencies(vectors: WordVectors) -> dict[str, int]:
    """Numbers in the order of the words, which is that of their frequencies, the most frequent first."""
    return {word: len(vectors) - row for row, word in enumerate(vectors.words)}


def _counts(fitted: Refinement) -> dict[str, int]:
    """How many pairs an alignment was fitted on, and where they came from."""
    alignment = fitted.alignment
    return {"pairs": alignment.pairs, "skipped": alignment.skipped, "induced": len(fitted.induced)}


def _by(options: argparse.Namespace) -> str:
    return "cosine" if options.cosine else "CSLS"


def _write_alignment(options: argparse.Namespace, alignment: Alignment | None, found: dict[str, Any]) -> None:
    """Both outputs or, if the second fails, none (but for an alignment that replaced an older one: it is complete)."""
    if alignment:
        alignment.save(options.output, options.overwrite)
    try:
        if options.json:
            write_json(options.json, found, options.overwrite)
    except BaseException:
        if alignment and not options.overwrite:
            shutil.rmtree(options.output, ignore_errors=True)
        raise


def _note_alignment(options: argparse.Namespace, accuracy: TranslationAccuracy | None, fitted: Refinement) -> None:
    alignment = fitted.alignment
    if accuracy and accuracy.skipped:
        note(f"{accuracy.skipped:,} held-out words lack a vector on one side and are left out", options.quiet)
    if options.output:
        note(f"{options.output}: fitted on {alignment.pairs:,} pairs", options.quiet)
    if alignment.skipped:
        note(f"{alignment.skipped:,} pairs lack a vector on one side and are not fitted on", options.quiet)
    if fitted.growth:
        rounds = ", ".join(f"{added:,}" for added in fitted.growth)
        note(f"pairs that refinement added, round by round: {rounds}", options.quiet)
    if alignment.underdetermined:
        few = f"{alignment.pairs:,} pairs for {len(alignment.map):,} dimensions"
        note(f"{few}: too few to tell what fits from what happens to; expect little of it", options.quiet)


def _by_csls(queries: Mapping[str, Matrix], target: WordVectors, background: Matrix, k: int) -> dict[str, Scored]:
    """The best by CSLS of the thousand nearest by cosine.

    The density around a word takes as long to find as a search; around every word of a large vocabulary, minutes.
    A shortlist loses nothing: on cppdocs en-es two hundred words gave what all gave, 100 words of 100.
    """
    import numpy as np

    from isogloss.papers.word_vectors.nearest import WordRetriever

    retriever = WordRetriever(target.matrix)
    found = {}
    for word, query in queries.items():
        near = np.sort(retriever.nearest(query, max(_SHORTLIST, 20 * k)).rows[0])
        words = [target.words[row] for row in near.tolist()]
        found[word] = WordRetriever(target.matrix[near], background).nearest_words(query, words, k)[0]
    return found


def _fitting(alignment: Alignment, side: str, path: str, options: argparse.Namespace) -> WordVectors:
    vectors = _read(path, options)
    if vectors.dimension != (wanted := alignment.dimension(side)):
        what = f"has vectors of {vectors.dimension} dimensions, {options.alignment} takes {wanted} here"
        raise InputError(f"{path}: {what}; are these the vectors it was made of, in this order?")
    return vectors


def _known_words(words: Sequence[str], vectors: WordVectors, path: str) -> dict[str, list[int]]:
    """Words and phrases that have a vector, with the rows of their words."""
    rows = {word: _rows(word, vectors) for word in words}
    known = {word: found for word, found in rows.items() if found and _mean(vectors, found).any()}
    if not known:
        raise InputError(f"{path}: has no vector for {', '.join(map(repr, rows))}")
    return known


def _rows(word: str, vectors: WordVectors) -> list[int]:
    """The row of a word as it is written; otherwise the rows of its tokens, if all are known."""
    from isogloss.text.tokenizer import tokenize

    if word in vectors:
        return [vectors.row_of[word]]
    tokens = tokenize(word)
    rows = vectors.rows(tokens)
    return rows if len(rows) == len(tokens) else []


def _mean(vectors: WordVectors, rows: Sequence[int]) -> Matrix:
    """The mean of some words, as a matrix of one row."""
    mean: Matrix = vectors.matrix[rows].mean(axis=0, keepdims=True)
    return mean


def _show(options: argparse.Namespace, found: Mapping[str, Scored], what: str, by: str, path: str) -> None:
    unknown = [word for word in dict.fromkeys(options.words) if word not in found]
    if options.json:
        words = [
            {"word": word, what: [{"word": other, "score": score} for other, score in scored]}
            for word, scored in found.items()
        ]
        write_json(options.json, {"by": by, "words": words, "unknown": unknown}, options.overwrite)
    if options.json != "-":
        out = console()
        for word, scored in found.items():
            print_table(out, word, ("", by), [(other, f"{score:.4f}") for other, score in scored])
    for word in unknown:
        note(f"{path}: has no vector for {word!r}", options.quiet)
