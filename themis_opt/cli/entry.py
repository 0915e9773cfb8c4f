"""Where the program starts: so light that Ctrl-C finds it ready before anything else is loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from themis_opt.cli.main import run

        code = run()
    except KeyboardInterrupt:
        print("error: stopped before there was a result", file=sys.stderr)
        code = 130
    sys.exit(code)
