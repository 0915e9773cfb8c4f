"""``themis-opt bound``: lower bounds on the makespan, and the certificate of the one that has it."""

from __future__ import annotations

import json
from typing import Any

import click

from themis_opt.cli.options import instance_options, overrides_from, read_instance, solver_options


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
    from themis_opt.api import usable_processors
    from themis_opt.cli.tables import console, describe_bound, title
    from themis_opt.formats.atomic import check_writable, write_text
    from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds
    from themis_opt.solving.messages import bound_message
    from themis_opt.solving.process import SolverProcess
    from themis_opt.solving.protocol import SolverParams
    from themis_opt.solving.registry import BOUNDS, SOLVERS

    if json_path is not None:
        check_writable(json_path)
    problem = read_instance(instance, overrides_from(options))
    scope = equal_chunks_scope(problem)
    bounds = quick_bounds(problem, scope)
    if solver != "none":
        SOLVERS.require(solver)
        with SolverProcess(solver) as process:
            params = SolverParams(time_limit, workers or usable_processors(), seed)
            for name in BOUNDS.names():
                found = None if name == "fluid" else process.bound(name, problem, scope, params)
                bounds += [] if found is None else [found]
    best = best_bound(bounds)
    if json_path is not None:
        document = {
            "format": "themis-opt/bounds/1",
            "best": bound_message(best),
            "bounds": [bound_message(bound) for bound in bounds],
        }
        write_text(json_path, json.dumps(document, indent=1) + "\n")
    if json_path == "-":
        return
    out = console()
    out.print(title(problem), style="bold", soft_wrap=True)
    for bound in bounds:
        out.print(f"{'*' if bound.value_ps == best.value_ps else ' '} {describe_bound(bound)}", soft_wrap=True)
    out.print(f"best  {best.value_ps} ps", soft_wrap=True)
    if best.certificate is not None:
        weights = ", ".join(f"dim{k + 1} {weight}" for k, weight in enumerate(best.certificate))
        out.print(f"certificate: {weights} proves {best.certified_ps} ps", soft_wrap=True)
