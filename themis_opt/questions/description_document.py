"""The JSON of an instance after all conversions (``themis-opt/description/1``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from themis_opt.files.remarks import Imported
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension
from themis_opt.timing import metrics
from themis_opt.timing.cost import CostModel


def description_text(instance: Instance, imports: Sequence[Imported] = ()) -> str:
    """Return the text of a description: every quantity in base units, and the first stage of each phase.

    Where the network is from somebody else's file, `imports` has what was read, and its remarks stand at the end.
    """
    network = instance.network
    sizes = instance.equal_chunk_sizes()
    document = {
        "format": "themis-opt/description/1",
        "network": network.name,
        "source": network.source,
        "note": network.note,
        "num_npus": instance.num_npus,
        "dimensions": [
            {**_dimension(dimension), "involved": k in instance.involved}
            for k, dimension in enumerate(network.dimensions)
        ],
        "collective": str(instance.collective),
        "size_bytes": instance.size_bytes,
        "num_chunks": instance.num_chunks,
        "chunk_bytes": [min(sizes), max(sizes)],
        "occupancy": str(instance.occupancy),
        "chunk_overhead_ps": instance.chunk_overhead_ps,
        "sent_bytes": _number(metrics.sent_bytes(instance)),
        "bandwidth_Bps": _number(metrics.total_bandwidth_Bps(instance)),
        "ideal_ps": metrics.ideal_ps(instance),
        "first_stages": _first_stages(instance),
    }
    if imports:
        document["remarks"] = [
            {"kind": str(remark.kind), "key": remark.key, "text": remark.text}
            for imported in imports
            for remark in imported.remarks
        ]
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _dimension(dimension: Dimension) -> dict[str, Any]:
    reduction = dimension.reduction_bandwidth_Bps
    return {
        "topology": str(dimension.topology),
        "size": dimension.size,
        "algorithm": str(dimension.algorithm),
        "num_steps": dimension.num_steps(),
        "bandwidth_Bps": _number(dimension.bandwidth_Bps),
        "links": dimension.links,
        "latency_ps": _number(dimension.latency_ps),
        "reduction_bandwidth_Bps": None if reduction is None else _number(reduction),
        "note": dimension.note,
    }


def _first_stages(instance: Instance) -> list[dict[str, Any]]:
    """Return the cost of a largest chunk's first stage in every phase, in the baseline's order."""
    model = CostModel(instance)
    size_bytes = instance.equal_chunk_sizes()[0]
    stages = []
    for phase in instance.phases:
        k = instance.baseline_order[phase][0]
        cost = model.stage(size_bytes, phase, (), k)
        stages.append(
            {
                "phase": str(phase),
                "dimension": k,
                "num_steps": 1 if phase is Phase.ALL_TO_ALL else instance.network.dimensions[k].num_steps(),
                "resident_bytes": _number(size_bytes * model.resident_fraction(phase, ())),
                "sent_bytes": _number(cost.sent_bytes),
                "latency_ps": cost.latency_ps,
                "transfer_ps": cost.transfer_ps,
                "overhead_ps": cost.overhead_ps,
                "duration_ps": cost.duration_ps,
                "hold_ps": model.hold_ps(cost),
            }
        )
    return stages


def _number(value: Fraction) -> int | float:
    """Return a whole number as it is, and any other as the nearest float."""
    return value.numerator if value.denominator == 1 else float(value)
