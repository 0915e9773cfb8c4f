"""What is worked out from an instance or a schedule is worked out once and travels with it."""

import pickle
from dataclasses import replace

import themis_opt
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.timing import sequencing
from themis_opt.timing.cost import CostModel
from themis_opt.timing.sequencing import timeline_of


def a_schedule() -> Schedule:
    return themis_opt.schedule(Instance(themis_opt.load_network("3d-sw-sw-sw-homo"), size_bytes=10**6, num_chunks=4))


def test_an_instance_has_one_cost_model():
    instance = a_schedule().instance
    assert instance.derived(CostModel) is instance.derived(CostModel)
    other = replace(instance, size_bytes=2 * 10**6)
    assert other.derived(CostModel) is not instance.derived(CostModel)
    assert other.derived(CostModel).instance is other


def test_a_schedule_is_timed_once(monkeypatch):
    made = a_schedule()
    monkeypatch.setattr(sequencing, "simulate", None)  # whoever times again fails
    timeline = made.derived(timeline_of)
    assert made.replace(makespan_ps=None, seed=3).derived(timeline_of) is timeline
    assert made.replace(instance=made.instance).derived(timeline_of) is timeline


def test_what_times_follow_from_makes_new_times():
    made = a_schedule()
    timeline = made.derived(timeline_of)
    resequenced = made.replace(sequences=made.sequences)
    assert resequenced.derived(timeline_of) is not timeline
    richer = made.replace(instance=replace(made.instance, chunk_overhead_ps=10**6))
    assert richer.derived(timeline_of).makespan_ps > timeline.makespan_ps
    fewer_bytes = made.replace(chunks=tuple(replace(chunk, size_bytes=1) for chunk in made.chunks))
    assert fewer_bytes.derived(timeline_of).makespan_ps < timeline.makespan_ps


def test_equality_and_copies_elsewhere_know_nothing_of_it():
    made, fresh = a_schedule(), a_schedule()
    assert len(pickle.dumps(made)) == len(pickle.dumps(pickle.loads(pickle.dumps(fresh))))
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made == fresh
    assert hash(copy.instance) == hash(made.instance)
    assert copy.derived(timeline_of).makespan_ps == made.makespan_ps
