"""``themis-opt compare``: schedulers, the optimum and the bound side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.exits import Exit, exit_code
from themis_opt.cli.options import (
    Overrides,
    choice_from,
    choosing_instance_options,
    chunking_options,
    overrides_from,
    read_argument,
    solver_options,
    told_choice,
)
from themis_opt.problem.bound import Sizing
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.schedule import Schedule

if TYPE_CHECKING:
    from themis_opt.cli.progress import Relay
    from themis_opt.questions.comparison import Run

_DEFAULT = "baseline,themis-fifo,themis-scf,themis-best"


@click.command("compare")
@click.argument("instances", metavar="INSTANCE...", nargs=-1, required=True)
@choosing_instance_options
@click.option("--schedulers", default=_DEFAULT, show_default=True, help="Names, or 'all'.")
@solver_options
@chunking_options
@click.option("--json", "json_path", metavar="FILE|-", help="Also write everything as JSON.")
def command(
    instances: tuple[str, ...],
    schedulers: str,
    solver: str,
    time_limit: float,
    evaluations: int | None,
    seed: int,
    workers: int | None,
    gap: float,
    json_path: str | None,
    **options: Any,
) -> None:
    """Put schedulers, the optimum and the bound side by side.

    INSTANCE is an instance or network file, or a shipped name; several values of an option, separated by commas, make
    a cross product. A schedule file among them becomes a row beside ours. --solver none compares heuristics alone.
    Row themis-best is Themis at its own best number of chunks. The solver 'auto' has two rows, unless --sizes or
    --chunks auto say what it may choose: auto-equal with the instance's equal chunks, auto with up to 16 of any size.
    """
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.questions.comparison import THEMIS_BEST, compare
    from themis_opt.questions.comparison_file import comparison_text
    from themis_opt.schedulers.registry import SCHEDULERS
    from themis_opt.solving.processors import default_workers
    from themis_opt.solving.protocol import SolverParams

    names = [name.strip() for name in schedulers.split(",")]
    if schedulers == "all":
        names = [*SCHEDULERS.names(), THEMIS_BEST]
    for name in names:
        if name != THEMIS_BEST:
            try:
                SCHEDULERS.require(name)
            except InputError as error:
                raise error.at("--schedulers") from None
    chosen = None if solver == "none" else solver
    check_outputs((json_path,), instances)
    overrides = overrides_from(options)
    choice = choice_from(options, overrides)
    choices = _rows(chosen, choice)
    # A fixed number of chunks is what all rows share, whatever their sizes.
    heading = choice if choice is not None and choice.max_chunks is not None else None
    problems, own = _read(instances, overrides)
    threads = workers or default_workers(evaluations)
    params = SolverParams(time_limit, threads, seed, gap=gap, max_evaluations=evaluations)
    runs: list[Run] = []
    from themis_opt.cli.progress import Relay

    quiet = json_path == "-"
    if not quiet:
        from themis_opt.cli.tables import console, means_table, print_run

        out = console()
    relay = Relay()
    listening = replace(params, on_progress=relay)
    comparison = compare(
        problems, schedulers=names, solver=chosen, params=listening, choices=choices, own_schedules=own
    )
    # The progress line is gone whenever a table is printed.
    interruption: KeyboardInterrupt | None = None
    while interruption is None:
        try:
            run = _next(comparison, relay, chosen or "heuristics")
        except KeyboardInterrupt as error:
            # The runs that are done are worth keeping.
            if not runs:
                raise
            interruption = error
            break
        if run is None:
            break
        interruption = run.interruption
        runs.append(run)
        if not quiet:
            if len(runs) > 1:
                out.print()
            print_run(out, run, heading)
    if len(runs) > 1 and not quiet:
        out.print(f"\nover {len(runs)} instances", style="bold")
        out.print(means_table(runs))
    if json_path is not None:
        told = {
            "instances": list(instances),
            "schedulers": names,
            "solver": solver,
            "time_limit_s": time_limit,
            "max_evaluations": evaluations,
            "gap": gap,
            "workers": params.num_workers,
            **told_choice(choice),
        }
        write_text(json_path, comparison_text(runs, told, seed))
    if interruption is not None:
        raise Exit(exit_code(interruption))


def _next(comparison: Iterator[Run], relay: Relay, what: str) -> Run | None:
    """Return the next run, with a progress line while it is in the making; ``None`` when there is none."""
    from themis_opt.cli.progress import progress_line

    with progress_line(what) as relay.show:
        return next(comparison, None)


def _rows(solver: str | None, choice: ChunkingChoice | None) -> dict[str, ChunkingChoice]:
    """Return what the solver may choose, for each of its rows.

    Raises
    ------
    InputError
        When there is something to choose and no solver to do it.
    """
    if solver is None:
        if choice is not None and (choice.sizing is Sizing.FREE or choice.max_chunks is not None):
            raise InputError(
                "--sizes free and --chunks auto are for a solver to choose, and --solver none names none; "
                "leave them out, or name a solver ('themis-opt list solvers')"
            )
        return {}
    if choice is not None or solver != "auto":
        return {solver: choice or ChunkingChoice()}
    return {"auto-equal": ChunkingChoice(), "auto": ChunkingChoice(Sizing.FREE, DEFAULT_MAX_CHUNKS)}


def _read(arguments: tuple[str, ...], overrides: Overrides) -> tuple[list[Instance], dict[str, Schedule]]:
    """Return the instances, and the schedules by the name of their row, checked to be true and to belong to one."""
    from themis_opt.judging.validator import validate
    from themis_opt.problem.differences import first_difference, same_problem

    problems: list[Instance] = []
    own: dict[str, Schedule] = {}
    for name in arguments:
        thing = read_argument(name)
        if isinstance(thing, Schedule):
            violations = validate(thing.instance, thing)
            if violations:
                named = [replace(violation, message=f"{name}: {violation}") for violation in violations]
                raise InvalidScheduleError(named)
            own[name] = thing
        else:
            problems.extend(overrides.apply(thing))
    if not problems:
        problems = list(dict.fromkeys(schedule.instance for schedule in own.values()))
    for name, schedule in own.items():
        if not any(same_problem(schedule.instance, problem) for problem in problems):
            raise InputError(
                f"{name}: is a schedule for another instance ({first_difference(schedule.instance, problems)}); "
                "compare it with its own, or name the schedule alone"
            )
    return problems, own
