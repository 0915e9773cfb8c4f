"""``themis-opt compare``: schedulers, the optimum and the bound side by side."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import click

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
from themis_opt.problem.differences import first_difference, same_problem
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.schedule import Schedule

_REFERENCE = "What speedups are over: a scheduler's name, or the best of baseline-best, flat-ring, double-binary-tree."
_DEFAULT = "baseline,themis-fifo,themis-scf,themis-best"


@click.command("compare")
@click.argument("instances", metavar="INSTANCE...", nargs=-1, required=True)
@choosing_instance_options
@click.option("--schedulers", default=_DEFAULT, show_default=True, help="Names, or 'all'.")
@click.option("--reference", default="best-of-others", show_default=True, help=_REFERENCE)
@solver_options
@chunking_options
@click.option("--json", "json_path", metavar="FILE|-", help="Also write everything as JSON.")
def command(
    instances: tuple[str, ...],
    schedulers: str,
    reference: str,
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
    Rows themis-best and baseline-best are Themis and the baseline at their own best number of chunks. The solver 'auto'
    has two rows, unless --sizes or --chunks auto say what it may choose: auto-equal with the instance's equal chunks,
    auto with up to 16 of any size.
    """
    # Not before: --help needs none of it.
    from themis_opt.cli.collecting import collect
    from themis_opt.cli.progress import Relay
    from themis_opt.cli.tables import console, print_means, print_run
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.questions.comparison import Run, compare
    from themis_opt.questions.comparison_file import comparison_text
    from themis_opt.solving.protocol import SolverParams
    from themis_opt.solving.resources import default_workers

    names = _schedulers(schedulers, reference)
    chosen = None if solver == "none" else solver
    check_outputs((json_path,), instances)
    overrides = overrides_from(options)
    choice = choice_from(options, overrides)
    rows = _rows(chosen, choice)
    problems, own = _read(instances, overrides)
    relay = Relay()
    workers = workers or default_workers(evaluations)
    params = SolverParams(time_limit, workers, seed, gap=gap, max_evaluations=evaluations, on_progress=relay)
    runs = compare(
        problems, schedulers=names, solver=chosen, params=params, choices=rows, own_schedules=own, reference=reference
    )
    out = None if json_path == "-" else console()
    # A fixed number of chunks is what all rows share, whatever their sizes.
    heading = choice if choice is not None and choice.max_chunks is not None else None

    def show(run: Run) -> None:
        if out is not None:
            if run.instance is not problems[0]:
                out.print()
            print_run(out, run, heading)

    done = collect(runs, repeat(chosen or "heuristics"), relay, show)
    if len(done.results) > 1 and out is not None:
        out.print()
        print_means(out, done.results)
    if json_path is not None:
        told = {
            "instances": list(instances),
            "schedulers": names,
            "reference": reference,
            "solver": solver,
            "time_limit_s": time_limit,
            "max_evaluations": evaluations,
            "gap": gap,
            "workers": params.num_workers,
            **told_choice(choice),
        }
        write_text(json_path, comparison_text(done.results, told, seed))
    done.leave()


def _schedulers(text: str, reference: str) -> list[str]:
    """Return the names of the schedulers to compare, the reference checked beside them.

    Raises
    ------
    InputError
        When there is no such scheduler or reference.
    """
    from themis_opt.questions.speedup_reference import require_reference
    from themis_opt.schedulers.registry import require_row, row_names

    with located("--reference"):
        require_reference(reference)
    if text == "all":
        return list(row_names())
    names = [name.strip() for name in text.split(",")]
    with located("--schedulers"):
        for name in names:
            require_row(name)
    return names


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
    from themis_opt.judging.validator import check

    problems: list[Instance] = []
    own: dict[str, Schedule] = {}
    for name in arguments:
        thing = read_argument(name)
        if isinstance(thing, Schedule):
            check(thing.instance, thing, name)
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
