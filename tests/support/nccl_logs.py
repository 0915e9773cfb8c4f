"""Logs as nccl-tests prints them, of a group whose latency and bandwidth are known."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

SIZES = tuple(2**power for power in range(3, 34))
HEADER = "#       size         count      type   redop    root" + "     time   algbw   busbw #wrong" * 2


@dataclass(frozen=True)
class Group:
    """A group of NPUs: latency of a whole collective, bandwidth of one NPU, and the bytes sent per byte."""

    num_ranks: int = 8
    latency_us: float = 20.0
    bandwidth_GBps: float = 240.0
    program: str = "all_reduce"

    @property
    def bus_factor(self) -> float:
        share = (self.num_ranks - 1) / self.num_ranks
        return 2 * share if self.program == "all_reduce" else share

    def time_us(self, size_bytes: int) -> float:
        return self.latency_us + size_bytes * self.bus_factor / self.bandwidth_GBps / 1000


def log(
    group: Group,
    noise: float = 0.0,
    seed: int = 0,
    sizes: tuple[int, ...] = SIZES,
    *,
    ranks: bool = True,
    named: bool = False,
    in_place_factor: float = 1.0,
) -> str:
    """Return a log; every time is off by a normally distributed fraction, and in place takes a factor longer."""
    random = Random(seed)
    lines = [
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 graph: 0",
        "#",
    ]
    if named:
        lines.insert(0, f"# Collective test starting: {group.program}_perf")
    if ranks:
        lines.append("# Using devices")
        lines += [
            f"#  Rank {rank:2d} Group  0 Pid  29697 on      gpu01 device {rank:2d} [0x01] NVIDIA A100-SXM4-80GB"
            for rank in range(group.num_ranks)
        ]
    lines += ["#", HEADER]
    operator = "sum" if group.program in ("all_reduce", "reduce_scatter") else "none"
    for size in sizes:
        row = f"{size:12d} {max(size // 4, 1):12d} {'float':>9s} {operator:>7s} {-1:7d}"
        for factor in (1.0, in_place_factor):
            time = group.time_us(size) * factor * random.gauss(1, noise)
            algbw = size / time / 1000
            row += f" {time:8.2f} {algbw:7.2f} {algbw * group.bus_factor:7.2f} {0:6d}"
        lines.append(row)
    return "\n".join([*lines, "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 101.1 ", "#", ""])
