r"""The compiled core of the proof for few chunks: depth first over starts, each node a small game (`few_chunks`).

A node is a sequence of stages that start one after another. For chunk sizes :math:`x` (parts of the whole, so that
:math:`Σ_c x_c = 1`) every stage starts as early as it can, and :math:`f(x)`, the largest of some lower bounds on the
makespan, is convex: a maximum of affine functions, each written as its values at the corners of the simplex. The least
value of :math:`f` is found by cuts: a linear program over the cuts known gives sizes, timing these gives another cut.
Its dual is kept, with a basis of as many columns as there are chunks and one more: weights of cuts, which prove a bound
whatever rounding did to them,

.. math::

    f(x) ≥ Σ_i μ_i\,g_i(x) ≥ \min_c Σ_i μ_i\,g_{i,c}, \qquad μ ≥ 0, \quad Σ_i μ_i = 1                              (I4)

and the cuts of a node hold for all that it leads to. Times are in thousandths of a bound known before, above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from themis_models.search.costing import FloatArray, IntArray
from themis_opt.timing.compiled import compiled, inlined

MAX_PIVOTS = 80
"""Steps of the program at a node; one that takes more is taken for open, which proves less but nothing false."""

VALUE_COLUMN = -1000
"""Marks the program's value in a basis; a column of a corner's slack is marked ``-1 - chunk``, a cut by its number."""

TINY = 1e-11
"""A pivot element no larger than this counts as zero."""

TOLERANCE = 1e-9
"""By so much (a part in 10^12 of the makespan) may a cut be violated."""

STEP = 1e-6
"""After a complete schedule only ones shorter by this are looked for."""

ALL_EXPLORED, OUT_OF_NODES = 0, 1


class Terms(NamedTuple):
    """What stages cost and what is left to do, by phase and set of dimensions visited in it (bits).

    Attributes
    ----------
    rate, fixed
        (phases, sets, dimensions) Time of a stage: for the whole size, and whatever the size.
    path_rate, path_fixed
        (phases + 1, sets) The shortest way from there to the end; one phase more than there are is the end.
    load_rate, load_fixed
        (phases + 1, sets, dimensions) The least that is left to do on each dimension.
    mean_rate, mean_fixed
        (phases + 1, sets) The least that is left to do in the mean of the dimensions by `weights`.
    weights
        (dimensions) Non-negative, adding up to 1.
    base
        The bound above which times are told.
    """

    rate: FloatArray
    fixed: FloatArray
    path_rate: FloatArray
    path_fixed: FloatArray
    load_rate: FloatArray
    load_fixed: FloatArray
    mean_rate: FloatArray
    mean_fixed: FloatArray
    weights: FloatArray
    base: float


class Node(NamedTuple):
    """A sequence of starts, and where it leaves the chunks.

    Attributes
    ----------
    stages
        (starts, 4) Chunk, phase, dimensions visited in it (bits) and dimension of each start.
    phase, visited
        (chunks) The phase that each chunk is in, and the dimensions visited in it.
    times
        Scratch of `_evaluate`.
    """

    stages: IntArray
    phase: IntArray
    visited: IntArray
    times: FloatArray


class Program(NamedTuple):
    """The linear program over the cuts, at every depth of the search.

    Attributes
    ----------
    basis, inverse
        (depths, chunks + 1), (depths, chunks + 1, chunks + 1) The basis, and the inverse of its matrix.
    cuts
        (cuts, chunks) The values of each cut at the corners.
    num_cuts
        (depths) How many hold there.
    sizes
        (chunks) The sizes at the vertex looked at.
    column
        (chunks + 1) Scratch of `_enter`.
    """

    basis: IntArray
    inverse: FloatArray
    cuts: FloatArray
    num_cuts: IntArray
    sizes: FloatArray
    column: FloatArray


@compiled
def _evaluate(
    terms: Terms, stages: IntArray, num_started: int, phase: IntArray, visited: IntArray, times: FloatArray,
    cut: FloatArray,
) -> float:  # fmt: skip
    """Time the stages started; return the best lower bound on the makespan and fill its cut.

    A row of `times` is one time: at each corner, then for the sizes looked at, with which stages wait for each other.
    There is one row for when each chunk is ready, one for when each dimension is free, one for the latest start, one
    for the sizes looked at (parts of the whole), and one as scratch.
    """
    num_dims = terms.weights.shape[0]
    num_phases = terms.rate.shape[0]
    num_chunks = times.shape[1] - 1
    now, size, bound = num_chunks + num_dims, num_chunks + num_dims + 1, num_chunks + num_dims + 2
    for row in range(size):
        for j in range(num_chunks + 1):
            times[row, j] = 0.0
    for i in range(num_started):
        c, p, seen, k = stages[i, 0], stages[i, 1], stages[i, 2], stages[i, 3]
        free = num_chunks + k
        latest = c if times[c, num_chunks] >= times[free, num_chunks] else free
        if times[now, num_chunks] >= times[latest, num_chunks]:
            latest = now
        fixed, rate = terms.fixed[p, seen, k], terms.rate[p, seen, k]
        for j in range(num_chunks + 1):
            start = times[latest, j]
            times[now, j] = start
            times[c, j] = start + fixed
        times[c, c] += rate
        times[c, num_chunks] += rate * times[size, c]
        for j in range(num_chunks + 1):
            times[free, j] = times[c, j]
    for k in range(num_dims):
        if times[now, num_chunks] > times[num_chunks + k, num_chunks]:
            _copy(times, now, num_chunks + k)

    # The weighted mean of the dimensions (I1).
    fixed = -terms.base
    for c in range(num_chunks):
        fixed += terms.mean_fixed[phase[c], visited[c]]
    for j in range(num_chunks + 1):
        times[bound, j] = fixed
        for k in range(num_dims):
            times[bound, j] += terms.weights[k] * times[num_chunks + k, j]
    for c in range(num_chunks):
        rate = terms.mean_rate[phase[c], visited[c]]
        times[bound, c] += rate
        times[bound, num_chunks] += rate * times[size, c]
    # Each chunk's shortest way to the end (I2).
    for c in range(num_chunks):
        if phase[c] < num_phases and times[now, num_chunks] > times[c, num_chunks]:
            _copy(times, now, c)
        fixed = terms.path_fixed[phase[c], visited[c]] - terms.base
        rate = terms.path_rate[phase[c], visited[c]]
        if times[c, num_chunks] + fixed + rate * times[size, c] > times[bound, num_chunks]:
            for j in range(num_chunks + 1):
                times[bound, j] = times[c, j] + fixed
            times[bound, c] += rate
            times[bound, num_chunks] += rate * times[size, c]
    # What is left to do on each dimension (I3).
    for k in range(num_dims):
        fixed, value = -terms.base, 0.0
        for c in range(num_chunks):
            fixed += terms.load_fixed[phase[c], visited[c], k]
            value += terms.load_rate[phase[c], visited[c], k] * times[size, c]
        if times[num_chunks + k, num_chunks] + fixed + value > times[bound, num_chunks]:
            for j in range(num_chunks + 1):
                times[bound, j] = times[num_chunks + k, j] + fixed
            for c in range(num_chunks):
                times[bound, c] += terms.load_rate[phase[c], visited[c], k]
            times[bound, num_chunks] += value
    for j in range(num_chunks):
        cut[j] = times[bound, j]
    return float(times[bound, num_chunks])


@compiled
def _copy(times: FloatArray, source: int, target: int) -> None:
    for j in range(times.shape[1]):
        times[target, j] = times[source, j]


@compiled
def _proven(basis: IntArray, inverse: FloatArray, cuts: FloatArray) -> float:
    """Return what the weights of the cuts in a basis prove (I4)."""
    num_chunks = cuts.shape[1]
    total = 0.0
    for r in range(num_chunks + 1):
        if basis[r] >= 0:
            total += max(inverse[r, num_chunks], 0.0)
    if total <= 0.0:
        return -1e300
    least = 1e300
    for c in range(num_chunks):
        value = 0.0
        for r in range(num_chunks + 1):
            if basis[r] >= 0:
                value += max(inverse[r, num_chunks], 0.0) * cuts[basis[r], c]
        least = min(least, value / total)
    return least


@compiled
def _enter(entering: int, basis: IntArray, inverse: FloatArray, cuts: FloatArray, column: FloatArray) -> bool:
    """Bring a column into the basis, the one it drives to zero first out; return whether there is one."""
    num_chunks = cuts.shape[1]
    leaving = -1
    least = 1e300
    for r in range(num_chunks + 1):
        if entering >= 0:
            column[r] = inverse[r, num_chunks]
            for c in range(num_chunks):
                column[r] += inverse[r, c] * cuts[entering, c]
        else:
            column[r] = -inverse[r, -1 - entering]
        if basis[r] != VALUE_COLUMN and column[r] > TINY:
            ratio = inverse[r, num_chunks] / column[r]
            if ratio < least - 1e-13 or (ratio < least + 1e-13 and column[r] > column[leaving]):
                least = ratio
                leaving = r
    if leaving < 0:
        return False
    for c in range(num_chunks + 1):
        inverse[leaving, c] /= column[leaving]
    for r in range(num_chunks + 1):
        if r != leaving:
            for c in range(num_chunks + 1):
                inverse[r, c] -= column[r] * inverse[leaving, c]
    basis[leaving] = entering
    return True


@compiled
def _begin(base: float, num_chunks: int, num_stages: int, depth: int) -> Program:
    """Return the program as it begins: with the first cut, the value, and the slacks of all corners but the first."""
    program = Program(
        np.zeros((num_stages + 1, num_chunks + 1), np.int64),
        np.zeros((num_stages + 1, num_chunks + 1, num_chunks + 1)),
        np.zeros((2 + num_stages * MAX_PIVOTS, num_chunks)),
        np.ones(num_stages + 1, np.int64),
        np.zeros(num_chunks),
        np.zeros(num_chunks + 1),
    )
    # No makespan is below zero, and times are told above the bound known before.
    program.cuts[0] = -base
    basis, inverse = program.basis[depth], program.inverse[depth]
    inverse[0, num_chunks] = 1.0
    basis[0] = 0
    inverse[1, 0] = -1.0
    basis[1] = VALUE_COLUMN
    for c in range(1, num_chunks):
        inverse[c + 1, 0] = 1.0
        inverse[c + 1, c] = -1.0
        basis[c + 1] = -1 - c
    return program


@inlined
def _may_be_less(terms: Terms, node: Node, depth: int, program: Program, limit: float, minimise: bool) -> bool:
    """Return whether a node may lead to makespans below `limit`; with `minimise` go on to its least value.

    The program at this depth comes from the node before and is changed.
    """
    stages, phase, visited, times = node
    cuts, num_cuts, x, column = program.cuts, program.num_cuts, program.sizes, program.column
    basis, inverse = program.basis[depth], program.inverse[depth]
    num_chunks = x.shape[0]
    for _ in range(MAX_PIVOTS):
        place = 0
        for r in range(num_chunks + 1):
            if basis[r] == VALUE_COLUMN:
                place = r
        value = inverse[place, num_chunks]
        if value >= limit and _proven(basis, inverse, cuts) >= limit - TOLERANCE:
            return False
        entering = VALUE_COLUMN
        worst = 1e-10
        for c in range(num_chunks):
            x[c] = -inverse[place, c]
            if -x[c] > worst:
                worst = -x[c]
                entering = -1 - c
        if entering == VALUE_COLUMN:
            worst = TOLERANCE
            for i in range(num_cuts[depth]):
                violation = -value
                for c in range(num_chunks):
                    violation += cuts[i, c] * x[c]
                if violation > worst:
                    worst = violation
                    entering = i
        if entering == VALUE_COLUMN:
            entering = num_cuts[depth]
            for c in range(num_chunks):
                times[len(times) - 2, c] = x[c]
            found = _evaluate(terms, stages, depth, phase, visited, times, cuts[entering])
            if found <= value + TOLERANCE or (found < limit and not minimise):
                return True
            num_cuts[depth] += 1
        if not _enter(entering, basis, inverse, cuts, column):
            return True
    return True


@inlined
def _start(node: Node, depth: int, chunk: int, dimension: int, num_sets: int) -> None:
    """Start the next stage of a chunk, on this dimension."""
    stages, phase, visited, _ = node
    stages[depth, 0], stages[depth, 1], stages[depth, 2] = chunk, phase[chunk], visited[chunk]
    stages[depth, 3] = dimension
    visited[chunk] |= 1 << dimension
    if visited[chunk] == num_sets - 1:
        phase[chunk] += 1
        visited[chunk] = 0


@inlined
def _hand_down(program: Program, depth: int) -> None:
    """Let the program at a depth begin as that of the node before: its cuts hold for all that it leads to."""
    program.basis[depth] = program.basis[depth - 1]
    program.inverse[depth] = program.inverse[depth - 1]
    program.num_cuts[depth] = program.num_cuts[depth - 1]


@compiled
def explore(
    terms: Terms, prefix: IntArray, max_depth: int, limit: float, max_nodes: int, opened: IntArray, best_x: FloatArray
) -> tuple[float, int, int, int]:
    """Explore all sequences of starts that begin with `prefix`.

    Parameters
    ----------
    terms
        What stages cost.
    prefix
        (starts, 2) Chunk and dimension of each start.
    max_depth
        Sequences of this length are not continued.
    limit
        Schedules with less are looked for.
    max_nodes
        After so many nodes it ends in any case.
    opened
        (at least 1, `max_depth`, 2) Takes sequences of full length that may lead to less, the last ones when they are
        too many. When these are complete schedules only the best is taken, which lowers the limit.
    best_x
        (chunks) Takes the sizes of that schedule.

    Returns
    -------
    tuple
        The limit: no schedule that begins so and was explored takes less (but for those opened, if incomplete);
        how many were opened; the nodes; whether it is `ALL_EXPLORED` or `OUT_OF_NODES`.
    """
    num_chunks = best_x.shape[0]
    num_phases, num_sets, num_dims = terms.rate.shape
    num_stages = num_chunks * num_phases * num_dims
    node = Node(
        np.zeros((num_stages + 1, 4), np.int64),
        np.zeros(num_chunks, np.int64),
        np.zeros(num_chunks, np.int64),
        np.zeros((num_chunks + num_dims + 3, num_chunks + 1)),
    )
    stages, phase, visited, _ = node
    tried = np.zeros(num_stages + 1, np.int64)
    program = _begin(terms.base, num_chunks, num_stages, len(prefix))
    num_opened = num_nodes = depth = 0
    while True:
        if depth < len(prefix):
            c, k = prefix[depth, 0], prefix[depth, 1]
        else:
            choice = tried[depth]
            if choice == num_chunks * num_dims or depth == max_depth:
                if depth == len(prefix):
                    return limit, num_opened, num_nodes, ALL_EXPLORED
                depth -= 1
                c = stages[depth, 0]
                phase[c], visited[c] = stages[depth, 1], stages[depth, 2]
                continue
            tried[depth] += 1
            c, k = choice // num_dims, choice % num_dims
            if not _may_start(stages, depth, phase, visited, c, k, num_phases):
                continue
        _start(node, depth, c, k, num_sets)
        depth += 1
        if depth <= len(prefix):
            continue
        num_nodes += 1
        if num_nodes > max_nodes:
            return limit, num_opened, num_nodes, OUT_OF_NODES
        _hand_down(program, depth)
        tried[depth] = 0
        is_whole = depth == num_stages
        if not _may_be_less(terms, node, depth, program, limit, is_whole):
            tried[depth] = num_chunks * num_dims
        elif depth == max_depth:
            if is_whole:
                limit = min(limit, _proven(program.basis[depth], program.inverse[depth], program.cuts) - STEP)
                best_x[:] = program.sizes
                num_opened = 0
            if num_opened < len(opened):
                for i in range(depth):
                    opened[num_opened, i, 0], opened[num_opened, i, 1] = stages[i, 0], stages[i, 3]
            num_opened += 1


@compiled
def _may_start(
    stages: IntArray, depth: int, phase: IntArray, visited: IntArray, chunk: int, dimension: int, num_phases: int
) -> bool:
    """Return whether a chunk has a stage to start on a dimension, and no sequence with other names does the same.

    Chunks are numbered as they start. One that nothing keeps from starting at time 0, as no other was on its dimension,
    does so before all other starts, lower dimensions first.
    """
    if phase[chunk] == num_phases or visited[chunk] >> dimension & 1:
        return False
    if phase[chunk] > 0 or visited[chunk] > 0:
        return True
    if chunk > 0 and phase[chunk - 1] == 0 and visited[chunk - 1] == 0:
        return False
    is_ordered = True
    for i in range(depth):
        if stages[i, 3] == dimension:
            return True
        is_ordered &= stages[i, 0] == i and stages[i, 3] < dimension
    return is_ordered
