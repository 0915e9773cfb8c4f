"""``themis-opt bound``: lower bounds on the makespan, and the certificate of the one that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.options import instance_options, overrides_from, read_instance, solver_options

if TYPE_CHECKING:
    from themis_opt.problem.bound import Bound, BoundScope
    from themis_opt.problem.instance import Instance
    from themis_opt.solving.protocol import SolverParams


@click.command("bound")
@click.argument("instance", metavar="INSTANCE")
@instance_options
@solver_options
@click.option("--json", "json_path", metavar="FILE|-", help="Write the bounds as JSON.")
def command(
    instance: str, solver: str, time_limit: float, seed: int, workers: int | None, json_path: str | None, **options: Any
) -> None:
    """Compute lower bounds for schedules with INSTANCE's number of equal chunks.

    The fluid bound comes with a certificate that anybody can check without a solver. --solver none computes only what
    needs no solver process.
    """
    from themis_opt.cli.tables import console
    from themis_opt.cli.wrapping import print_sentence
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.questions.bounds_file import bounds_text
    from themis_opt.show.words import describe_bound, title
    from themis_opt.solving.bounds import best_bound, equal_chunks_scope, full_bounds, quick_bounds
    from themis_opt.solving.protocol import SOLVERS, SolverParams
    from themis_opt.solving.resources import usable_processors

    check_outputs((json_path,), (instance,))
    problem = read_instance(instance, overrides_from(options))
    scope = equal_chunks_scope(problem)
    params = SolverParams(time_limit, workers or usable_processors(), seed)
    notes: list[str] = []
    if solver == "none":
        bounds = full_bounds(problem, scope, time_limit)
    else:
        SOLVERS.require(solver)
        bounds, notes = _with_solver_bounds(quick_bounds(problem, scope), problem, scope, solver, params)
    best = best_bound(bounds)
    if json_path is not None:
        write_text(json_path, bounds_text(best, bounds, notes))
    for note in notes:
        # It may quote what another author's process printed: text, and no commands to the terminal.
        click.echo("note: " + "".join(character for character in note if character.isprintable()), err=True)
    if json_path == "-":
        return
    out = console()
    print_sentence(out, title(problem), style="bold")
    for bound in bounds:
        print_sentence(out, f"{'*' if bound.value_ps == best.value_ps else ' '} {describe_bound(bound)}")
    out.print(f"best  {best.value_ps} ps", soft_wrap=True)
    if best.certificate is not None:
        weights = ", ".join(f"dim{k + 1} {weight}" for k, weight in enumerate(best.certificate))
        print_sentence(out, f"certificate: {weights} proves {best.certified_ps} ps")


def _with_solver_bounds(
    bounds: list[Bound], problem: Instance, scope: BoundScope, solver: str, params: SolverParams
) -> tuple[list[Bound], list[str]]:
    """Return the quick bounds and those that take a solver's process, and why any are missing.

    Whatever happens to that process, the bounds known before are worth showing.
    """
    from themis_opt.problem.bound import BoundKind
    from themis_opt.problem.errors import SolverError
    from themis_opt.solving.bounds import has_quick_fluid_bound, with_fluid
    from themis_opt.solving.process import SolverProcess
    from themis_opt.solving.protocol import BOUNDS

    notes = []
    with SolverProcess(solver) as process:
        for name in BOUNDS.names():
            if name == "fluid" and has_quick_fluid_bound(problem):
                continue
            try:
                found = process.bound(name, problem, scope, params)
            except SolverError as error:
                notes.append(f"no {name} bound: {error}")
                continue
            if found is None:
                notes.append(f"no {name} bound in time")
            elif found.kind == BoundKind.FLUID:
                bounds = with_fluid(bounds, found)
            else:
                bounds = [*bounds, found]
    return bounds, notes
