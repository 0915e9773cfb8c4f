"""How to come by what a report shows: the commands, and what they were run with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from themis_opt.comparison import THEMIS_BEST
from themis_opt.formats.documents import format_line
from themis_opt.formats.instance_file import instance_document
from themis_opt.instance import Instance
from themis_opt.schedulers.registry import SCHEDULERS
from themis_opt.schedules import Schedule, Status


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


def instance_yaml(instance: Instance) -> str:
    """Return an instance as the text of an instance file, its network inline."""
    data = {"format": format_line("instance"), **instance_document(instance)}
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100))


def comparison_commands(origin: Origin, rows: Sequence[str]) -> tuple[str, ...]:
    """Return the commands that make a comparison of one instance, and its report, again.

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
    for name, option in (("solver", "--solver"), ("workers", "--workers"), ("max_evaluations", "--evaluations")):
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
    return (_line(words), "themis-opt report comparison.json -o report.html")


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


def schedule_commands(schedule: Schedule, name: str) -> tuple[str, ...]:
    """Return the commands that judge a schedule file again, and make one like it where that can be told."""
    judge = _line(["themis-opt", "validate", "--execute", name]), _line(["themis-opt", "certify", name])
    if schedule.scheduler in SCHEDULERS.names():
        seed = [] if schedule.seed is None else ["--seed", str(schedule.seed)]
        words = ["simulate", "instance.yaml", "--scheduler", schedule.scheduler, *seed, "-o", "again.json"]
        return (*judge, _line(["themis-opt", *words]))
    if schedule.status is not Status.HEURISTIC and schedule.scheduler != THEMIS_BEST:
        seed = [] if schedule.seed is None else ["--seed", str(schedule.seed)]
        chosen = ["--sizes", str(schedule.sizing), "--chunks", str(schedule.num_chunks)]
        return (*judge, _line(["themis-opt", "solve", "instance.yaml", *chosen, *seed, "-o", "again.json"]))
    return judge


def study_commands() -> tuple[str, ...]:
    """Return the commands that make a study's table again, the study saved as ``study.yaml``."""
    return "themis-opt sweep study.yaml -o study.db", "themis-opt report study.db -o report.html"


def _line(words: Sequence[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return "none" if value is None else str(value)
