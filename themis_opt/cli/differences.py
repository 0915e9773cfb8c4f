"""What tells the problem a schedule solves from another one, in words for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from themis_opt.problem.instance import Instance
from themis_opt.problem.units import format_bandwidth, format_time


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
            for name, field, shown in _DIMENSION_FIELDS
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


_DIMENSION_FIELDS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("topology", "topology", str),
    ("size", "size", str),
    ("bandwidth", "bandwidth_Bps", _bandwidth),
    ("latency", "latency_ps", format_time),
    ("algorithm", "algorithm", str),
    ("reduction bandwidth", "reduction_bandwidth_Bps", _bandwidth),
)
