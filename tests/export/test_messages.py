"""The messages of every algorithm, run on sets of contributions: each part ends where it should, and no earlier."""

from __future__ import annotations

from collections import Counter

import pytest

from themis_opt import Algorithm
from themis_opt.export.stage_messages import Send, stage_steps
from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError

CASES = [
    (algorithm, size)
    for algorithm in Algorithm
    for size in range(1, 18)
    if algorithm is not Algorithm.HALVING_DOUBLING or size & (size - 1) == 0
]


def all_steps(algorithm: Algorithm, phase: Phase, size: int) -> list[list[tuple[int, Send]]]:
    """The messages of all members, step by step, each with its sender."""
    by_member = [stage_steps(algorithm, phase, size, member) for member in range(size)]
    assert len({len(steps) for steps in by_member}) == 1
    return [
        [(member, send) for member, steps in enumerate(by_member) for send in steps[step]]
        for step in range(len(by_member[0]))
    ]


def parts_of(send: Send, size: int) -> list[int]:
    return [(send.first_part + offset) % size for offset in range(send.num_parts)]


@pytest.mark.parametrize(("algorithm", "size"), CASES)
def test_reduce_scatter_sums_every_contribution_once(algorithm: Algorithm, size: int) -> None:
    held = [[Counter({member: 1}) for _ in range(size)] for member in range(size)]
    for step in all_steps(algorithm, Phase.REDUCE_SCATTER, size):
        travelling = [
            (send.receiver, part, held[sender][part]) for sender, send in step for part in parts_of(send, size)
        ]
        for sender, send in step:
            for part in parts_of(send, size):
                held[sender][part] = Counter()  # what is sent is gone: nobody may count it twice
        for receiver, part, contributions in travelling:
            held[receiver][part] = held[receiver][part] + contributions
    for member in range(size):
        assert held[member][member] == Counter(range(size))


@pytest.mark.parametrize(("algorithm", "size"), CASES)
def test_all_gather_brings_every_part_once(algorithm: Algorithm, size: int) -> None:
    held = [{member} for member in range(size)]
    received: list[Counter[int]] = [Counter() for _ in range(size)]
    for step in all_steps(algorithm, Phase.ALL_GATHER, size):
        travelling = [(sender, send.receiver, parts_of(send, size)) for sender, send in step]
        for sender, _, parts in travelling:
            assert held[sender].issuperset(parts)  # nobody sends what has not arrived yet
        for _, receiver, parts in travelling:
            held[receiver].update(parts)
            received[receiver].update(parts)
    for member in range(size):
        assert received[member] == Counter(part for part in range(size) if part != member)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(("algorithm", "size"), CASES)
def test_steps_and_bytes_are_those_of_the_cost_model(algorithm: Algorithm, size: int, phase: Phase) -> None:
    """(T1), and (C2): P - 1 parts leave every member in a stage, whatever the algorithm."""
    for member in range(size):
        steps = stage_steps(algorithm, phase, size, member)
        expected = min(1, size - 1) if phase is Phase.ALL_TO_ALL else algorithm.num_steps(size)
        assert len(steps) == expected
        assert sum(send.num_parts for step in steps for send in step) == size - 1
        assert all(send.receiver != member for step in steps for send in step)


def test_bruck_among_six_by_hand() -> None:
    """2^0, 2^1, then the last two of six parts; member 0 sends down the circle: to 5, to 4, to 2."""
    assert stage_steps(Algorithm.BRUCK, Phase.ALL_GATHER, 6, 0) == (
        (Send(5, 0, 1),),
        (Send(4, 0, 2),),
        (Send(2, 0, 2),),
    )


def test_halving_starts_with_the_largest_part_by_hand() -> None:
    """Member 1 of 8 first sends the upper half, then parts 2 and 3, then part 0."""
    assert stage_steps(Algorithm.HALVING_DOUBLING, Phase.REDUCE_SCATTER, 8, 1) == (
        (Send(5, 4, 4),),
        (Send(3, 2, 2),),
        (Send(0, 0, 1),),
    )


def test_halving_doubling_needs_a_power_of_two() -> None:
    with pytest.raises(InputError, match="power of two"):
        stage_steps(Algorithm.HALVING_DOUBLING, Phase.ALL_GATHER, 6, 0)
