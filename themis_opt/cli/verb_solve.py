"""``themis-opt solve``: the best schedule of an instance, and the proof of how good it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.exits import Exit, exit_code
from themis_opt.cli.options import (
    choice_from,
    choosing_instance_options,
    chunking_options,
    overrides_from,
    read_chosen_instance,
    solver_options,
    told_choice,
)
from themis_opt.problem.chunking import ChunkingChoice

if TYPE_CHECKING:
    from themis_opt.questions.comparison import Run


@click.command("solve")
@click.argument("instance", metavar="INSTANCE")
@choosing_instance_options
@solver_options
@chunking_options
@click.option("-o", "--output", metavar="FILE|-", help="Write the schedule.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the figures as JSON.")
def command(
    instance: str,
    solver: str,
    time_limit: float,
    evaluations: int | None,
    seed: int,
    workers: int | None,
    gap: float,
    output: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Find the best schedule of INSTANCE in the time limit, and prove how good it is.

    --sizes free lets the solver 'auto' choose the chunks' sizes, --chunks auto:MAX their number, too.

    Ctrl-C stops the search and keeps the best schedule so far.
    """
    from themis_opt.problem.errors import InputError
    from themis_opt.solving.process import SolverProcess

    if solver == "none":
        raise InputError("solve needs a solver; 'compare --solver none' puts heuristics beside the quick bounds")
    with SolverProcess(solver) as process:  # it loads its packages while we load ours
        from themis_opt.cli.progress import progress_line
        from themis_opt.files.atomic import check_outputs
        from themis_opt.questions.comparison import compare
        from themis_opt.solving.protocol import SolverParams
        from themis_opt.solving.resources import default_workers

        check_outputs((output, json_path), (instance,))
        overrides = overrides_from(options)
        choice = choice_from(options, overrides) or ChunkingChoice()
        problem = read_chosen_instance(instance, overrides)
        threads = workers or default_workers(evaluations)
        params = SolverParams(time_limit, threads, seed, gap=gap, max_evaluations=evaluations)
        with progress_line(solver) as show:
            listening = replace(params, on_progress=show)
            (run,) = compare(
                [problem],
                schedulers=(),
                solver=solver,
                params=listening,
                choices={solver: choice},
                process=process,
            )
    told = {
        "instances": [instance],
        "solver": solver,
        "time_limit_s": time_limit,
        "max_evaluations": evaluations,
        "gap": gap,
        "workers": params.num_workers,
        **told_choice(choice),
    }
    _tell(run, choice, told, seed, output, json_path)
    if run.interruption is not None:
        raise Exit(exit_code(run.interruption))


def _tell(
    run: Run, choice: ChunkingChoice, told: dict[str, Any], seed: int, output: str | None, json_path: str | None
) -> None:
    """Save and print what was found; `told` and `seed` are what the user asked for."""
    from themis_opt.files.atomic import saving, write_text
    from themis_opt.files.schedule_file import schedule_text
    from themis_opt.questions.comparison_file import comparison_text

    row = run.rows[-1]
    with saving() as save:
        is_written = save(output, lambda path: write_text(path, schedule_text(row.schedule)))
        save(json_path, lambda path: write_text(path, comparison_text([run], told, seed)))
        if "-" in (output, json_path):
            return
        from themis_opt.cli.tables import console, dimension_table, print_run

        out = console()
        print_run(out, run, choice)
        out.print()
        out.print(dimension_table(row))
        if is_written:
            out.print(f"schedule written to {output}", soft_wrap=True)
