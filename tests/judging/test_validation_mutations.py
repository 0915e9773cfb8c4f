"""Valid schedules with one thing changed: rejected for the right reason, or every claim in them is still true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, reject, settings
from plain_judge import end_ps, is_right, plain_certified, plain_critical_path, plain_times
from random_instances import AG, RS, random_instance, random_schedule, randoms

from themis_opt.judging.validator import validate
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.schedule import Chunk, Schedule, Slot, StageTime, Status
from themis_opt.problem.violation import ViolationKind as Kind

Mutation = Callable[[Random, Schedule], Schedule]


class NothingToChange(Exception):
    """The schedule has nothing of the kind that a mutation changes."""


def random_claims(random: Random) -> Schedule:
    """Return a right schedule with claims of every sort: makespan, stage times, bound, certificate, status."""
    instance = random_instance(random, max_chunks=4)
    schedule = random_schedule(random, instance)
    times = earliest = plain_times(schedule)
    assert earliest is not None
    if random.randrange(2):
        if random.randrange(2):
            longest = end_ps(earliest) // 4 + 2
            times = plain_times(schedule, lambda: random.choice([0, 0, random.randrange(longest)]))
        assert times is not None
        stages = [StageTime(*stage, *start_and_end) for stage, start_and_end in times.items()]
        random.shuffle(stages)
        schedule = schedule.replace(stages=tuple(stages))
    assert times is not None
    schedule = schedule.replace(makespan_ps=end_ps(times))
    if random.randrange(4):
        schedule = schedule.replace(bound=random_bound(random, schedule, end_ps(earliest)))
    if schedule.bound is not None and schedule.bound.value_ps == schedule.makespan_ps:
        schedule = schedule.replace(status=Status.OPTIMAL)
    return schedule


def random_bound(random: Random, schedule: Schedule, earliest_ps: int) -> Bound:
    """Return a true bound whose scope includes the schedule."""
    instance, count = schedule.instance, schedule.num_chunks
    sizing = random.choice([schedule.sizing, Sizing.FREE])
    top = min(count + random.randrange(2), instance.size_bytes)
    scope = BoundScope(sizing, random.randint(1, count), top)
    parts = [random.randrange(1, 5) if k in instance.involved else 0 for k in range(instance.network.num_dimensions)]
    weights = tuple(Fraction(part, sum(parts)) for part in parts)
    certified_ps = plain_certified(instance, weights, scope)
    kind = random.choice(["fluid", "critical-path", "cp-sat"])
    if kind == "fluid":
        return Bound(certified_ps, kind, scope, weights, certified_ps)
    if kind == "critical-path":
        return Bound(plain_critical_path(instance, scope), kind, scope)
    return Bound(random.randint(certified_ps, earliest_ps), kind, scope, weights, certified_ps)


def swap_neighbours(random: Random, schedule: Schedule) -> Schedule:
    k = random.choice(schedule.instance.involved)
    sequence = list(schedule.sequences[k])
    if len(sequence) < 2:
        raise NothingToChange
    place = random.randrange(len(sequence) - 1)
    sequence[place : place + 2] = sequence[place + 1], sequence[place]
    return with_sequence(schedule, k, sequence)


def rotate_sequence(random: Random, schedule: Schedule) -> Schedule:
    k = random.choice(schedule.instance.involved)
    sequence = list(schedule.sequences[k])
    if len(sequence) < 2:
        raise NothingToChange
    places = random.randrange(1, len(sequence))
    return with_sequence(schedule, k, sequence[places:] + sequence[:places])


def drop_slot(random: Random, schedule: Schedule) -> Schedule:
    k = random.choice(schedule.instance.involved)
    sequence = list(schedule.sequences[k])
    sequence.pop(random.randrange(len(sequence)))
    return with_sequence(schedule, k, sequence)


def repeat_slot(random: Random, schedule: Schedule) -> Schedule:
    k = random.choice(schedule.instance.involved)
    sequence = list(schedule.sequences[k])
    sequence.insert(random.randrange(len(sequence) + 1), random.choice(sequence))
    return with_sequence(schedule, k, sequence)


def with_sequence(schedule: Schedule, k: int, sequence: list[Slot]) -> Schedule:
    sequences = (*schedule.sequences[:k], tuple(sequence), *schedule.sequences[k + 1 :])
    return schedule.replace(sequences=sequences)


def move_byte(random: Random, schedule: Schedule) -> Schedule:
    if schedule.num_chunks < 2:
        raise NothingToChange
    chunks = list(schedule.chunks)
    giver, taker = random.sample(range(len(chunks)), 2)
    chunks[giver] = replace(chunks[giver], size_bytes=chunks[giver].size_bytes - 1)
    chunks[taker] = replace(chunks[taker], size_bytes=chunks[taker].size_bytes + 1)
    return schedule.replace(chunks=tuple(chunks))


def lose_byte(random: Random, schedule: Schedule) -> Schedule:
    chunks = list(schedule.chunks)
    index = random.randrange(len(chunks))
    chunks[index] = replace(chunks[index], size_bytes=chunks[index].size_bytes - 1)
    return schedule.replace(chunks=tuple(chunks))


def alter_order(random: Random, schedule: Schedule) -> Schedule:
    """Swap two dimensions of an order, or visit one twice and another not at all."""
    phases = [phase for phase in (RS, AG) if phase in schedule.instance.phases]
    if not phases or len(schedule.instance.involved) < 2:
        raise NothingToChange
    field = f"{random.choice(phases).value}_order"
    index = random.randrange(schedule.num_chunks)
    chunk: Chunk = schedule.chunks[index]
    order = list(getattr(chunk, field))
    first, second = random.sample(range(len(order)), 2)
    order[first], order[second] = order[second], order[second] if random.randrange(2) else order[first]
    chunks = list(schedule.chunks)
    chunks[index] = replace(chunk, **{field: tuple(order)})  # type: ignore[arg-type]
    return schedule.replace(chunks=tuple(chunks))


def change_makespan(random: Random, schedule: Schedule) -> Schedule:
    assert schedule.makespan_ps is not None
    return schedule.replace(makespan_ps=schedule.makespan_ps + random.choice([-1, 1]) * random.choice([1, 10**6]))


def raise_bound(random: Random, schedule: Schedule) -> Schedule:
    """Raise a bound (and, half the time, what is said to be certified) by up to twice the gap."""
    if schedule.bound is None:
        raise NothingToChange
    assert schedule.makespan_ps is not None
    by_ps = random.randint(1, 2 * (schedule.makespan_ps - schedule.bound.value_ps) + 1)
    bound = replace(schedule.bound, value_ps=schedule.bound.value_ps + by_ps)
    if bound.certified_ps is not None and random.randrange(2):
        bound = replace(bound, certified_ps=bound.certified_ps + by_ps)
    return schedule.replace(bound=bound)


def alter_certificate(random: Random, schedule: Schedule) -> Schedule:
    """Move some weight from one dimension to another, or change one weight alone."""
    if schedule.bound is None or schedule.bound.certificate is None:
        raise NothingToChange
    weights = list(schedule.bound.certificate)
    if len(weights) < 2:
        raise NothingToChange
    giver, taker = random.sample(range(len(weights)), 2)
    part = Fraction(random.randint(1, 9), 10)
    weights[giver] -= part
    if random.randrange(4):
        weights[taker] += part
    return schedule.replace(bound=replace(schedule.bound, certificate=tuple(weights)))


def narrow_scope(random: Random, schedule: Schedule) -> Schedule:
    """Say that the bound holds for one chunk more than the schedule has, or for equal chunks."""
    if schedule.bound is None:
        raise NothingToChange
    scope = schedule.bound.scope
    if random.randrange(2):
        scope = replace(scope, sizes=Sizing.EQUAL)
    else:
        scope = BoundScope(scope.sizes, schedule.num_chunks + 1, schedule.num_chunks + 1)
    return schedule.replace(bound=replace(schedule.bound, scope=scope))


def drop_stage(random: Random, schedule: Schedule) -> Schedule:
    stages = stages_of(schedule)
    stages.pop(random.randrange(len(stages)))
    return schedule.replace(stages=tuple(stages))


def repeat_stage(random: Random, schedule: Schedule) -> Schedule:
    stages = stages_of(schedule)
    stages.append(random.choice(stages))
    return schedule.replace(stages=tuple(stages))


def shift_stage(random: Random, schedule: Schedule) -> Schedule:
    """Let a stage start, or only end, earlier or later."""
    stages = stages_of(schedule)
    index = random.randrange(len(stages))
    by_ps = random.choice([-1, 1]) * random.choice([1, 10, 10**6])
    stage = stages[index]._replace(end_ps=stages[index].end_ps + by_ps)
    if random.randrange(3):
        stage = stage._replace(start_ps=stage.start_ps + by_ps)
    stages[index] = stage
    return schedule.replace(stages=tuple(stages))


def stages_of(schedule: Schedule) -> list[StageTime]:
    if schedule.stages is None:
        times = plain_times(schedule)
        assert times is not None
        return [StageTime(*stage, *start_and_end) for stage, start_and_end in times.items()]
    return list(schedule.stages)


TIMES = {Kind.DURATION, Kind.TOO_EARLY, Kind.PHASE_ORDER, Kind.OVERLAP, Kind.SEQUENCE}
ENDS = {Kind.MAKESPAN, Kind.BOUND, Kind.STATUS}
MUTATIONS: dict[Mutation, set[Kind]] = {
    swap_neighbours: {Kind.DEADLOCK, Kind.PHASE_ORDER, Kind.SEQUENCE, Kind.OVERLAP} | ENDS,
    rotate_sequence: {Kind.DEADLOCK, Kind.PHASE_ORDER, Kind.SEQUENCE, Kind.OVERLAP} | ENDS,
    drop_slot: {Kind.SEQUENCE},
    repeat_slot: {Kind.SEQUENCE},
    move_byte: {Kind.SIZE, Kind.SCOPE} | TIMES | ENDS,
    lose_byte: {Kind.TOTAL_SIZE, Kind.SIZE, Kind.SCOPE} | TIMES | ENDS,
    alter_order: {Kind.ORDER, Kind.DEADLOCK} | TIMES | ENDS,
    change_makespan: {Kind.MAKESPAN},
    raise_bound: {Kind.BOUND, Kind.CERTIFIED_BOUND, Kind.STATUS},
    alter_certificate: {Kind.CERTIFICATE, Kind.CERTIFIED_BOUND},
    narrow_scope: {Kind.SCOPE, Kind.BOUND, Kind.CERTIFIED_BOUND},
    drop_stage: {Kind.STAGES},
    repeat_stage: {Kind.STAGES},
    shift_stage: TIMES | ENDS,
}
ALWAYS_FALSE: dict[Mutation, Kind] = {
    drop_slot: Kind.SEQUENCE,
    repeat_slot: Kind.SEQUENCE,
    lose_byte: Kind.TOTAL_SIZE,
    change_makespan: Kind.MAKESPAN,
    drop_stage: Kind.STAGES,
    repeat_stage: Kind.STAGES,
}


def judge(mutation: Mutation, random: Random) -> bool:
    """Mutate a random schedule, hold the verdict against the naive judge's, and return whether it was rejected."""
    mutated = mutation(random, random_claims(random))
    rules = {violation.rule for violation in validate(mutated.instance, mutated)}
    assert bool(rules) != is_right(mutated)
    assert rules <= MUTATIONS[mutation]
    if mutation in ALWAYS_FALSE:
        assert ALWAYS_FALSE[mutation] in rules
    return bool(rules)


@settings(max_examples=100, deadline=None)
@given(random=randoms())
def test_every_right_schedule_passes(random: Random) -> None:
    schedule = random_claims(random)

    assert is_right(schedule)
    assert validate(schedule.instance, schedule) == ()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@settings(max_examples=60, deadline=None)
@given(random=randoms())
def test_a_mutation_is_rejected_for_the_right_reason_or_harmless(mutation: Mutation, random: Random) -> None:
    try:
        judge(mutation, random)
    except NothingToChange:
        reject()


def test_most_mutations_are_false() -> None:
    # Harmless ones exist (a swap of stages that wait anyway), but a sample of them would test little.
    verdicts: Counter[tuple[str, bool]] = Counter()
    for seed in range(60):
        for mutation in MUTATIONS:
            try:
                rejected = judge(mutation, Random(seed))
            except NothingToChange:
                continue
            verdicts[mutation.__name__, rejected] += 1

    num_false = sum(count for (_, rejected), count in verdicts.items() if rejected)
    assert num_false >= 0.6 * verdicts.total()
    assert verdicts.total() > 500
    # Swaps that change nothing are there too: the judge does not simply reject whatever was touched.
    assert verdicts["swap_neighbours", True] > 5
    assert verdicts["swap_neighbours", False] > 5
