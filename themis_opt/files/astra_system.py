"""ASTRA-sim's system files, version 1 (lines ``key: value``) and version 2 (JSON): what of them belongs to us.

That is the algorithm of each dimension and the number of chunks. Schedulers are named, not taken over; everything else
is said to have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from themis_opt.files.foreign_values import Entry, check_keys
from themis_opt.files.remarks import Remark, converted, ignored
from themis_opt.files.strict import show
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import MAX_CHUNKS
from themis_opt.problem.network import MAX_DIMENSIONS, Algorithm

COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all")
IMPLEMENTATIONS = tuple(f"{collective}-implementation" for collective in COLLECTIVES)
"""In the order in which the first there is counts."""

_ALGORITHMS = {"ring": Algorithm.RING, "direct": Algorithm.DIRECT, "halvingDoubling": Algorithm.HALVING_DOUBLING}
_FLAT = {"oneRing": "ring", "oneDirect": "direct", "oneHalvingDoubling": "halvingDoubling"}
"""One group of all NPUs, whatever the dimensions."""
_WINDOW = re.compile(r"(?:direct|oneDirect)[0-9]{1,9}")

_NOT_MODELLED = {
    "scheduling-policy": "which of several collectives goes first; one collective is scheduled here",
    "active-chunks-per-dimension": "exclusive occupancy is 1, and no other number is modelled",
    "collective-optimization": "the orders are the schedulers': localBWAware is baseline's",
    "endpoint-delay": "not modelled; add it to the latency of a step if it matters",
    "local-reduction-delay": "not modelled; see reduction_bandwidth in a network file",
    "model-shared-bus": "the memory's bus is not modelled",
    "L": "the memory's bus is not modelled",
    "o": "the memory's bus is not modelled",
    "g": "the memory's bus is not modelled",
    "G": "the memory's bus is not modelled",
}
_ONLY_1 = {
    "boost-mode": "how many NPUs are simulated; one schedule is for all here",
    "seprate-log": "where it logs",
    "packet-routing": "routing is not modelled",
    "injection-policy": "injection is not modelled",
}
_ONLY_2 = {
    "boost-mode": "nobody reads it in ASTRA-sim 2",
    "local-mem-bw": "the memory is not modelled",
    "local-mem-latency": "the memory is not modelled",
    "remote-mem-bw": "the memory is not modelled",
    "remote-mem-latency": "the memory is not modelled",
    "peak-perf": "computation is not modelled",
    "roofline-enabled": "computation is not modelled",
    "trace-enabled": "what it logs",
    "replay-only": "how it runs a trace",
    "track-local-mem": "what it logs",
    "local-mem-trace-filename": "where it logs",
    **{f"{key}-custom": "a collective of its own, for its executor only" for key in IMPLEMENTATIONS},
    **{f"{key}-chakra": "a collective of its own, for its executor only" for key in IMPLEMENTATIONS},
}
_SCHEDULING = ("intra-dimension-scheduling", "inter-dimension-scheduling")
_COMMON = ("preferred-dataset-splits", *IMPLEMENTATIONS, *_SCHEDULING, *_NOT_MODELLED)
KEYS = {1: (*_COMMON, *_ONLY_1), 2: (*_COMMON, *_ONLY_2)}

_QUEUES = {"FIFO": "fifo", "SCF": "scf", "smallestFirst": "scf"}
_OTHER_QUEUES = ("RG", "lessRemainingPhaseFirst")
_ORDERS = {
    "baseline": "baseline",
    "ascending": "baseline",
    "themis": "themis",
    "offlineGreedy": "themis",
    "offlineGreedyFlex": "themis-flex",
    "roundRobin": "round-robin",
}


@dataclass(frozen=True, slots=True)
class AstraSystem:
    """What a system file says that matters here.

    Attributes
    ----------
    version
        Of ASTRA-sim: 1 or 2.
    algorithms
        One word of ASTRA-sim's per dimension, or ``None`` when no collective has any.
    algorithms_key
        The key they stand at.
    num_chunks
        `preferred-dataset-splits`, or ``None``.
    remarks
        On everything else.
    """

    version: int
    algorithms: tuple[str, ...] | None
    algorithms_key: str
    num_chunks: int | None
    remarks: tuple[Remark, ...]

    def algorithms_on(self, sizes: tuple[int, ...]) -> tuple[Algorithm, ...] | None:
        """Return the algorithm of each dimension of a network with these sizes; none for one ring through all of them.

        Raises
        ------
        InputError
            When there are more or fewer than dimensions, or one that has no counterpart here.
        """
        if self.algorithms is None or _is_flat_ring(self.algorithms):
            return None
        if len(self.algorithms) != len(sizes):
            raise InputError(
                f"{self.algorithms_key}: names {len(self.algorithms)} algorithms, but the network has {len(sizes)} "
                "dimensions; name one per dimension"
            )
        pairs = zip(self.algorithms, sizes, strict=True)
        return tuple(
            _algorithm(name, size, f"{self.algorithms_key}[{k}]", len(sizes)) for k, (name, size) in enumerate(pairs)
        )


def read_system_lines(text: str) -> dict[str, Any]:
    """Return the keys and values of a version 1 system file.

    Raises
    ------
    InputError
        When a line is no ``key: value`` or a key stands twice.
    """
    data: dict[str, Any] = {}
    for place, line in enumerate(text.splitlines(), start=1):
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not line.strip():
            continue
        if not colon or not key or not value:
            raise InputError(f"line {place}: {show(line.strip())} is not allowed; expected a key, a colon and a value")
        if key in data:
            raise InputError(f"line {place}: {show(key)} stands twice; remove one")
        data[key] = int(value) if re.fullmatch(r"[0-9]{1,12}", value) else value
    return data


def read_system(data: Mapping[str, Any], version: int) -> AstraSystem:
    """Return what matters of a system file's plain data.

    Raises
    ------
    InputError
        Naming the key whose value is wrong.
    """
    check_keys(data, KEYS[version], (), f"an ASTRA-sim {version} system file")
    lists = {key: _names(data[key], key, version) for key in IMPLEMENTATIONS if key in data}
    # All-to-all's algorithms are no others': ours is always direct.
    counting = next((key for key in IMPLEMENTATIONS[:-1] if key in lists), "")
    num_chunks: int | None = None
    remarks: list[Remark] = []
    if "preferred-dataset-splits" in data:
        key = "preferred-dataset-splits"
        num_chunks = Entry(data[key], key).whole("chunks", 1, MAX_CHUNKS)
        splits, chunks = ("split", "chunk") if num_chunks == 1 else ("splits", "chunks")
        text = f"{num_chunks} {splits} = {num_chunks} {chunks}, an instance's: --chunks {num_chunks}"
        remarks.append(converted(key, text))
    remarks += [_implementation(key, names, counting, lists.get(counting)) for key, names in lists.items()]
    remarks += _scheduling(data, version)
    reasons = {**_NOT_MODELLED, **(_ONLY_1 if version == 1 else _ONLY_2)}
    remarks += [ignored(key, f"{show(data[key])}: {reasons[key]}") for key in data if key in reasons]
    return AstraSystem(version, lists.get(counting), counting, num_chunks, tuple(remarks))


def _names(value: object, key: str, version: int) -> tuple[str, ...]:
    """Return the words for the algorithms of the dimensions: joined by ``_`` in version 1, a list in version 2."""
    if version == 1:
        if not isinstance(value, str):
            raise InputError(f"{key}: {show(value)} is not allowed; expected words joined by _, such as ring_direct")
        names: list[Any] = value.split("_")
    elif isinstance(value, list):
        names = value
    else:
        raise InputError(f'{key}: {show(value)} is not allowed; expected a list of words, such as ["ring", "direct"]')
    if not 1 <= len(names) <= MAX_DIMENSIONS:
        raise InputError(f"{key}: has {len(names)} values; a network has 1 to {MAX_DIMENSIONS} dimensions")
    known = (*_ALGORITHMS, *_FLAT, "doubleBinaryTree")
    for k, name in enumerate(names):
        if not (isinstance(name, str) and _WINDOW.fullmatch(name)):
            Entry(name, f"{key}[{k}]").word(known)
    return tuple(names)


def _algorithm(name: str, size: int, path: str, num_dimensions: int) -> Algorithm:
    """Return our algorithm of this name among `size` NPUs."""
    if name == "doubleBinaryTree":
        raise InputError(
            f"{path}: 'doubleBinaryTree' is no dimension's algorithm here; write ring, direct or halvingDoubling "
            "(the scheduler double-binary-tree predicts one tree through all NPUs)"
        )
    base = name.rstrip("0123456789")
    if base in _FLAT and num_dimensions > 1:
        raise InputError(
            f"{path}: {name!r} joins all NPUs of all dimensions in one group, and a chunk visits every dimension here; "
            f"write {_FLAT[base]!r}"
        )
    window = name[len(base) :]
    if window and not 1 <= size - 1 <= int(window):
        raise InputError(
            f"{path}: {name!r} sends {window} messages at a time, and {size} NPUs have {size - 1} to send; "
            f"only all at once is modelled: write {base!r}"
        )
    algorithm = _ALGORITHMS[_FLAT.get(base, base)]
    if algorithm is Algorithm.HALVING_DOUBLING and size & (size - 1):
        raise InputError(
            f"{path}: {name!r} needs a power of two, and this dimension has {size} NPUs (ASTRA-sim ends without "
            "completing it); write ring or direct"
        )
    return algorithm


def _is_flat_ring(names: tuple[str, ...]) -> bool:
    """Return whether there is one ring through the NPUs of several dimensions: a scheduler's matter, no dimension's."""
    return len(names) > 1 and set(names) == {"oneRing"}


def _implementation(key: str, names: tuple[str, ...], counting: str, wanted: tuple[str, ...] | None) -> Remark:
    text = ", ".join(names)
    if key == counting and _is_flat_ring(names):
        return converted(
            key,
            f"{text}: one ring through all NPUs is scheduler flat-ring; the others use each topology's own algorithm",
        )
    if key == counting:
        words = ", ".join(str(_ALGORITHMS.get(_FLAT.get(name, name), name)) for name in names)
        return converted(key, f"{text}: algorithms {words}, for every collective")
    if key == "all-to-all-implementation":
        return ignored(key, f"{text}: all-to-all always runs direct here")
    if names == wanted:
        return ignored(key, f"{text}: the same as {counting}, which counts")
    return ignored(key, f"{text}: differs from {counting}, which counts for every collective")


def _scheduling(data: Mapping[str, Any], version: int) -> list[Remark]:
    """Return what the two keys on scheduling mean: in version 1 a scheduler of ours, in version 2 nothing."""
    present = [key for key in _SCHEDULING if key in data]
    if version == 2:
        return [ignored(key, f"{show(data[key])}: nobody reads it in ASTRA-sim 2") for key in present]
    if not present:
        return []
    intra, inter = _SCHEDULING
    queue = Entry(data.get(intra, "FIFO"), intra).word((*_QUEUES, *_OTHER_QUEUES))
    order = _ORDERS[Entry(data.get(inter, "baseline"), inter).word(_ORDERS)]
    return [ignored(", ".join(present), _scheduler_text(order, queue))]


def _scheduler_text(order: str, queue: str) -> str:
    """Return which scheduler of ours does what these words ask for."""
    policy = _QUEUES.get(queue)
    use = {
        ("themis", policy): f"themis-{policy} (or themis-astra-{policy}, which follows ASTRA-sim's code)",
        ("themis-flex", policy): f"themis-flex-{policy}",
        ("baseline", "fifo"): "baseline (or baseline-astra, which follows ASTRA-sim's code)",
        ("round-robin", "fifo"): "round-robin",
    }.get((order, policy))
    if use is None or policy is None:
        return f"belongs to no network; no scheduler here serves {order} orders by {queue}"
    return f"belongs to no network; use scheduler {use}"
