"""``python -m isogloss.reproduce PAPER DIR PLAN.json``: run a plan of trials (see ``running``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run the plan of a paper; the exit status."""
    if arguments[:1] == ["smooth"]:  # one paper alone is imported
        from isogloss.reproduce.smooth.training import SmoothTrials

        return SmoothTrials().main(arguments[1:])
    if arguments[:1] == ["layerwise"]:
        from isogloss.reproduce.layerwise.training import LayerwiseTrials

        return LayerwiseTrials().main(arguments[1:])
    sys.stderr.write("usage: python -m isogloss.reproduce smooth|layerwise DIR PLAN.json [--help]\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
