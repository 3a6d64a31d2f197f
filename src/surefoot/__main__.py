"""The command `surefoot`, also as `python -m surefoot`."""

from __future__ import annotations

import sys

from surefoot.cli.main import run


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
