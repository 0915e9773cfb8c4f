"""A package of another author, written into a folder at test time: one of each that works, and every bad habit."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
import os
import signal
import time
from dataclasses import replace
from fractions import Fraction

from themis_opt import Bound, Progress, Slot, SolverResult, Status, get_scheduler
from themis_opt.solving.bounds import equal_chunks_scope


def borrowed(instance, *, seed=0):
    """Do what round-robin does."""
    return replace(get_scheduler("round-robin")(instance), scheduler="borrowed")


def broken(instance, *, seed=0):
    """Serve the first dimension backwards."""
    schedule = get_scheduler("baseline")(instance)
    return replace(schedule, sequences=(schedule.sequences[0][::-1], *schedule.sequences[1:]))


def thirds(instance):
    """Take a third of a picosecond per byte, whatever the network."""
    return Fraction(instance.size_bytes, 3)


def guess(instance):
    """Return what is no exact time."""
    return 1.5


def helpless(instance):
    """Raise something unexpected."""
    raise ZeroDivisionError("by design")


def better(params):
    """A schedule no worse than any hint."""
    return params.hints[0]


def chatty(instance, params):
    """Print to stdout on every level, then answer."""
    print("hello from Python", flush=True)
    os.system("echo hello from a child")
    return SolverResult(Status.FEASIBLE, better(params), None, "I talked")


def sleepy(instance, params):
    """Report an incumbent, then never answer."""
    params.on_progress(Progress("sleeping", better(params)))
    time.sleep(3600)


def dying(instance, params):
    """Report an incumbent, then get killed from outside."""
    params.on_progress(Progress("dying", better(params)))
    os.kill(os.getpid(), signal.SIGKILL)


def raising(instance, params):
    """Raise something unexpected."""
    raise ZeroDivisionError("by design")


def lying(instance, params):
    """Claim a bound above the schedule it knows."""
    bound = Bound(params.hints[0].makespan_ps + 1, "wishful", equal_chunks_scope(instance))
    return SolverResult(Status.OPTIMAL, better(params), bound)


def crooked(instance, params):
    """Return a schedule that deadlocks."""
    return SolverResult(Status.FEASIBLE, broken(instance), None)
'''

ENTRY_POINTS = """[themis_opt.schedulers]
borrowed = other_author:borrowed
broken = other_author:broken
unloadable = other_author_missing:nothing

[themis_opt.predictors]
thirds = other_author:thirds
guess = other_author:guess
helpless = other_author:helpless

[themis_opt.solvers]
chatty = other_author:chatty
sleepy = other_author:sleepy
dying = other_author:dying
raising = other_author:raising
lying = other_author:lying
crooked = other_author:crooked
"""


def write_plugin_package(folder: Path) -> None:
    """Write the package so that it counts as installed when `folder` is on the path."""
    (folder / "other_author.py").write_text(MODULE)
    metadata = folder / "other_author-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other-author\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
