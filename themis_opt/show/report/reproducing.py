"""How to come by what a report shows: the commands, and what they were run with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from themis_opt.files.documents import format_line
from themis_opt.files.instance_file import instance_document
from themis_opt.files.network_file import network_document
from themis_opt.files.plain import plain_mapping
from themis_opt.files.strict import show
from themis_opt.problem.bound import Sizing
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Network
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.schedulers.registry import SCHEDULERS

_CLOCK = "The solver's clock has a say in what it finds: another run may find another schedule, and another bound."
_UNTOLD = (
    "A schedule's file keeps neither the limits of its search nor what could be chosen: this looks for another one "
    "with the same number of chunks, within the limits that solve has by itself, and may find a better or a worse one."
)


@dataclass(frozen=True)
class Origin:
    """What results were made with, as far as their file tells: options, seed, versions and machine."""

    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    versions: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Names and values, for a list."""
        seed = () if self.seed is None else (("seed", str(self.seed)),)
        return (
            *((name.replace("_", " "), _shown(value)) for name, value in self.options.items()),
            *seed,
            *((f"{name} version", _shown(value)) for name, value in self.versions.items()),
            *((name, _shown(value)) for name, value in self.machine.items()),
        )


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands for the same end: what that is, the commands, and a sentence on what they may not tell."""

    heading: str
    lines: tuple[str, ...]
    remark: str = ""


def instance_yaml(instance: Instance) -> str:
    """Return an instance as the text of an instance file, its network inline."""
    return _yaml("instance", instance_document(instance))


def network_yaml(network: Network) -> str:
    """Return a network as the text of a network file."""
    return _yaml("network", network_document(network))


def _yaml(kind: str, document: Mapping[str, Any]) -> str:
    data = {"format": format_line(kind), **document}
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100))


def comparison_commands(origin: Origin, rows: Sequence[str]) -> tuple[Commands, ...]:
    """Return the commands that make a comparison of one instance, and its report, like what they were made with.

    Parameters
    ----------
    origin
        What it was made with.
    rows
        The names of its rows: those that were arguments are schedules of one's own.
    """
    options = origin.options
    arguments = options.get("instances")
    own = [name for name in rows if isinstance(arguments, list) and name in arguments]
    words = ["themis-opt", "compare", "instance.yaml", *own]
    if isinstance(options.get("schedulers"), list):
        words += ["--schedulers", ",".join(map(str, options["schedulers"]))]
    for name, option in (
        ("reference", "--reference"),
        ("solver", "--solver"),
        ("workers", "--workers"),
        ("max_evaluations", "--evaluations"),
    ):
        if options.get(name) is not None:
            words += [option, str(options[name])]
    if isinstance(options.get("time_limit_s"), int | float):
        words += ["--time-limit", f"{options['time_limit_s']:g}s"]
    words += _choice_words(options)
    if isinstance(options.get("gap"), int | float):
        words += ["--gap", f"{options['gap']:g}"]
    if origin.seed is not None:
        words += ["--seed", str(origin.seed)]
    words += ["--json", "comparison.json"]
    lines = _line(words), "themis-opt report comparison.json -o report.html"
    has_clock = options.get("solver") not in (None, "none") and options.get("max_evaluations") is None
    return (Commands("Make one like it", lines, _CLOCK if has_clock else ""),)


def _choice_words(options: Mapping[str, Any]) -> list[str]:
    """Return the options on what the solver could choose."""
    words = []
    if isinstance(options.get("sizes"), str):
        words += ["--sizes", options["sizes"]]
    if isinstance(options.get("max_chunks"), int):
        words += ["--chunks", f"auto:{options['max_chunks']}"]
    for name, option in (("granularity_bytes", "--granularity"), ("min_chunk_bytes", "--min-chunk")):
        if isinstance(options.get(name), int):
            words += [option, f"{options[name]}B"]
    return words


def schedule_commands(schedule: Schedule, name: str) -> tuple[Commands, ...]:
    """Return the commands that judge a schedule file again, and make one like it where that can be told."""
    judging = Commands(
        "Judge it again", (_line(["themis-opt", "validate", "--execute", name]), _line(["themis-opt", "certify", name]))
    )
    seed = [] if schedule.seed is None else ["--seed", str(schedule.seed)]
    count = ["--chunks", str(schedule.num_chunks)]
    if schedule.scheduler in SCHEDULERS.names():
        # Themis at its best number of chunks, say, has another one than its instance asks for.
        other = count if schedule.sizing is Sizing.EQUAL and schedule.num_chunks != schedule.instance.num_chunks else []
        words = ["simulate", "instance.yaml", "--scheduler", schedule.scheduler, *other, *seed, "-o", "again.json"]
        return judging, Commands("Make one like it", (_line(["themis-opt", *words]),))
    if schedule.status is not Status.HEURISTIC:
        words = ["solve", "instance.yaml", "--sizes", str(schedule.sizing), *count, *seed, "-o", "again.json"]
        return judging, Commands("Make one like it", (_line(["themis-opt", *words]),), _UNTOLD)
    return (judging,)


def study_remark(study_text: str) -> str:
    """Return what a study needs beside its networks: the instance its base names, of which nobody kept the rest."""
    try:
        base = plain_mapping("study.yaml", study_text).get("base")
    except InputError:
        return ""
    name = base.get("instance") if isinstance(base, dict) else None
    if not isinstance(name, str):
        return ""
    return (
        f"Its base names the instance {show(name)}. The study's database keeps only the network of that, so unless it "
        "is a shipped one its file is needed, too."
    )


def study_commands() -> tuple[Commands, ...]:
    """Return the commands that make a study's table again, the study saved as ``study.yaml``."""
    lines = "themis-opt sweep study.yaml -o study.db", "themis-opt report study.db -o report.html"
    return (Commands("Run it again", lines),)


def _line(words: Sequence[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return "none" if value is None else str(value)
