"""ASTRA-sim 1's workload text: how the model is parallelised, and per layer what it computes and communicates."""

from __future__ import annotations

import re
from dataclasses import dataclass

from themis_opt.files.foreign_values import shown, word
from themis_opt.files.remarks import Remark, RemarkKind
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError

FORMAT_NAME = "an ASTRA-sim 1 workload"
PARALLELISMS = (
    "MICRO",
    "DATA",
    "MODEL",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_TRANSFORMER",
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
)
COLLECTIVES = {
    "NONE": None,
    "ALLREDUCE": Collective.ALL_REDUCE,
    "ALLGATHER": Collective.ALL_GATHER,
    "REDUCESCATTER": Collective.REDUCE_SCATTER,
    "ALLTOALL": Collective.ALL_TO_ALL,
}
_COLUMNS = 12
_NAME, _RESERVED, _FORWARD, _INPUT_GRADIENT, _WEIGHT_GRADIENT, _UPDATE = 0, 1, 2, 5, 8, 11
_WHOLE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Communication:
    """A collective of a layer.

    Attributes
    ----------
    collective
        Which one.
    stated_bytes
        As the file states it: of an All-Gather the shard each NPU starts with, of any other the whole array.
    """

    collective: Collective
    stated_bytes: int

    def size_bytes(self, num_npus: int) -> int:
        """Return the size as it is meant here among `num_npus` NPUs: of an All-Gather, the array gathered."""
        return self.stated_bytes * (num_npus if self.collective is Collective.ALL_GATHER else 1)


@dataclass(frozen=True, slots=True)
class Pass:
    """One part of a layer: a computation [ns], and the collective after it, if any."""

    compute_ns: int
    communication: Communication | None


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: its forward pass, the gradients of its input and of its weights, and the update of the weights [ns]."""

    name: str
    forward: Pass
    input_gradient: Pass
    weight_gradient: Pass
    update_ns: int

    @property
    def passes(self) -> tuple[Pass, Pass, Pass]:
        """The three parts in the order of the file."""
        return (self.forward, self.input_gradient, self.weight_gradient)


@dataclass(frozen=True, slots=True)
class Workload:
    """What a workload file holds.

    Attributes
    ----------
    parallelism
        The first word of the file, one of `PARALLELISMS`.
    parameters
        The other words of that line, whatever they are.
    layers
        In the order of the file.
    remarks
        On what has no effect here or is meant otherwise.
    """

    parallelism: str
    parameters: tuple[str, ...]
    layers: tuple[Layer, ...]
    remarks: tuple[Remark, ...]


def read_astra_workload(text: str) -> Workload:
    """Return the workload in the text of a file; tabs, spaces and line ends of any kind separate.

    Raises
    ------
    InputError
        Naming the line and the column that is wrong.
    """
    lines = [(place, line.split()) for place, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines:
        raise InputError(f"is empty; {FORMAT_NAME} begins with one of: {', '.join(PARALLELISMS)}")
    place, words = lines[0]
    parallelism = word(words[0], f"line {place}", PARALLELISMS)
    if len(lines) < 2:
        raise InputError(f"line {place}: is the only one; the number of layers must follow")
    place, count_words = lines[1]
    if len(count_words) != 1 or not _WHOLE.fullmatch(count_words[0]):
        raise InputError(f"line {place}: {shown(' '.join(count_words))} is not allowed; expected the number of layers")
    count = int(count_words[0])
    if count != len(lines) - 2 or not count:
        raise InputError(
            f"line {place}: says {count} layers, but {len(lines) - 2} lines follow; "
            "the count and the lines must agree, and there must be one"
        )
    remarks: list[Remark] = []
    layers = tuple(_layer(place, columns, remarks) for place, columns in lines[2:])
    if len(words) > 1:
        remarks.insert(
            0, Remark(RemarkKind.IGNORED, "line 1", f"{shown(' '.join(words[1:]))} is kept, and used by nobody")
        )
    if any(_is_all_gather(part) for layer in layers for part in layer.passes):
        text = (
            "ASTRA-sim states the shard an NPU starts with; the array gathered, which is the size here, is as many "
            "times larger as NPUs take part"
        )
        remarks.append(Remark(RemarkKind.CONVERTED, "ALLGATHER", text))
    return Workload(parallelism, tuple(words[1:]), layers, tuple(remarks))


def _layer(place: int, columns: list[str], remarks: list[Remark]) -> Layer:
    if len(columns) != _COLUMNS:
        raise InputError(
            f"line {place}: has {len(columns)} columns; a layer has {_COLUMNS}: its name, -1, three times "
            "a time in ns, a collective and its bytes, and the update's time in ns"
        )
    if columns[_RESERVED] != "-1":
        raise InputError(f"line {place}: column 2: {shown(columns[_RESERVED])} is not allowed; expected -1")
    forward, input_gradient, weight_gradient = (
        _pass(place, columns, start, remarks) for start in (_FORWARD, _INPUT_GRADIENT, _WEIGHT_GRADIENT)
    )
    update_ns = _whole(place, columns, _UPDATE, "nanoseconds")
    return Layer(columns[_NAME], forward, input_gradient, weight_gradient, update_ns)


def _pass(place: int, columns: list[str], start: int, remarks: list[Remark]) -> Pass:
    compute_ns = _whole(place, columns, start, "nanoseconds")
    name = word(columns[start + 1], f"line {place}: column {start + 2}", COLLECTIVES)
    size_bytes = _whole(place, columns, start + 2, "bytes")
    collective = COLLECTIVES[name]
    if collective is None:
        if size_bytes:
            text = f"{size_bytes} bytes of collective NONE, which is none at all"
            remarks.append(Remark(RemarkKind.IGNORED, f"line {place}, column {start + 3}", text))
        return Pass(compute_ns, None)
    if not size_bytes:
        raise InputError(
            f"line {place}: column {start + 3}: 0 bytes are not allowed for {name}; no collective is written NONE"
        )
    return Pass(compute_ns, Communication(collective, size_bytes))


def _whole(place: int, columns: list[str], column: int, unit: str) -> int:
    if not _WHOLE.fullmatch(columns[column]):
        raise InputError(
            f"line {place}: column {column + 1}: {shown(columns[column])} is not allowed; "
            f"expected a whole number of {unit}, at most 18 digits"
        )
    return int(columns[column])


def _is_all_gather(part: Pass) -> bool:
    return part.communication is not None and part.communication.collective is Collective.ALL_GATHER
