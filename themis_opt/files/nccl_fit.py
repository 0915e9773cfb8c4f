"""Latency and bandwidth of a one-dimensional group from measured times of one collective on it.

The model is the cost model's for one dimension and one chunk: time = steps x latency + sent bytes / bandwidth. It is a
straight line in the size. The line with the least sum of squared *relative* residuals is fitted, so that a microsecond
of a small size counts as much as a millisecond of a large one; neither parameter may be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from themis_opt.files.astra2_network import algorithm_for
from themis_opt.files.nccl_tests import FORMAT_NAME, Measurement, NcclLog, bus_factor, check_bus_factor
from themis_opt.files.remarks import Imported, Remark, assumed, converted
from themis_opt.problem.checks import choose
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology
from themis_opt.problem.units import format_bandwidth, format_size, format_time

MIN_SIZES = 3
"""Through two points goes a line without residuals, which would say nothing of how well it fits."""
_DIGITS = 6
_ROUNDS = 30
Value = TypeVar("Value")
FloatArray = NDArray[np.float64]
_READING = "time fitted as latency + bytes / bandwidth"


@dataclass(frozen=True, slots=True)
class Residual:
    """How well the line fits one size.

    Attributes
    ----------
    size_bytes
        The size.
    measured_us, fitted_us
        The mean of its measured times, and the line's.
    relative
        The measured time less the fitted one, over the fitted one; of several times the one furthest off.
    """

    size_bytes: int
    measured_us: float
    fitted_us: float
    relative: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A network with one dimension, and how well it explains what was measured.

    Attributes
    ----------
    imported
        The network and its remarks.
    collective
        What was measured.
    latency_us
        Of the whole collective.
    num_steps
        Over how many steps that latency is spread.
    num_rows
        How many times were fitted.
    residuals
        Per size, ascending.
    """

    imported: Imported
    collective: Collective
    latency_us: float
    num_steps: int
    num_rows: int
    residuals: tuple[Residual, ...]

    @property
    def worst(self) -> Residual:
        """The size the line fits worst."""
        return max(self.residuals, key=lambda residual: abs(residual.relative))


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What the logs do not say of the group, or what to take of them.

    Parameters
    ----------
    collective, num_npus
        Where the logs do not say it.
    topology, algorithm
        Of the dimension; the algorithm decides over how many steps the latency is spread. ``None``: the topology's.
    in_place
        Whether the in-place columns are fitted.

    Raises
    ------
    InputError
        When a word is none of those allowed.
    """

    collective: Collective | None = None
    num_npus: int | None = None
    topology: Topology = Topology.SWITCH
    algorithm: Algorithm | None = None
    in_place: bool = False

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        if self.collective is not None:
            set_field(self, "collective", choose(Collective, self.collective, "collective"))
        set_field(self, "topology", choose(Topology, self.topology, "topology"))
        if self.algorithm is not None:
            set_field(self, "algorithm", choose(Algorithm, self.algorithm, "algorithm"))


def fit_network(logs: Sequence[NcclLog], options: FitOptions, name: str, source: str = "") -> Fit:
    """Return the one-dimensional network that explains some logs best, all taken together.

    Parameters
    ----------
    logs
        What was measured.
    options
        What they do not say.
    name, source
        What the network shall be called, and what it shall say of where it is from.

    Raises
    ------
    InputError
        When the logs do not say enough, disagree, or have too few sizes to tell latency and bandwidth apart.
    """
    collective = _agreed([log.collective for log in logs], options.collective, "collective", "--collective")
    num_npus = _agreed([log.num_ranks for log in logs], options.num_npus, "number of ranks", "--size")
    if num_npus < 2:
        raise InputError(f"--size: {num_npus} is not allowed; a group has at least 2 NPUs")
    rows = tuple(row for log in logs for row in (log.in_place if options.in_place else log.out_of_place))
    check_bus_factor(rows, collective, num_npus)
    num_sizes = len({row.size_bytes for row in rows})
    if num_sizes < MIN_SIZES:
        raise InputError(
            f"has {num_sizes} size{'' if num_sizes == 1 else 's'}; at least {MIN_SIZES} are needed to tell latency and "
            "bandwidth apart (such as -b 1K -e 1G -f 2)"
        )
    latency_us, us_per_byte = fit_line([(row.size_bytes, float(row.time_us)) for row in rows])
    if not us_per_byte:
        raise InputError("the times do not grow with the size, so there is no bandwidth in them; measure larger sizes")
    chosen, guesses = algorithm_for(options.topology, num_npus, options.algorithm)
    # One stage per phase; an All-to-All is one direct step.
    is_single = collective is Collective.ALL_TO_ALL
    num_steps = 1 if is_single else chosen.num_steps(num_npus) * len(collective.phases)
    # What is sent per byte of the array goes through the dimension, not the array: busbw, not algbw (nccl-tests,
    # doc/PERFORMANCE.md).
    bandwidth_Bps = _rounded(float(bus_factor(collective, num_npus)) / us_per_byte * 10**6)
    latency_ps = Fraction(round(latency_us * 10**6 / num_steps))
    dimension = Dimension(options.topology, num_npus, bandwidth_Bps, latency_ps, chosen)
    remarks = [remark for log in logs for remark in log.remarks]
    remarks += [assumed("size", text) for text in guesses]
    remarks += _conversions(latency_us, us_per_byte, num_steps, dimension, collective)
    remarks += _doubts(rows, latency_us, us_per_byte)
    network = Network(name, (dimension,), source, _READING)
    imported = Imported(network, FORMAT_NAME, _READING, tuple(remarks))
    return Fit(imported, collective, latency_us, num_steps, len(rows), _residuals(rows, latency_us, us_per_byte))


def fit_line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return intercept and slope, not negative, with the least sum of squared residuals relative to the line.

    Iteratively reweighted least squares: each round weighs a residual by the inverse square of the line of the round
    before. (Weights by what was *measured* would favour whatever came out too small.)
    """
    sizes, times = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    line = times
    intercept = slope = 0.0
    for _ in range(_ROUNDS):
        intercept, slope = _weighted_line(sizes, times, 1 / line**2)
        line = intercept + slope * sizes
    return intercept, slope


def _weighted_line(sizes: FloatArray, times: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return the line with the least weighted sum of squares; where a parameter would be negative, it is zero."""
    mean_size, mean_time = np.average(sizes, weights=weights), np.average(times, weights=weights)
    offsets = sizes - mean_size
    slope = float(weights @ (offsets * (times - mean_time)) / (weights @ offsets**2))
    if slope <= 0:
        return float(mean_time), 0.0
    intercept = float(mean_time - slope * mean_size)
    if intercept < 0:
        return 0.0, float(weights @ (sizes * times) / (weights @ sizes**2))
    return intercept, slope


def _residuals(rows: Sequence[Measurement], latency_us: float, us_per_byte: float) -> tuple[Residual, ...]:
    by_size: dict[int, list[float]] = {}
    for row in rows:
        by_size.setdefault(row.size_bytes, []).append(float(row.time_us))
    residuals = []
    for size_bytes, times in sorted(by_size.items()):
        fitted = latency_us + us_per_byte * size_bytes
        furthest = max(times, key=lambda time: abs(time - fitted))
        residuals.append(Residual(size_bytes, sum(times) / len(times), fitted, furthest / fitted - 1))
    return tuple(residuals)


def _conversions(
    latency_us: float, us_per_byte: float, num_steps: int, dimension: Dimension, collective: Collective
) -> list[Remark]:
    steps = f"{num_steps} step{'' if num_steps == 1 else 's'} of {dimension.algorithm}"
    factor = bus_factor(collective, dimension.size)
    algbw = format_bandwidth(10**6 / us_per_byte)
    bandwidth = format_bandwidth(dimension.bandwidth_Bps)
    whole, step = format_time(latency_us * 10**6), format_time(dimension.latency_ps)
    return [
        converted("latency", f"{whole} for the whole {collective} = {steps} x {step}"),
        converted("bandwidth", f"algbw {algbw} x {factor} sent per byte = {bandwidth} per NPU, one way"),
    ]


def _doubts(rows: Sequence[Measurement], latency_us: float, us_per_byte: float) -> list[Remark]:
    """Return what the sizes measured do not show well."""
    sizes = [row.size_bytes for row in rows]
    doubts = []
    if us_per_byte * max(sizes) < latency_us:
        text = f"even {format_size(max(sizes))} take mostly latency; measure larger sizes to trust the bandwidth"
        doubts.append(assumed("bandwidth", text))
    if latency_us < us_per_byte * min(sizes):
        text = f"even {format_size(min(sizes))} take mostly bandwidth; measure smaller sizes to trust the latency"
        doubts.append(assumed("latency", text))
    return doubts


def _agreed(said: Sequence[Value | None], given: Value | None, what: str, option: str) -> Value:
    """Return what all logs that say it say, or what was given where none does."""
    values = list(dict.fromkeys(value for value in said if value is not None))
    if given is not None and any(value != given for value in values):
        raise InputError(f"{option}: is {given}, but the log's {what} is {next(v for v in values if v != given)}")
    if len(values) > 1:
        raise InputError(f"the logs differ in their {what} ({', '.join(map(str, values))}); fit each group by itself")
    if values:
        return values[0]
    if given is None:
        raise InputError(f"the log does not say its {what}; give it with {option}")
    return given


def _rounded(value: float) -> Fraction:
    """Return a measured figure with as many digits as it can deserve."""
    return Fraction(round(value, _DIGITS - 1 - floor(log10(value))))
