"""The parts of the portfolio: numbered starts, what a number of chunks promises, and starts that are given up."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from random_instances import dimension, network
from themis_models.auto import counts, equal
from themis_models.auto.balanced import TRIES, balanced_candidate
from themis_models.auto.best import Best
from themis_models.auto.counts import FIRST_GAP, STARTS_TO_HALVE, _counts, _Try, search_counts
from themis_models.auto.equal import EqualSearch, Start
from themis_models.auto.numbered import NumberedStarts
from themis_models.auto.portfolio import solve_auto
from themis_models.search.annealing import NEIGHBOURHOODS_EQUAL
from themis_models.search.costing import Candidate
from themis_models.search.space import search_space

from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.errors import SolverError
from themis_opt.problem.instance import Instance
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.result import Ending

FOUR = network(*(dimension(4, bandwidth) for bandwidth in (8, 4, 2, 1)))


def new_best(instance: Instance, target_ps: int = 0, seconds: float = 60.0) -> Best:
    return Best(instance, target_ps, time.monotonic() + seconds, lambda progress: None)


@pytest.mark.parametrize("num_workers", [1, 3])
def test_numbered_starts_go_on_where_they_stopped(num_workers: int) -> None:
    done: list[int] = []
    starts = NumberedStarts(done.append, lambda: False)
    starts.run(num_workers, 4)
    assert sorted(done) == [0, 1, 2, 3]
    starts.run(num_workers, 2)
    assert sorted(done) == [0, 1, 2, 3, 4, 5]


def test_numbered_starts_end_when_it_is_over() -> None:
    done: list[int] = []
    starts = NumberedStarts(done.append, lambda: len(done) >= 3)
    starts.run(1)
    assert done == [0, 1, 2]
    starts.run(1, 5)
    assert done == [0, 1, 2]


def test_an_error_in_a_start_is_raised() -> None:
    def fail(number: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        NumberedStarts(fail, lambda: False).run(2, 4)


def test_balanced_candidates_of_many_equal_chunks_meet_the_bound_without_annealing() -> None:
    instance = Instance(FOUR, size_bytes=64 * 2**20, num_chunks=64)
    bound_ps = best_bound(quick_bounds(instance, equal_chunks_scope(instance))).value_ps
    found: list[float] = []
    candidate = balanced_candidate(
        search_space(instance),
        instance.equal_chunk_sizes(),
        float(bound_ps),
        np.random.default_rng(1),
        lambda _, makespan_ps: found.append(makespan_ps),
    )
    assert isinstance(candidate, Candidate)
    assert 1 <= len(found) <= TRIES
    assert found == sorted(found, reverse=True)
    assert bound_ps * (1 - 1e-9) <= found[-1] <= 1.0005 * bound_ps


def test_what_a_number_of_chunks_promises() -> None:
    instance = Instance(FOUR, size_bytes=2**20, num_chunks=1)
    chunking = make_chunking(instance, Sizing.FREE, max_chunks=8)
    one = _Try(instance, chunking, new_best(instance), SolverParams(), 4)
    # Not tried yet: the bound, and the gap that as many chunks as dimensions had elsewhere, 2·e^-3.2 = 8 %.
    assert one.promised_ps == pytest.approx(one.lower_ps * 1.0815, rel=1e-4)
    fewer = _Try(instance, chunking, new_best(instance), SolverParams(), 1)
    assert one.lower_ps < one.promised_ps < fewer.promised_ps <= fewer.lower_ps * (1 + FIRST_GAP)
    # Tried: half of what separates makespan and bound after so many starts, less after more.
    one.go_on(STARTS_TO_HALVE)
    assert one.schedule is not None
    makespan_ps = one.schedule.makespan_ps
    assert makespan_ps is not None
    if makespan_ps > one.lower_ps:
        assert one.promised_ps == pytest.approx((makespan_ps + one.lower_ps) / 2)
    one.go_on(STARTS_TO_HALVE)
    makespan_ps = one.schedule.makespan_ps
    assert makespan_ps is not None
    assert one.promised_ps == pytest.approx(makespan_ps - (makespan_ps - one.lower_ps) / 3)


def test_a_number_of_chunks_goes_on_from_what_is_known_of_it() -> None:
    instance = Instance(FOUR, size_bytes=2**20, num_chunks=4)
    chunking = make_chunking(instance, Sizing.EQUAL, max_chunks=8)
    best = new_best(instance)
    EqualSearch(search_space(instance), best, [], 0, 10_000).run(1, 1)
    known = best.schedule
    assert known is not None
    one = _Try(instance, chunking, best, SolverParams(), 4)
    other = _Try(instance, chunking, best, SolverParams(), 5)
    one._new_search()
    other._new_search()
    assert one.schedule == known
    assert other.schedule is None
    one.go_on(1)
    other.go_on(1)
    assert one.schedule is not None
    assert other.schedule is not None
    assert (one.schedule.makespan_ps or 0) <= (known.makespan_ps or 0)
    assert (one.schedule.num_chunks, other.schedule.num_chunks) == (4, 5)


def test_numbers_that_cannot_be_better_end_the_search() -> None:
    # One dimension and no latency: one chunk meets the bound of every number, so the search is over at once.
    instance = Instance(network(dimension(4, 1)), size_bytes=2**22, num_chunks=1)
    best = new_best(instance)
    search_counts(instance, make_chunking(instance, Sizing.FREE, max_chunks=16), best, SolverParams())
    assert time.monotonic() < best.deadline - 30
    assert best.makespan_ps == 2 * 3 * 2**20


def test_the_numbers_tried_are_all_small_ones_and_a_few_per_octave() -> None:
    instance = Instance(FOUR, size_bytes=2**30, num_chunks=1)
    assert _counts(make_chunking(instance, max_chunks=5)) == [1, 2, 3, 4, 5]
    many = _counts(make_chunking(instance, max_chunks=100))
    assert many[:32] == list(range(1, 33))
    assert many[32:] == [38, 45, 54, 64, 76, 91, 100]
    assert _counts(make_chunking(replace(instance, num_chunks=7))) == [7]


def test_slow_bounds_leave_time_for_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(instance: Instance, scope: BoundScope) -> list[Bound]:
        time.sleep(0.1)
        return quick_bounds(instance, scope)

    monkeypatch.setattr(counts, "quick_bounds", slow)
    instance = Instance(FOUR, size_bytes=2**20, num_chunks=1)
    best = new_best(instance, seconds=1.5)
    tries = counts._tries(instance, make_chunking(instance, Sizing.FREE, max_chunks=64), best, SolverParams())
    # A fifth of the time is enough for three or four of them: those about twice as many as dimensions.
    assert 1 <= len(tries) <= 5
    assert tries[0].num_chunks == 8
    assert best.left_s > 0.9


def test_a_joint_model_that_is_too_large_leaves_its_time_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = Instance(FOUR, size_bytes=1000, num_chunks=8)
    searches: list[float] = []
    run = EqualSearch.run

    def counted(search: EqualSearch, num_workers: int, num_starts: int | None = None) -> None:
        began = time.monotonic()
        run(search, num_workers, num_starts)
        searches.append(time.monotonic() - began)

    monkeypatch.setattr(EqualSearch, "run", counted)
    monkeypatch.setattr("themis_models.cp_sat.cp_sat_solver.ARCS_PER_S", 1)
    result = solve_auto(instance, SolverParams(time_limit_s=1.6, num_workers=1, gap=0.0))
    assert result.schedule is not None
    assert result.bound is not None
    assert result.schedule.makespan_ps is not None
    assert result.bound.value_ps < result.schedule.makespan_ps  # or there would be nothing to search for
    assert result.ending is Ending.TIME
    assert searches[0] < 0.8  # the search's share while the joint model has yet to be tried
    assert sum(searches) > 1.2
    assert "is too large for 1" in result.note
    assert result.note.endswith("; the search had the rest")


def test_collectives_too_large_for_floating_point_are_refused() -> None:
    instance = Instance(FOUR, size_bytes=2**53, num_chunks=2)
    with pytest.raises(SolverError, match="2\\^53"):
        solve_auto(instance, SolverParams(time_limit_s=1))


def test_starts_that_lead_nowhere_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # Boiling, the second start never comes near the first: it is left out of the second round, the others are not.
    starts = (Start("balanced", 3e-4), Start("random", 1e3, NEIGHBOURHOODS_EQUAL), Start("best", 1e-4))
    monkeypatch.setattr(equal, "STARTS", starts)
    monkeypatch.setattr(equal, "COLD", 1e2)
    monkeypatch.setattr(equal, "SEGMENT_STAGES", 2_000)
    begun: list[str] = []
    begin = EqualSearch._begin

    def note(search: EqualSearch, start: Start, number: int) -> Candidate:
        begun.append(start.origin)
        return begin(search, start, number)

    monkeypatch.setattr(EqualSearch, "_begin", note)
    instance = Instance(FOUR, size_bytes=64 * 2**20, num_chunks=48)
    EqualSearch(search_space(instance), new_best(instance), [], 0, 10_000).run(1, 6)
    assert begun == ["balanced", "random", "best", "balanced", "best"]
