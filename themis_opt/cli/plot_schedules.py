"""``themis-opt plot timeline``, ``utilization`` and ``loads``: schedules from files, schedulers and solvers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from themis_opt.cli.exits import Exit, exit_code
from themis_opt.cli.options import read_argument
from themis_opt.cli.plot_sources import kind_of_source, require_of_schedules
from themis_opt.problem.bound import Sizing
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.schedule import Schedule

if TYPE_CHECKING:
    from themis_opt.cli.options import Overrides
    from themis_opt.questions.comparison import Run
    from themis_opt.show.pictures.subject import Subject

_DEFAULT = "baseline,themis-scf"


def plot_schedules(kind: str, sources: tuple[str, ...], output: str, options: dict[str, Any]) -> None:
    """Draw the schedules that the sources and options name.

    Parameters
    ----------
    kind
        The picture.
    sources
        Files and names.
    output
        The file to write.
    options
        The options of `plot`, by parameter name.
    """
    _window(options["window"])
    runs = _runs(sources, options)
    subjects = _subjects(runs)
    if options["text"]:
        _print(subjects, options["title"])
    else:
        _draw(kind, subjects, output, options)
    for run in runs:
        if run.interruption is not None:  # what there was by then is drawn
            raise Exit(exit_code(run.interruption))


def _draw(kind: str, subjects: Sequence[Subject], output: str, options: dict[str, Any]) -> None:
    from themis_opt.show.pictures import loads, save_picture, timeline, utilization
    from themis_opt.show.pictures.canvas import figure_of, house_style, new_axes

    window_ps = _window(options["window"])
    title = options["title"] or ""
    size = options["figure_size"]
    with house_style():
        ax = None if size is None else new_axes(*size)
        if kind == "utilization":
            ax = utilization(subjects, window_ps=window_ps, ax=ax, title=title)
        else:
            ax = (timeline if kind == "timeline" else loads)(subjects, ax=ax, title=title)
        save_picture(figure_of(ax), output, dpi=options["dpi"])


def _window(text: str | None) -> float | None:
    """Return the window in picoseconds."""
    if text is None:
        return None
    from themis_opt.problem.units import parse_time

    try:
        window_ps = float(parse_time(text))
    except InputError as error:
        raise error.at("--window") from None
    if not window_ps:
        raise InputError(f"--window: {text!r} is not allowed; it must be above zero")
    return window_ps


def _print(subjects: Sequence[Subject], title: str | None) -> None:
    """Draw a timeline as wide as the terminal."""
    import shutil
    import sys

    from themis_opt.cli.tables import console
    from themis_opt.cli.wrapping import PLAIN_WIDTH
    from themis_opt.show.pictures import text_timeline
    from themis_opt.show.pictures.text_timeline import MIN_WIDTH

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH
    picture = text_timeline(subjects, width=max(width, MIN_WIDTH), title=title or "")
    console().print(picture, soft_wrap=True, end="")


def _runs(sources: tuple[str, ...], options: dict[str, Any]) -> list[Run]:
    """Return the runs: those of comparison files as they are, then what is made of everything else."""
    from themis_opt.cli.options import overrides_from, require_fixed_count

    overrides = overrides_from(options)
    require_fixed_count(overrides)
    runs: list[Run] = []
    instances: list[Instance] = []
    own: dict[str, Schedule] = {}
    for source in sources:
        kind = kind_of_source(source)
        require_of_schedules(source, kind)
        if kind == "comparison":
            from themis_opt.questions.comparison_file import load_comparison

            runs += load_comparison(source)
            continue
        thing = read_argument(source)
        if isinstance(thing, Schedule):
            from themis_opt.judging.refute import check_claims

            check_claims(thing, source)
            own[source] = thing
        else:
            instances += overrides.apply(thing)
    if not instances:
        _refuse_unused(overrides, options)
    if instances or own:
        runs += _compared(instances, own, options)
    return runs


def _refuse_unused(overrides: Overrides, options: dict[str, Any]) -> None:
    """Raise when there are options for instances and no instance among the sources."""
    if overrides != type(overrides)() or options["schedulers"] is not None or options["solver"] != "none":
        raise InputError(
            "the options of an instance, --schedulers and --solver are for an instance or a network, and there is none "
            "among what is to be drawn; name one, or leave them out"
        )


def _compared(instances: list[Instance], own: dict[str, Schedule], options: dict[str, Any]) -> list[Run]:
    """Return schedulers, schedule files and the solver on the instances, as `compare` puts them side by side."""
    from themis_opt.cli.progress import Relay, progress_line
    from themis_opt.problem.differences import first_difference, same_problem
    from themis_opt.questions.comparison import compare
    from themis_opt.solving.protocol import SolverParams
    from themis_opt.solving.resources import default_workers

    problems = list(instances)
    for path, schedule in own.items():
        if not any(same_problem(schedule.instance, problem) for problem in problems):
            if instances:
                raise InputError(
                    f"{path}: is a schedule for another instance ({first_difference(schedule.instance, problems)}); "
                    "draw it with its own, or name schedules alone"
                )
            problems.append(schedule.instance)
    solver = None if options["solver"] == "none" else options["solver"]
    evaluations = options["evaluations"]
    relay = Relay()
    params = SolverParams(
        options["time_limit"],
        options["workers"] or default_workers(evaluations),
        options["seed"],
        max_evaluations=evaluations,
        on_progress=relay,
    )
    comparison = compare(
        problems,
        schedulers=_schedulers(options["schedulers"]) if instances else (),
        solver=solver,
        params=params,
        choices=_choices(solver),
        own_schedules=own,
    )
    if solver is None:  # nobody has a progress to report
        return list(comparison)
    with progress_line(solver) as relay.show:
        return list(comparison)


def _schedulers(text: str | None) -> list[str]:
    """Return the names of the schedulers to draw."""
    from themis_opt.schedulers.registry import SCHEDULERS
    from themis_opt.solving.protocol import SOLVERS

    known = SCHEDULERS.names()
    if text == "all":
        return list(known)
    names = [name.strip() for name in (text or _DEFAULT).split(",")]
    for name in names:
        if name in known:
            continue
        solvers = {**{solver: solver for solver in SOLVERS.names()}, **dict.fromkeys(_choices("auto"), "auto")}
        if name in solvers:
            raise InputError(
                f"--schedulers: {name!r} is no scheduler but a solver's; ask for it with --solver {solvers[name]}"
            )
        with located("--schedulers"):
            SCHEDULERS.require(name)
    return names


def _choices(solver: str | None) -> dict[str, ChunkingChoice]:
    """Return what a solver may choose, by the names of its rows: as in a comparison without options for that."""
    if solver is None:
        return {}
    if solver != "auto":
        return {solver: ChunkingChoice()}
    return {"auto-equal": ChunkingChoice(), "auto": ChunkingChoice(Sizing.FREE, DEFAULT_MAX_CHUNKS)}


def _subjects(runs: Sequence[Run]) -> list[Subject]:
    """Return what is drawn: every row once, told apart by what its instance has of its own where there are several."""
    from themis_opt.problem.units import format_size
    from themis_opt.show.pictures import Subject
    from themis_opt.show.pictures.scales import plain_label

    traits = [
        (
            plain_label(run.instance.network.name, 24),
            str(run.instance.collective),
            format_size(run.instance.size_bytes),
            str(run.instance.occupancy),
        )
        for run in runs
    ]
    varying = [place for place in range(len(traits[0])) if len({trait[place] for trait in traits}) > 1]
    subjects: list[Subject] = []
    seen = set()
    for run, trait in zip(runs, traits, strict=True):
        for row in run.rows:
            name = ", ".join([plain_label(row.name), *(trait[place] for place in varying)])
            drawn = (name, row.schedule.chunks, row.schedule.sequences)
            if drawn not in seen:
                seen.add(drawn)
                subjects.append(Subject(name, row.schedule, row.timeline, row.bound))
    return subjects
