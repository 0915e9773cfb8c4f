"""The entry point ``themis-opt``: finds the verb, turns every failure into one message and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

import click

from themis_opt.cli.exits import (
    BAD_INPUT,
    BROKEN_PIPE,
    DEFECT,
    FALSE_CLAIM,
    GOOD,
    NO_SCHEDULE,
    Exit,
    Terminated,
    exit_code,
)
from themis_opt.problem.checks import escaped
from themis_opt.problem.errors import (
    DeadlockError,
    InputError,
    InvalidScheduleError,
    NoScheduleError,
    SchedulerError,
    SolverError,
    ThemisError,
)
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.version import VERSION

VERBS = {
    "compare": "Put schedulers, the optimum and the bound side by side.",
    "solve": "Find the best schedule of an instance and prove how good it is.",
    "simulate": "Time a schedule, or a scheduler on an instance.",
    "bound": "Compute lower bounds on the makespan, with a certificate.",
    "validate": "Judge schedule files: rules, times, claims, data movement.",
    "certify": "Prove a schedule file's makespan and bound again, and say why none is faster.",
    "explain": "Say what a schedule waits for, or where a network has too much bandwidth.",
    "tune": "Find the best chunks and scheduler for each message size, as a table to load.",
    "provision": "Split a bandwidth budget over the dimensions so that the best schedule is fastest.",
    "when": "Say over message sizes where baseline, Themis and the optimum part ways.",
    "plot": "Draw schedules or a study: timelines, utilisation, loads, sweeps, gap maps.",
    "describe": "Show an instance after all conversions, and the cost of a stage.",
    "import": "Take a network from somebody else's file, and say what became of every quantity.",
    "export": "Write a schedule for ASTRA-sim 2, MSCCL, Perfetto, a spreadsheet or a graph tool.",
    "sweep": "Run a design-space study, or what is missing of it.",
    "rows": "Print a study's table as CSV or Parquet.",
    "report": "Write an interactive report of a comparison, a schedule or a study: one HTML file.",
    "list": "List what there is: networks, instances, schedulers, solvers.",
    "schema": "Print the JSON Schema of a file format.",
}
MAX_MESSAGE_LINES = 6
MAX_LINE_LENGTH = 600
TRACEBACK = "THEMIS_OPT_TRACEBACK"
"""Set in the environment, it lets an exception that nobody caught end the program as Python does it."""


class LazyGroup(click.Group):
    """A group whose verbs are imported when they are used, so that ``--help`` stays light."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb's command, importing its module."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"themis_opt.cli.verb_{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print what ``--version``, alone or with ``--verbose``, asks for, once both are known."""
    asked: dict[str | None, bool] = ctx.meta.setdefault("themis_opt.version", {})
    asked[param.name] = value
    if len(asked) < 2 or not any(asked.values()):
        return
    if not asked["version"]:
        raise click.UsageError("--verbose: goes with --version", ctx)
    if asked["verbose"]:
        from themis_opt.cli.versions import version_lines

        click.echo("\n".join(version_lines()))
    else:
        click.echo(f"themis-opt, version {VERSION}")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, expose_value=False, callback=_version, help="Show the version and exit.")
@click.option(
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_version,
    help="With --version: everything a result depends on, for bug reports.",
)
def cli() -> None:
    """Optimal collective schedules for multi-dimensional training networks, with proven bounds.

    INSTANCE is an instance or network file, or a shipped name; options override its fields. A network alone means
    all-reduce, 100 MB, 64 chunks, exclusive occupancy. Try: themis-opt compare 3d-fc-ring-sw
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _install_signals()
    _print_what_the_terminal_can()
    try:
        # Not cli.main: that prints an empty line before it passes an interruption on.
        with cli.make_context("themis-opt", list(sys.argv[1:] if arguments is None else arguments)) as context:
            cli.invoke(context)
        sys.stdout.flush()
        # A signal that waited until everything was saved still shows in the exit code.
        return exit_code(INTERRUPTION.received[0]) if INTERRUPTION.received else GOOD
    except Exit as exit_:
        return exit_.code
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return BAD_INPUT
    except click.UsageError as error:
        hint = f"\nTry '{error.ctx.command_path} --help'." if error.ctx is not None else ""
        # It lists choices on lines of their own, each behind a tab.
        return _fail(error.format_message().replace("\n\t", " ") + hint, BAD_INPUT)
    except InputError as error:
        return _fail(str(error), BAD_INPUT)
    except (InvalidScheduleError, DeadlockError) as error:
        return _fail(str(error), FALSE_CLAIM)
    except (NoScheduleError, SchedulerError, SolverError) as error:
        return _fail(str(error), NO_SCHEDULE)
    except ThemisError as error:
        return _fail(str(error), BAD_INPUT)
    except (KeyboardInterrupt, click.Abort) as error:
        return _fail("stopped before there was a result", exit_code(error))
    except BrokenPipeError:
        # The reader of our output is gone; point stdout to nowhere so that the interpreter's last flush is silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return BROKEN_PIPE
    except MemoryError:
        return _fail("out of memory; try fewer chunks or a smaller time limit", BAD_INPUT)
    except OSError as error:
        return _fail(f"{error.filename or 'output'}: {error.strerror or error}", BAD_INPUT)
    except Exception as error:
        # Extension modules that are interrupted while they load report whatever they like.
        if INTERRUPTION.received:
            return _fail("stopped before there was a result", exit_code(INTERRUPTION.received[0]))
        if os.environ.get(TRACEBACK):
            raise
        return _fail(_defect(error), DEFECT)


def _install_signals() -> None:
    """Let SIGTERM, SIGHUP and Ctrl-C raise in the main thread, except while a result is being saved."""

    def stop(number: int, frame: FrameType | None) -> None:
        INTERRUPTION.arrive(KeyboardInterrupt() if number == signal.SIGINT else Terminated())

    INTERRUPTION.reset()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Whoever started us with a signal ignored meant it: nohup, and a shell's `&` in a script.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)


def _defect(error: Exception) -> str:
    """Return the message on an exception that nobody caught: where it happened, and what to do."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "themis" in frame.filename] or frames
    where = f" ({os.path.basename(ours[-1].filename)}, line {ours[-1].lineno})" if ours else ""
    return (
        f"this is a defect of themis-opt: {type(error).__name__}: {str(error).partition(chr(10))[0]}{where}\n"
        "Please report it with your command and what 'themis-opt --version --verbose' prints;\n"
        f"{TRACEBACK}=1 in the environment shows where it comes from."
    )


def _print_what_the_terminal_can() -> None:
    """Replace characters that stdout or stderr cannot encode, rather than fail on them; a closed one goes nowhere."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def printable(line: str) -> str:
    """Return a line that no text from a file can turn into a command to the terminal, or into a page."""
    clean = escaped(line)
    return clean if len(clean) <= MAX_LINE_LENGTH else clean[: MAX_LINE_LENGTH - 3] + "..."


def _fail(message: str, code: int) -> int:
    lines = [printable(line) for line in message.split("\n")[:MAX_MESSAGE_LINES]]
    print(f"error: {lines[0]}", *lines[1:], sep="\n", file=sys.stderr)
    return code
