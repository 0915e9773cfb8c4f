"""Where the program starts: so light that Ctrl-C finds it ready before anything else is loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from themis_opt.cli.main import run
        from themis_opt.solving.resources import collect_garbage_rarely

        collect_garbage_rarely()
        code = run()
        collect_garbage_rarely()  # nor is there a point in looking through everything at the exit
    except KeyboardInterrupt:
        print("error: stopped before there was a result", file=sys.stderr)
        code = 130
    _ignore_signals()
    sys.exit(code)


def _ignore_signals() -> None:
    """Let no signal change the exit code while the interpreter winds up: all is said and saved."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
