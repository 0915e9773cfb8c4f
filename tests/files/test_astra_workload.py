"""ASTRA-sim 1's workload text becomes typed layers; All-Gather sizes are converted from shards."""

from __future__ import annotations

import pytest

from themis_opt.files.astra_workload import Communication, Layer, Pass, read_astra_workload
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError

# Tabs, spaces and both line ends, as in the files people have.
TEXT = (
    "HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 128 checkpoints: 1 0\r\n"
    "2\r\n"
    "attention\t\t-1\t2343750\tALLREDUCE\t805306368   1000 ALLGATHER 6291456\t 2000 NONE 0 10\n"
    "\n"
    "mlp  -1 7 NONE 0 8 ALLTOALL 4096 9 REDUCESCATTER 1024 11\r\n"
)


def test_layers_are_read_column_by_column() -> None:
    workload = read_astra_workload(TEXT)
    assert workload.parallelism == "HYBRID_TRANSFORMER"
    assert workload.parameters == ("model_parallel_NPU_group:", "128", "checkpoints:", "1", "0")
    assert workload.layers == (
        Layer(
            "attention",
            Pass(2343750, Communication(Collective.ALL_REDUCE, 805306368)),
            Pass(1000, Communication(Collective.ALL_GATHER, 6291456)),
            Pass(2000, None),
            10,
        ),
        Layer(
            "mlp",
            Pass(7, None),
            Pass(8, Communication(Collective.ALL_TO_ALL, 4096)),
            Pass(9, Communication(Collective.REDUCE_SCATTER, 1024)),
            11,
        ),
    )


def test_all_gather_is_told_as_what_is_gathered() -> None:
    """128 NPUs that start with 6 MiB each end with 768 MiB; the sizes of all others are whole arrays already."""
    sizes = {
        part.communication.collective: part.communication.size_bytes(128)
        for layer in read_astra_workload(TEXT).layers
        for part in layer.passes
        if part.communication is not None
    }
    assert sizes == {
        Collective.ALL_REDUCE: 805306368,
        Collective.ALL_GATHER: 128 * 6291456,
        Collective.ALL_TO_ALL: 4096,
        Collective.REDUCE_SCATTER: 1024,
    }


def test_what_is_not_used_or_meant_otherwise_is_said() -> None:
    said = [str(remark) for remark in read_astra_workload(TEXT.replace("NONE 0 10", "NONE 5 10")).remarks]
    assert said == [
        "ignored: line 1: 'model_parallel_NPU_group: 128 checkpoints: 1 0' is kept, and used by nobody",
        "ignored: line 3, column 11: 5 bytes of collective NONE, which is none at all",
        "converted: ALLGATHER: ASTRA-sim states the shard an NPU starts with; the array gathered, which is the size "
        "here, is as many times larger as NPUs take part",
    ]
    assert read_astra_workload("MICRO\n1\nconv1 -1 5 NONE 0 5 NONE 0 5  ALLREDUCE 1048576 5\n").remarks == ()


GOOD = "conv -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 1048576 5"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty; an ASTRA-sim 1 workload begins with one of: MICRO, DATA, MODEL, "),
        ("MICRO\n", "line 1: is the only one; the number of layers must follow"),
        (f"micro\n1\n{GOOD}", "line 1: 'micro' is not allowed; one of: MICRO, DATA, "),
        (f"MICRO\none\n{GOOD}", "line 2: 'one' is not allowed; expected the number of layers"),
        (
            f"MICRO\n2\n{GOOD}",
            "line 2: says 2 layers, but 1 lines follow; the count and the lines must agree, and there must be one",
        ),
        ("MICRO\n0\n", "line 2: says 0 layers, but 0 lines follow; "),
        (
            "MICRO\n1\nconv -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 1048576",
            "line 3: has 11 columns; a layer has 12: its name, -1, three times a time in ns, a collective and its "
            "bytes, and the update's time in ns",
        ),
        (f"MICRO\n1\n{GOOD.replace('-1', '0')}", "line 3: column 2: '0' is not allowed; expected -1"),
        (
            f"MICRO\n1\n{GOOD.replace('-1 5', '-1 5.5')}",
            "line 3: column 3: '5.5' is not allowed; expected a whole number of nanoseconds, at most 18 digits",
        ),
        (
            f"MICRO\n1\n{GOOD.replace('ALLREDUCE', 'ALLREDUCES')}",
            "line 3: column 10: 'ALLREDUCES' is not allowed; one of: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, "
            "ALLTOALL (did you mean 'ALLREDUCE'?)",
        ),
        (
            f"MICRO\n1\n{GOOD.replace('1048576', '-1')}",
            "line 3: column 11: '-1' is not allowed; expected a whole number of bytes, at most 18 digits",
        ),
        (
            f"MICRO\n1\n{GOOD.replace('1048576', '0')}",
            "line 3: column 11: 0 bytes are not allowed for ALLREDUCE; no collective is written NONE",
        ),
    ],
)
def test_wrong_workloads(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read_astra_workload(text)
    assert str(caught.value).startswith(expected)
