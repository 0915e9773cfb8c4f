"""Whether two instances are the same problem, and what tells them apart, in words for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from themis_opt.problem.instance import Instance
from themis_opt.problem.units import format_bandwidth, format_time

PHYSICAL_FIELDS = ("topology", "size", "bandwidth_Bps", "latency_ps", "algorithm", "reduction_bandwidth_Bps")
"""What makes two dimensions the same; links and notes are for the record."""


def same_problem(one: Instance, other: Instance) -> bool:
    """Return whether two instances differ in nothing but names, notes, the number of chunks and what is known."""

    def essence(instance: Instance) -> tuple[object, ...]:
        dimensions = [tuple(getattr(each, field) for field in PHYSICAL_FIELDS) for each in instance.network.dimensions]
        # `involved`, not `dimensions`: naming all dimensions and naming none is the same problem.
        rest = (instance.collective, instance.size_bytes, instance.occupancy, instance.involved)
        return (dimensions, *rest, instance.chunk_overhead_ps)

    return essence(one) == essence(other)


def first_difference(schedule_of: Instance, others: Sequence[Instance]) -> str:
    """Return the first difference between a schedule's instance and that of the others which is most like it.

    Names, notes and the number of chunks make none.

    Parameters
    ----------
    schedule_of
        The schedule's instance.
    others
        At least one, none of them the same problem.
    """
    nearest = min((list(_differences(schedule_of, other)) for other in others), key=len)
    what, found, expected = nearest[0]
    return f"{what}: the file has {found}, the instance {expected}"


def _differences(one: Instance, other: Instance) -> Iterator[tuple[str, str, str]]:
    """Yield what differs, and both values."""
    ours, theirs = one.network.dimensions, other.network.dimensions
    pairs: list[tuple[str, Any, Any, Callable[[Any], str]]] = [
        ("network dimensions", len(ours), len(theirs), str),
        *(
            (f"network dim{k + 1} {name}", getattr(mine, field), getattr(yours, field), shown)
            for k, (mine, yours) in enumerate(zip(ours, theirs, strict=False))
            for field in PHYSICAL_FIELDS
            for name, shown in [_NAMES_OF_FIELDS[field]]
        ),
        ("collective", one.collective, other.collective, str),
        ("size", one.size_bytes, other.size_bytes, _bytes),
        ("occupancy", one.occupancy, other.occupancy, str),
        ("dimensions that take part", one.involved, other.involved, _names),
        ("chunk overhead", one.chunk_overhead_ps, other.chunk_overhead_ps, format_time),
    ]
    for what, mine, yours, shown in pairs:
        if mine == yours:
            continue
        texts = shown(mine), shown(yours)
        # Figures for people are rounded; the exact ones always differ.
        yield (what, *texts) if texts[0] != texts[1] else (what, f"{mine}", f"{yours}")


def _bandwidth(bandwidth_Bps: Any) -> str:
    return "none" if bandwidth_Bps is None else format_bandwidth(bandwidth_Bps)


def _bytes(size_bytes: int) -> str:
    return f"{size_bytes} bytes"


def _names(dimensions: tuple[int, ...]) -> str:
    return "+".join(f"dim{k + 1}" for k in dimensions)


_NAMES_OF_FIELDS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "topology": ("topology", str),
    "size": ("size", str),
    "bandwidth_Bps": ("bandwidth", _bandwidth),
    "latency_ps": ("latency", format_time),
    "algorithm": ("algorithm", str),
    "reduction_bandwidth_Bps": ("reduction bandwidth", _bandwidth),
}
