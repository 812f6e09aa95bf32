"""``python -m isogloss.papers PAPER DIR PLAN.json``: run a plan of trials (see ``running``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module


def main(arguments: Sequence[str]) -> int:
    """Run the plan of a paper; the exit status."""
    papers = {"smooth": "SmoothTrials", "layerwise": "LayerwiseTrials"}
    if not arguments or arguments[0] not in papers:
        sys.stderr.write("usage: python -m isogloss.papers smooth|layerwise DIR PLAN.json [--help]\n")
        return 2
    module = import_module(f"isogloss.papers.{arguments[0]}.experiments.training")  # one paper alone is imported
    return int(getattr(module, papers[arguments[0]])().main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
