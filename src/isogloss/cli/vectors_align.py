"""What ``isogloss vectors align`` does."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from isogloss.base.errors import InputError
from isogloss.cli.output import check_outputs, console, note, print_table, write_json
from isogloss.cli.vectors_files import open_vectors
from isogloss.vectors.alignment import Alignment, AlignmentOptions
from isogloss.vectors.frequent_pairs import Pair, frequent_pairs, lexicon_pairs
from isogloss.vectors.lexicon import Lexicon
from isogloss.vectors.refinement import Refinement, refine
from isogloss.vectors.word_translation import TranslationAccuracy, split_pairs, translation_accuracy
from isogloss.vectors.word_vectors import WordVectors

_HELD_OUT = 0.2


def align_vectors(options: argparse.Namespace) -> None:
    """Measure an alignment on held-out words, then fit one on all of them and write it; or only one of the two."""
    inputs = {name: getattr(options, name) for name in ("query_vectors", "document_vectors", "lexicon")}
    for path in inputs.values():
        check_outputs(options.overwrite, options.output, options.json, source=f"input:{path}")
    fit = _Fit(options)
    found: dict[str, Any] = {**inputs, "options": asdict(fit.how)}
    accuracy, final = None, None
    if options.evaluate:
        trial, accuracy = fit.without_some()
        found["evaluation"] = {
            **asdict(accuracy), "held_out": options.held_out or _HELD_OUT, "seed": options.seed or 0,
            "by": _by(options), "fitted_on": _counts(trial),
        }  # fmt: skip
    if options.output:
        final = fit.on_all()
        found["alignment"] = {"path": options.output, **_counts(final)}
    _write(options, final.alignment if final else None, found)
    if accuracy and options.json != "-":
        _print(options, trial.alignment, accuracy)
    _remarks(options, accuracy, final or trial)


class _Fit:
    """The inputs, read, and alignments made of them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        ridge = {} if options.ridge is None else {"ridge": options.ridge}
        self.how = AlignmentOptions(
            options.method, options.normalise, options.centre, direction=options.direction, **ridge
        )
        self.lexicon = Lexicon.read(options.lexicon)
        self.source = open_vectors(options.query_vectors, options)
        self.target = open_vectors(options.document_vectors, options)

    def on_all(self) -> Refinement:
        """An alignment fitted on all that may be fitted on."""
        return self._without(frozenset())

    def without_some(self) -> tuple[Refinement, TranslationAccuracy]:
        """An alignment fitted without a share of the lexicon's words, and how well it translates those."""
        options = self.options
        _, held = split_pairs(lexicon_pairs(self.lexicon), options.held_out or _HELD_OUT, options.seed or 0)
        fitted = self._without({word for word, _ in held})
        csls = not options.cosine
        return fitted, translation_accuracy(fitted.alignment, self.source, self.target, held, csls)

    def _without(self, held: Collection[str]) -> Refinement:
        pairs = self._pairs(held)
        if not pairs:
            what = f"no word that {self.options.query_vectors} knows is left to fit on"
            raise InputError(f"{self.options.lexicon}: {what}; is the lexicon of these languages, in this order?")
        return refine(self.source, self.target, pairs, self.how, self.options.refine)

    def _pairs(self, held: Collection[str]) -> list[Pair]:
        """All pairs but those of held-out words; with --pairs, the most frequent of them."""
        if self.options.pairs is None:
            return [pair for pair in lexicon_pairs(self.lexicon) if pair[0] not in held]
        counts = {word: number for word, number in _frequencies(self.source).items() if word not in held}
        return frequent_pairs(self.lexicon, counts, self.options.pairs, _frequencies(self.target), self.target)


def _frequencies(vectors: WordVectors) -> dict[str, int]:
    """Numbers in the order of the words, which is that of their frequencies, the most frequent first."""
    return {word: len(vectors) - row for row, word in enumerate(vectors.words)}


def _counts(fitted: Refinement) -> dict[str, int]:
    """How many pairs an alignment was fitted on, and where they came from."""
    alignment = fitted.alignment
    return {"pairs": alignment.pairs, "skipped": alignment.skipped, "induced": len(fitted.induced)}


def _by(options: argparse.Namespace) -> str:
    return "cosine" if options.cosine else "CSLS"


def _write(options: argparse.Namespace, alignment: Alignment | None, found: dict[str, Any]) -> None:
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


def _print(options: argparse.Namespace, alignment: Alignment, accuracy: TranslationAccuracy) -> None:
    title = (
        f"{options.query_vectors} to {options.document_vectors}: {accuracy.words:,} held-out words, by {_by(options)}"
    )
    row = (f"{alignment.pairs:,} pairs", *(f"{value:.4f}" for value in accuracy.measures.values()))
    print_table(console(), title, ("fitted on", *accuracy.measures), [row])


def _remarks(options: argparse.Namespace, accuracy: TranslationAccuracy | None, fitted: Refinement) -> None:
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
