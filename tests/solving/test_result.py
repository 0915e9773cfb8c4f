"""What `solve` returns, and the one way in which every function takes a solver's limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

import themis_opt
from themis_opt import ChunkingChoice, Ending, Instance, Result, Sizing, SolverParams, Status
from themis_opt.solving.keywords import choice_of, params_of
from themis_opt.solving.resources import usable_processors

INSTANCE = Instance(themis_opt.load_network("2d-sw-sw"), size_bytes=10**7, num_chunks=2)


@pytest.fixture(scope="module")
def solved() -> Result:
    return themis_opt.solve(INSTANCE, max_evaluations=2000, time_limit_s=60)


def test_a_result_knows_what_its_schedule_does(solved: Result) -> None:
    schedule = solved.schedule
    assert themis_opt.validate(INSTANCE, schedule) == ()
    assert (solved.makespan_ps, solved.bound, solved.gap) == (schedule.makespan_ps, schedule.bound, schedule.gap)
    assert solved.status is schedule.status
    assert solved.is_reproducible
    assert not solved.has_failed
    assert solved.interruption is None
    assert solved.bound_any is None
    with pytest.raises(AttributeError):
        solved.note = "changed"  # type: ignore[misc]


def test_a_result_is_one_line() -> None:
    schedule = themis_opt.schedule(INSTANCE).replace(status=Status.FEASIBLE, makespan_ps=2_000_000)
    bound = replace(themis_opt.lower_bound(INSTANCE), value_ps=1_000_000)
    result = Result(schedule.replace(bound=bound), ending=Ending.TIME, wall_s=1.25, note="the solver did not answer")
    assert str(result) == (
        "feasible: 2.0000 us, bound 1.0000 us (gap 100 %), in 1.2 s, ended by time; the solver did not answer"
    )
    zero = Result(schedule.replace(bound=replace(bound, value_ps=0)), ending=Ending.GAP)
    assert str(zero) == "feasible: 2.0000 us, bound 0 ps (gap inf %), in 0.0 s, ended by gap"


def test_evaluations_are_known_where_they_are_limited() -> None:
    instance = Instance(themis_opt.load_network("3d-fc-ring-sw"), size_bytes=10**8, num_chunks=16)
    result = themis_opt.solve(instance, max_evaluations=3000, gap=0, time_limit_s=60)
    assert result.num_evaluations is not None
    assert result.num_evaluations > 0
    assert result == replace(
        themis_opt.solve(instance, max_evaluations=3000, gap=0, time_limit_s=60), wall_s=result.wall_s
    )


def test_limits_are_keywords_or_params_or_both(solved: Result) -> None:
    """The keyword wins, and what is said in neither way is as for everybody."""
    told = themis_opt.solve(INSTANCE, params=SolverParams(60.0, seed=5, gap=1e-4), max_evaluations=2000, seed=0)
    assert told.schedule == solved.schedule
    default = params_of(None, {})
    assert (default.time_limit_s, default.gap, default.num_workers) == (10.0, 1e-4, usable_processors())
    assert params_of(None, {"max_evaluations": 5}).num_workers == 1
    assert params_of(SolverParams(3.0, 2), {"gap": 0.5}) == SolverParams(3.0, 2, gap=0.5)
    assert params_of(SolverParams(3.0, 2), {"num_workers": None, "on_progress": None}) == SolverParams(3.0, 2)


def test_chunks_are_chosen_by_keywords_or_choice_or_both() -> None:
    choice, others = choice_of(ChunkingChoice(Sizing.FREE, 8), {"max_chunks": 4, "min_chunk_bytes": 64, "seed": 1})
    assert choice == ChunkingChoice(Sizing.FREE, 4, None, 64)
    assert others == {"seed": 1}
    assert choice_of(None, {"sizes": "free"}) == (ChunkingChoice(Sizing.FREE), {})


def test_a_misspelt_limit_is_refused() -> None:
    with pytest.raises(TypeError, match="time_limit"):
        themis_opt.solve(INSTANCE, time_limit=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="chunks"):
        themis_opt.tune(INSTANCE, [10**6], chunks=5).__next__()  # type: ignore[call-arg]
