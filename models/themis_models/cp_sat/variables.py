"""What CP-SAT decides: the arcs every chunk takes, and when its stages start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ortools.sat.python import cp_model

from themis_models.extraction import StageKey
from themis_models.stage_times import StageTimes
from themis_opt.collective import Phase
from themis_opt.lattice import Arc


class Variables:
    """The variables of the joint model, in units of `StageTimes`.

    Parameters
    ----------
    model
        The model that gets them.
    times
        The stage times.
    lower_bound, horizon
        The makespan lies between these. No stage of a schedule worth finding ends after the horizon, the makespan of a
        schedule already known.

    Attributes
    ----------
    makespan
        When the last chunk is complete.
    takes
        By chunk and arc: whether the chunk takes it.
    start, hold, release
        By chunk, phase and dimension: when the stage starts, how long it holds the dimension, and when that ends.
    reached
        By chunk and number of stages (of both phases together): a time at which the chunk has been through so many
        and through no more.
    opening, closing
        By dimension: a time before which it serves nothing, and one after which it serves nothing.
    opens, closes
        By dimension: whether a chunk starts there, and whether one ends there.
    """

    def __init__(self, model: cp_model.CpModel, times: StageTimes, lower_bound: int, horizon: int) -> None:
        self.times = times
        instance = times.instance
        self.chunks = range(len(times.sizes))
        self.makespan = model.new_int_var(lower_bound, horizon, "makespan")

        def time(name: str) -> cp_model.IntVar:
            return model.new_int_var(0, horizon, name)

        self.takes: Mapping[tuple[int, Arc], cp_model.IntVar] = {
            (chunk, arc): model.new_bool_var(f"takes_{chunk}_{phase}_{sorted(arc.visited)}_{arc.dimension}")
            for chunk in self.chunks
            for phase, arcs in times.lattice.arcs.items()
            for arc in arcs
        }
        stages = [(chunk, phase, k) for chunk in self.chunks for phase in instance.phases for k in instance.involved]
        self.start: Mapping[StageKey, cp_model.IntVar] = {key: time(f"start_{key}") for key in stages}
        self.hold: Mapping[StageKey, cp_model.IntVar] = {
            key: model.new_int_var_from_domain(self._holds(*key), f"hold_{key}") for key in stages
        }
        self.release: Mapping[StageKey, cp_model.IntVar] = {key: time(f"release_{key}") for key in stages}
        num_stages = len(instance.phases) * len(instance.involved)
        self.reached: Mapping[tuple[int, int], cp_model.IntVar] = {
            (chunk, count): time(f"reached_{chunk}_{count}") for chunk in self.chunks for count in range(num_stages + 1)
        }
        self.opening: Mapping[int, cp_model.IntVar] = {k: time(f"opening_{k}") for k in instance.involved}
        self.closing: Mapping[int, cp_model.IntVar] = {k: time(f"closing_{k}") for k in instance.involved}
        self.opens: Mapping[int, cp_model.IntVar] = {k: model.new_bool_var(f"opens_{k}") for k in instance.involved}
        self.closes: Mapping[int, cp_model.IntVar] = {k: model.new_bool_var(f"closes_{k}") for k in instance.involved}

    def arcs_on(self, phase: Phase, dimension: int) -> Sequence[Arc]:
        """Return a phase's arcs that visit a dimension."""
        return [arc for arc in self.times.lattice.arcs[phase] if arc.dimension == dimension]

    def first_arcs(self) -> Sequence[Arc]:
        """Return the arcs on which a chunk can start."""
        return [arc for arc in self.times.lattice.arcs[self.times.instance.phases[0]] if not arc.visited]

    def last_arcs(self) -> Sequence[Arc]:
        """Return the arcs on which a chunk can end."""
        everything = frozenset(self.times.instance.involved)
        return [arc for arc in self.times.lattice.arcs[self.times.instance.phases[-1]] if arc.target == everything]

    def _holds(self, chunk: int, phase: Phase, dimension: int) -> cp_model.Domain:
        size = self.times.sizes[chunk]
        return cp_model.Domain.from_values([self.times.hold(size, arc) for arc in self.arcs_on(phase, dimension)])
