"""``python -m isogloss``: the same as the command ``isogloss``."""

import sys

from isogloss.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
