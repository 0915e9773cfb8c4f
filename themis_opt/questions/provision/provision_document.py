"""A split of a bandwidth budget as JSON (``themis-opt/provision/1``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from themis_opt.files.network_file import network_document
from themis_opt.problem.ratios import finite
from themis_opt.problem.units import exact_text
from themis_opt.problem.version import VERSION
from themis_opt.questions.provision.provision import Provisioned
from themis_opt.questions.provision.solved_split import SolvedSplit

FORMAT = "themis-opt/provision/1"


def provision_json(result: Provisioned, options: Mapping[str, Any]) -> str:
    """Return everything there is to tell of a split; `options` are what the user asked for."""
    budget = result.budget
    instance = budget.instance
    document = {
        "format": FORMAT,
        "themis_opt_version": VERSION,
        "options": dict(options),
        "network": instance.network.name,
        "collective": str(instance.collective),
        "size_bytes": instance.size_bytes,
        "occupancy": str(instance.occupancy),
        "chunk_overhead_ps": instance.chunk_overhead_ps,
        "dimensions": list(instance.involved),
        "budget_Bps": float(budget.total_Bps),
        "costs": {f"dim{k + 1}": float(cost) for k, cost in budget.costs.items()},
        "is_scaled_to_budget": result.is_scaled,
        "shipped": _split(result, result.shipped),
        "proposed": None if result.proposed is None else _split(result, result.proposed),
        "predicted_gain": finite(result.predicted_gain),
        "predicted_from": "both bounds" if result.is_shipped_bound_tight else "shipped makespan and proposed bound",
        "bounds_gain": finite(result.bounds_gain),
        "confirmed_gain": finite(result.confirmed_gain),
        "is_prediction_confirmed": result.is_prediction_confirmed,
        "is_worth_it": result.is_worth_it,
        "least_ps_of_any_split": result.least_ps,
        "most_gain_of_any_split": None if result.most_gain is None else finite(result.most_gain),
        "most_gain_over_answer": None if result.most_gain_over_answer is None else finite(result.most_gain_over_answer),
        "answer": network_document(result.network),
        "num_splits_solved": result.num_solved,
        "wall_s": round(result.wall_s, 6),
        "is_complete": result.interruption is None,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _split(result: Provisioned, solved: SolvedSplit) -> dict[str, Any]:
    schedule = solved.schedule
    assert schedule.bound is not None
    return {
        "bandwidths": [
            {
                "dimension": k,
                "bandwidth_Bps": float(bandwidth),
                "bandwidth": exact_text(bandwidth / 10**9, "GB/s"),
                "cost_Bps": float(bandwidth * result.budget.costs[k]),
            }
            for k, bandwidth in solved.bandwidths.items()
        ],
        "cost_Bps": float(result.budget.price_Bps(solved.bandwidths)),
        "makespan_ps": solved.makespan_ps,
        "num_chunks": schedule.num_chunks,
        "sizes": str(schedule.sizing),
        "bound_ps": schedule.bound.value_ps,
        "bound_kind": str(schedule.bound.kind),
        "gap": None if schedule.gap is None else finite(schedule.gap),
        "wall_s": round(solved.wall_s, 6),
        "note": solved.note,
    }
