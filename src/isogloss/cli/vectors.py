"""``isogloss vectors train | convert | align | nearest | translate``: what can be asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from isogloss.base.errors import InputError
from isogloss.cli.main import add_command
from isogloss.cli.options import SOURCE_HELP, add_json, add_output, add_overwrite, count, seed

_VECTORS_HELP = "word2vec, GloVe, fastText or Polyglot, plain or .gz, or a directory made by isogloss"

FILE_FORMATS = ("word2vec", "glove", "binary")

_Parts = argparse._SubParsersAction  # the type argparse gives sub-commands


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str) -> None:
    """Register the command and its sub-commands."""
    example = "  isogloss vectors train --documents demo --language en -o en.vectors\n  isogloss vectors align --help"
    parser = add_command(commands, name, summary, example)
    parts = parser.add_subparsers(dest="part", metavar="train|convert|align|nearest|translate", required=True)
    _add_train(parts)
    _add_convert(parts)
    _add_align(parts)
    _add_nearest(parts)
    _add_translate(parts)


def _add_train(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss vectors train --documents demo --language en -o en.vectors\n"
    example += (
        "  isogloss vectors train --documents wikiclir:DIR --documents folder:DIR --language fr -o word2vec:fr.vec"
    )
    train = add_command(parts, "train", "vectors for the words of some documents", example)
    train.add_argument(
        "--documents", required=True, action="append", metavar="SOURCE", help=f"{SOURCE_HELP} (repeatable)"
    )
    train.add_argument("--language", required=True, metavar="LANG", help="language of the documents")
    train.add_argument("--fields", default="title,text", help="what is read: text, title or title,text (the default)")
    for name, default, text in (
        ("--dimension", 300, "numbers a word"),
        ("--window", 5, "neighbours on each side that count"),
        ("--minimum-count", 3, "words that occur less often get no vector"),
        ("--maximum-words", 50_000, "words that get a vector, the most frequent ones"),
        ("--contexts", 4_000, "words that count as neighbours, the most frequent ones"),
    ):
        train.add_argument(name, type=count, default=default, metavar="N", help=f"{text} (default {default})")
    train.add_argument(
        "--smoothing", type=_share, default=0.75, metavar="A", help="power of the neighbours' counts (default 0.75)"
    )
    train.add_argument(
        "--singular-power", type=_share, default=0.0, metavar="P", help="power of the singular values (default 0)"
    )
    train.add_argument("--seed", type=seed, default=0, help="fixes the vectors (default 0)")
    _add_skip_bad(train)
    _add_target(train)
    train.set_defaults(run=_train)


def _train(options: argparse.Namespace) -> None:
    from isogloss.cli.vectors_files import train

    train(options)


def _add_convert(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss vectors convert cc.fr.300.vec.gz --limit 200000 -o fr.vectors\n"
    example += "  isogloss vectors convert fr.vectors -o word2vec:fr.vec.gz"
    convert = add_command(parts, "convert", "word vectors into another format", example)
    convert.add_argument("vectors", metavar="INPUT", help=_VECTORS_HELP)
    _add_reading(convert)
    _add_target(convert)
    convert.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> None:
    from isogloss.cli.vectors_files import convert

    convert(options)


def _add_align(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss vectors align en.vectors fr.vectors --lexicon en-fr.txt -o en-fr.alignment --evaluate\n"
    example += "  isogloss vectors align en.vec fr.vec --lexicon en-fr.txt -o DIR --pairs 4000 --method pinv \\\n"
    example += "      --no-normalise --no-centre       # the ad hoc paper's way"
    align = add_command(parts, "align", "one space for the word vectors of two languages", example)
    _add_two_languages(align)
    align.add_argument(
        "--lexicon", required=True, metavar="FILE", help="words and their translations: tab-separated, MUSE or FreeDict"
    )
    align.add_argument(
        "--pairs", type=count, metavar="N",
        help="fit on the N most frequent words of the query language (the first of its vectors), one translation each "
        "(default: on all pairs)",
    )  # fmt: skip
    methods = ("procrustes", "ridge", "pinv")
    align.add_argument(
        "--method", default=methods[0], choices=methods, help=f"how the map is found (default {methods[0]})"
    )
    align.add_argument("--ridge", type=_above_0, metavar="L", help="lambda of --method ridge (default 1)")
    align.add_argument("--no-normalise", dest="normalise", action="store_false", help="leave the lengths as they are")
    align.add_argument("--no-centre", dest="centre", action="store_false", help="leave the mean where it is")
    directions = ("source-to-target", "target-to-source")
    align.add_argument(
        "--direction", default=directions[0], choices=directions,
        help=f"which side is mapped to the other; the query language is the source (default {directions[0]})",
    )  # fmt: skip
    align.add_argument(
        "--refine", type=count, default=0, metavar="ROUNDS",
        help="so many times: add the words that are each other's nearest, align again (default: never)",
    )  # fmt: skip
    _add_reading(align)
    add_output(align, required=False, what="the alignment, a directory (not needed with --evaluate)")
    _add_evaluation(align)
    align.set_defaults(run=_align)


def _add_evaluation(align: argparse.ArgumentParser) -> None:
    align.add_argument(
        "--evaluate", action="store_true",
        help="show how many words are translated right (P@1, P@5, P@10) when it is fitted without them; what is "
        "written is fitted on all",
    )  # fmt: skip
    align.add_argument(
        "--held-out", type=_part, metavar="SHARE", help="of the lexicon's words, for --evaluate (default 0.2)"
    )
    align.add_argument("--seed", type=seed, help="draws the held-out words (default 0)")
    how = align.add_mutually_exclusive_group()
    how.add_argument(
        "--csls", action="store_true", default=None, help="--evaluate by CSLS, which counters hubs (the default)"
    )
    how.add_argument("--cosine", action="store_true", default=None, help="--evaluate by cosine")
    add_json(align, "what it was made of and how good it is")


def _align(options: argparse.Namespace) -> None:
    from isogloss.cli.vectors_align import align_vectors

    if not options.output and not options.evaluate:
        raise InputError("vectors align: give -o DIR, --evaluate or both; see 'isogloss vectors align --help'")
    for name in ("held_out", "seed", "csls", "cosine"):
        if getattr(options, name) is not None and not options.evaluate:
            raise InputError(f"--{name.replace('_', '-')}: says how to --evaluate, which is not asked for")
    if options.ridge is not None and options.method != "ridge":
        raise InputError(f"--ridge: is for --method ridge, not {options.method}")
    align_vectors(options)


def _add_nearest(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss vectors nearest en.vectors volcano 'ice cream' -k 5"
    nearest = add_command(parts, "nearest", "the words nearest to a word, by cosine", example)
    nearest.add_argument("vectors", metavar="VECTORS", help=_VECTORS_HELP)
    _add_words(nearest, "neighbours")
    nearest.set_defaults(run=_nearest)


def _nearest(options: argparse.Namespace) -> None:
    from isogloss.cli.vectors_look import show_nearest

    show_nearest(options)


def _add_translate(parts: _Parts[argparse.ArgumentParser]) -> None:
    example = "  isogloss vectors translate en.vectors fr.vectors --alignment en-fr.alignment volcano honey"
    translate = add_command(parts, "translate", "the words of another language nearest to a word", example)
    _add_two_languages(translate)
    translate.add_argument("--alignment", required=True, metavar="DIR", help="made by 'isogloss vectors align'")
    translate.add_argument("--cosine", action="store_true", help="by cosine (default: CSLS, which counters hubs)")
    _add_words(translate, "translations")
    translate.set_defaults(run=_translate)


def _translate(options: argparse.Namespace) -> None:
    from isogloss.cli.vectors_look import show_translations

    show_translations(options)


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
    _add_skip_bad(parser)


def _add_skip_bad(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--skip-bad", action="store_true", help="skip lines that are wrong, and count them, instead of stopping"
    )


def _add_target(parser: argparse.ArgumentParser) -> None:
    add_output(parser, what="a directory (opened without being read), or word2vec:FILE, glove:FILE, binary:FILE")
    parser.add_argument("--format", choices=FILE_FORMATS, help="another way to say it: -o FILE --format word2vec")


def _share(text: str) -> float:
    """A number from 0 to 1."""
    return _number(text, "from 0 to 1", lambda value: 0.0 <= value <= 1.0)


def _part(text: str) -> float:
    """A number between 0 and 1."""
    return _number(text, "between 0 and 1", lambda value: 0.0 < value < 1.0)


def _above_0(text: str) -> float:
    """A finite number above 0."""
    return _number(text, "above 0", lambda value: 0.0 < value < float("inf"))


def _number(text: str, what: str, fits: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")  # which fits nowhere
    if not fits(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number {what}")
    return value
