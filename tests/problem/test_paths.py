"""A chunk's path: the stages it goes through, each with its kind and its dimension."""

import pytest

import themis_opt
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk
from themis_opt.timing.cost import visits

RS, AG, A2A = Phase.REDUCE_SCATTER, Phase.ALL_GATHER, Phase.ALL_TO_ALL


@pytest.mark.parametrize(
    ("collective", "chunk", "path"),
    [
        (Collective.ALL_REDUCE, Chunk(8, (1, 0), (0, 1)), [(RS, 1), (RS, 0), (AG, 0), (AG, 1)]),
        (Collective.REDUCE_SCATTER, Chunk(8, (1, 0)), [(RS, 1), (RS, 0)]),
        (Collective.ALL_GATHER, Chunk(8, None, (1, 0)), [(AG, 1), (AG, 0)]),
        (Collective.ALL_TO_ALL, Chunk(8), [(A2A, 0), (A2A, 1)]),
    ],
)
def test_a_chunk_and_its_path_say_the_same(collective, chunk, path):
    instance = Instance(themis_opt.load_network("2d-figure-5"), collective, size_bytes=64, num_chunks=8)
    assert list(chunk.path(instance)) == path
    assert Chunk.along(8, path) == chunk


def test_visited_dimensions_are_those_of_the_same_phase():
    path = [(RS, 2), (RS, 0), (AG, 0), (AG, 2)]
    seen = [set(visited) for _, visited, _ in visits(path)]
    assert seen == [set(), {2}, set(), {0}]
