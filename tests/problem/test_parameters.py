"""One limit and one parser for each quantity, wherever it is given: an option, a study, a call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner

from themis_opt.cli.main import cli
from themis_opt.problem import parameters
from themis_opt.problem.errors import InputError
from themis_opt.solving.protocol import SolverParams
from themis_opt.studies.fields import field_named

LIMITS = {
    "chunks": (parameters.CHUNKS, 65_536),
    "solver.max_chunks": (parameters.CHUNKS, 65_536),
    "seed": (parameters.SEED, 2**31 - 1),
    "solver.evaluations": (parameters.EVALUATIONS, 10**15),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_study_takes_what_an_option_takes(name: str) -> None:
    parameter, most = LIMITS[name]
    field = field_named(name)
    assert field.read(most) == parameter.parse(str(most)) == parameter.check(most) == most
    for refuse in (lambda: field.read(most + 1), lambda: parameter.parse(str(most + 1))):
        with pytest.raises(InputError, match=f"{most + 1} is not allowed; allowed are {parameter.least} to {most}"):
            refuse()
    with pytest.raises(InputError, match=f"^{parameter.name} is {most + 1}; allowed are"):
        parameter.check(most + 1)


@pytest.mark.parametrize("text", ["0.1%", "0.001", "1/1000", "1e-3", " 0.1% "])
def test_a_gap_is_written_in_any_of_these_ways_everywhere(text: str) -> None:
    assert parameters.GAP.parse(text) == field_named("solver.gap").read(text) == pytest.approx(0.001, rel=1e-15)


@pytest.mark.parametrize("text", ["", "x", "1/0", "nan%x", "1e999999999/3"])
def test_what_is_no_gap_is_told_so(text: str) -> None:
    with pytest.raises(InputError, match=r"is not a gap; write it as 0.1% or 0.001"):
        parameters.GAP.parse(text)


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "10000%", "1e99"])
def test_a_gap_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a gap must not be negative, and below 10000%"):
        parameters.GAP.parse(text)


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "time": (lambda: SolverParams(1e7), "time limit is 1e[+]07 s; it must be above zero and below 10\\^7 s"),
    "seed": (lambda: SolverParams(seed=2**31), "seed is 2147483648; allowed are 0 to 2147483647"),
    "workers": (lambda: SolverParams(num_workers=1025), "workers is 1025; allowed are 1 to 1024"),
    "gap": (lambda: SolverParams(gap=-0.5), "gap is -0.5; it must not be negative"),
    "evaluations": (lambda: SolverParams(max_evaluations=0), "evaluations is 0; allowed are 1 to 1000000000000000"),
}


@pytest.mark.parametrize("what", CALLS)
def test_a_call_names_what_is_out_of_range(what: str) -> None:
    call, message = CALLS[what]
    with pytest.raises(InputError, match=message):
        call()


def test_chunks_are_numbers_or_for_the_solver_to_choose() -> None:
    assert parameters.parse_chunk_counts("16, 64") == ((16, 64), None)
    assert parameters.parse_chunk_counts("auto") == ((), parameters.DEFAULT_MAX_CHUNKS)
    assert parameters.parse_chunk_counts("auto:32") == ((), 32)
    for text in ("auto:", "auto:0", "automatic", "64,", ""):
        with pytest.raises(InputError):
            parameters.parse_chunk_counts(text)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--evaluations", "0", "0 is not allowed; allowed are 1 to 1000000000000000"),
        ("--gap", "x", "'x' is not a gap; write it as 0.1% or 0.001"),
        ("--time-limit", "1e7s", "'1e7s' is not allowed; it must be above zero and below 10^7 s"),
        ("--min-chunk", "0B", "'0B' is not allowed; at least one byte is needed"),
    ],
)
def test_a_message_starts_with_the_option(option: str, value: str, message: str) -> None:
    result = CliRunner().invoke(cli, ["solve", "3d-fc-ring-sw", option, value])
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == f"{option}: {message}"
