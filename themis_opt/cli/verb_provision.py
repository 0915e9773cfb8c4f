"""``themis-opt provision``: how to split a bandwidth budget over the dimensions."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from themis_opt.cli.exits import Exit, exit_code
from themis_opt.cli.option_help import with_help
from themis_opt.cli.options import (
    Overrides,
    choice_from,
    choosing_instance_options,
    chunking_options,
    overrides_from,
    read_chosen_instance,
    solver_options,
)
from themis_opt.cli.progress import Relay, progress_line
from themis_opt.cli.tables import console, make_table
from themis_opt.cli.wrapping import print_sentence
from themis_opt.files.atomic import check_outputs, saving, write_text
from themis_opt.files.network_file import save_network
from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.units import bandwidth_column, format_bandwidth, format_time, parse_bandwidth
from themis_opt.questions.provision.provision import Provisioned, provision
from themis_opt.questions.provision.provision_file import provision_json
from themis_opt.questions.provision.split_search import LEAST_GAIN
from themis_opt.show.words import count_chunks, format_gap, title
from themis_opt.solving.protocol import Progress, SolverParams
from themis_opt.solving.resources import default_workers

_COST = re.compile(r"dim(?P<number>[1-9]\d{0,2})\s*=\s*(?P<cost>.+)")
_NUMBER = re.compile(r"-?(\d{1,15}(\.\d{1,15})?|\.\d{1,15})")


@with_help(
    {
        "--size": "Message size, bytes per NPU, such as 100MB.",
        "--sizes": "Chunk sizes (of messages: --size): equal or free.  [default: free; equal with --chunks or another "
        "--solver]",
    }
)
@click.command("provision")
@click.argument("network", metavar="NETWORK")
@click.option("--budget", help="Sum of cost x bandwidth, such as 600GB/s.  [default: what the network costs]")
@click.option(
    "--cost", "cost_texts", multiple=True, metavar="DIM=COST", help="Such as dim1=2,dim2=0.5.  [default: 1 each]"
)
@choosing_instance_options
@solver_options
@chunking_options
@click.option("-o", "--output", metavar="FILE|-", help="Write the network with the answer's bandwidths.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(
    network: str,
    budget: str | None,
    cost_texts: tuple[str, ...],
    solver: str,
    time_limit: float,
    evaluations: int | None,
    seed: int,
    workers: int | None,
    output: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Split a bandwidth budget over the dimensions of NETWORK so that the best schedule is fastest.

    Candidates come from the bounds and their duals; the best are solved like the network as it is, with the same chunks
    and limits, and the best of all that was solved is proposed if it is faster. It is the best split found, which
    proves nothing; a bound over all splits says how much there may be left to gain at most. Unless --sizes or --chunks
    say otherwise, the solver 'auto' chooses up to 16 chunks of any size (--size, without s, is the message).

    It takes five to ten times the time limit, at most fifteen; much less where the network as it is meets the bound.
    More time means more candidates. With --evaluations N runs repeat.

    The budget is in GB/s of a dimension that costs 1; a dimension with --cost dim1=2 takes two of it for each GB/s.
    Where the budget is not what the network costs, its bandwidths are scaled to it before they are compared.
    Ctrl-C ends the search and keeps the best split so far.
    """
    if solver == "none":
        raise InputError("provision needs a solver, to check what the bounds propose; 'explain' does without one")
    check_outputs((output, json_path), (network,))
    overrides = overrides_from(options)
    choice = _choice(solver, choice_from(options, overrides), overrides)
    total_Bps = _budget(budget)
    costs = _costs(cost_texts)
    problem = read_chosen_instance(network, overrides)
    threads, gap = workers or default_workers(evaluations), float(options["gap"])
    relay = Relay()
    number = 1

    def on_split(split: int) -> None:
        nonlocal number
        number = split

    def on_progress(progress: Progress) -> None:
        relay(replace(progress, phase=f"split {number}: {progress.phase}"))

    params = SolverParams(time_limit, threads, seed, gap=gap, max_evaluations=evaluations, on_progress=on_progress)
    with progress_line(solver) as relay.show:
        result = provision(
            problem, total_Bps=total_Bps, costs=costs, solver=solver, params=params, choice=choice, on_split=on_split
        )
    told = {
        "network": network,
        "solver": solver,
        "time_limit_s": time_limit,
        "max_evaluations": evaluations,
        "gap": gap,
        "workers": threads,
        "seed": seed,
    }
    with saving() as save:
        is_written = save(output, lambda path: save_network(result.network, path))
        save(json_path, lambda path: write_text(path, provision_json(result, told)))
        if "-" not in (output, json_path):
            out = console()
            _print(out, problem, choice, result)
            if is_written:
                out.print(f"network written to {output}", soft_wrap=True)
    if result.interruption is not None:
        raise Exit(exit_code(result.interruption))


def _choice(solver: str, given: ChunkingChoice | None, overrides: Overrides) -> ChunkingChoice:
    """Return what the solver may choose: what the options say, else everything if it can, unless chunks are given."""
    if given is not None:
        return given
    if overrides.chunks or solver != "auto":
        return ChunkingChoice()
    return ChunkingChoice(Sizing.FREE, DEFAULT_MAX_CHUNKS)


def _budget(text: str | None) -> Fraction | None:
    if text is None:
        return None
    with located("--budget"):
        total_Bps = parse_bandwidth(text)
    if total_Bps <= 0:
        raise InputError(f"--budget: {text!r} is not allowed; it must be above zero")
    return total_Bps


def _costs(texts: tuple[str, ...]) -> dict[int, Fraction]:
    """Return the costs by dimension index.

    Raises
    ------
    InputError
        When a cost is not written as ``dim1=2``, not above zero, or given twice.
    """
    costs: dict[int, Fraction] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        match = _COST.fullmatch(part)
        if match is None:
            raise InputError(f"--cost: {part!r} is no cost of a dimension; write it as dim1=2, the first being dim1")
        if _NUMBER.fullmatch(match["cost"]) is None:
            raise InputError(f"--cost: {part!r}: {match['cost']!r} is not a number; write it as dim{match['number']}=2")
        k, cost = int(match["number"]) - 1, Fraction(match["cost"])
        if cost <= 0:
            raise InputError(f"--cost: {part!r} is not allowed; a cost must be above zero")
        if k in costs:
            raise InputError(f"--cost: dim{k + 1} has two costs; give it one")
        costs[k] = cost
    return costs


def _print(out: Console, problem: Instance, choice: ChunkingChoice, result: Provisioned) -> None:
    allowed = choice.on(problem)
    scope = BoundScope(allowed.sizing, allowed.min_chunks, allowed.max_chunks)
    print_sentence(out, title(problem, str(scope).removeprefix("exactly ")), style="bold")
    out.print(_splits_table(result))
    budget = result.budget
    used = ""
    if result.proposed is not None:
        price = format_bandwidth(budget.price_Bps(result.proposed.bandwidths))
        used = f"; {_name_of_other(result)} uses {price}, its bandwidths are whole MB/s or finer"
    print_sentence(out, f"budget {format_bandwidth(budget.total_Bps)}{used}")
    if result.is_scaled:
        own = budget.shipped
        has = ", ".join(f"dim{k + 1} {format_bandwidth(bandwidth)}" for k, bandwidth in own.items())
        costs = format_bandwidth(budget.price_Bps(own))
        print_sentence(out, f"the network costs {costs} as it is ({has}); scaled: in these proportions at the budget")
    for line in _lines(result):
        print_sentence(out, line)


def _own(result: Provisioned) -> str:
    """Return what the network's own split is called."""
    return "scaled" if result.is_scaled else "as it is"


def _network(result: Provisioned) -> str:
    return "the scaled network" if result.is_scaled else "the network as it is"


def _splits_table(result: Provisioned) -> Table:
    """Return the bandwidths, side by side if there is another split than the network's own one."""
    budget, own, proposed = result.budget, result.shipped.bandwidths, result.proposed
    has_costs = len(set(budget.costs.values())) > 1
    columns = [("", "left"), ("as it is, scaled\nto the budget" if result.is_scaled else "as it is", "right")]
    if proposed is not None:
        columns += [(_name_of_other(result), "right"), ("change", "right")]
    table = make_table([*columns, ("cost", "right")] if has_costs else columns)
    others = {} if proposed is None else proposed.bandwidths
    texts = bandwidth_column([*own.values(), *others.values()])
    for place, k in enumerate(own):
        cells = [f"dim{k + 1} {budget.instance.network.dimensions[k].topology}", texts[place]]
        if others:
            cells += [texts[len(own) + place], f"{float(others[k] / own[k]) - 1:+.1%}"]
        table.add_row(*cells, *([f"{float(budget.costs[k]):g}"] if has_costs else []))
    return table


def _name_of_other(result: Provisioned) -> str:
    return "proposed" if result.is_worth_it else "best other"


def _lines(result: Provisioned) -> list[str]:
    """Return what was found, what was predicted, and what no split can do."""
    lines = []
    own = _own(result)
    for name, solved in ((own, result.shipped), (_name_of_other(result), result.proposed)):
        if solved is not None:
            gap = format_gap(solved.schedule.gap or 0.0)
            lines.append(
                f"{name}: {format_time(solved.makespan_ps)} with {count_chunks(solved.schedule.num_chunks)}, "
                f"{gap} above the bound for that number ({format_time(solved.bound_ps)})"
            )
            if solved.note:
                lines.append(f"{name}: {solved.note}")
    if result.proposed is not None:
        agreement = "confirmed" if result.is_prediction_confirmed else "more than 1 % apart"
        lines.append(
            f"gain predicted {_gain(result.predicted_gain)}, found by solving {_gain(result.confirmed_gain)} "
            f"({agreement})"
        )
        if result.is_shipped_bound_tight:
            lines.append("predicted: the ratio of the two bounds")
        else:
            lines.append(
                f"predicted: from what was found for {_network(result)}, whose bound is not tight, and the bound of "
                f"the other (the ratio of the two bounds is {_gain(result.bounds_gain)})"
            )
    lines.append(_answer(result))
    if len(result.budget.costs) > 1:
        lines.append(_what_is_left(result))
    splits = "split" if result.num_solved == 1 else "splits"
    lines.append(f"{result.num_solved} {splits} solved in {result.wall_s:.0f} s")
    return lines


def _answer(result: Provisioned) -> str:
    """Return what kind of answer it is."""
    if len(result.budget.costs) == 1:
        return "nothing to gain: one dimension gets all of the budget"
    own = _network(result)
    if result.most_gain is not None and result.most_gain <= LEAST_GAIN:
        return f"nothing to gain: {own} is as good as any split to within 0.1 %, which the bound below proves"
    found = f"{_gain(result.confirmed_gain)} faster than {own}"
    if result.interruption is not None:
        splits = "1 split was" if result.num_solved == 1 else f"{result.num_solved} splits were"
        best = f"the best of them is {found}" if result.is_worth_it else f"none is faster than {own} by more than 0.1 %"
        best = f"that is {own}" if result.num_solved == 1 else best
        return f"stopped: {splits} solved; {best}; a better one may be left to find"
    if result.is_worth_it:
        return f"best split found: {found}"
    return f"no split was found that is faster than {own} by more than 0.1 %; it is kept"


def _what_is_left(result: Provisioned) -> str:
    """Return what the bound over all splits leaves to gain."""
    if result.least_ps is None or result.most_gain is None or result.most_gain_over_answer is None:
        return "how much faster another split may be is not known: for so many dimensions there is no quick bound"
    line = (
        f"no split of this budget takes less than {format_time(result.least_ps)} with these chunks: "
        f"at most {_gain(result.most_gain)} faster than {_network(result)}"
    )
    return f"{line}, at most {_gain(result.most_gain_over_answer)} faster than proposed" if result.is_worth_it else line


def _gain(part: float) -> str:
    """Return a gain as a percentage, without a sign where it shows none."""
    text = f"{part:.2%}"
    return "0.00%" if text == "-0.00%" else text
