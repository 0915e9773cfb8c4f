"""Explanations as plain data for JSON: dimensions are indices, times picoseconds, exact numbers fractions in text."""

from __future__ import annotations

from typing import Any

from themis_opt.questions.explain.account import InstanceAccount, ScheduleAccount
from themis_opt.questions.explain.idle import Wait


def schedule_account_document(account: ScheduleAccount) -> dict[str, Any]:
    """Return why a schedule takes as long as it does."""
    return {
        "makespan_ps": account.makespan_ps,
        "critical_path": [
            {
                "dimension": leg.dimension,
                "start_ps": leg.start_ps,
                "end_ps": leg.end_ps,
                "stages": [[visit.chunk, str(visit.phase), visit.start_ps, visit.end_ps] for visit in leg.visits],
            }
            for leg in account.legs
        ],
        "idle": [
            {
                "dimension": idle.dimension,
                "total_ps": idle.total_ps,
                "start_up": None if idle.start_up is None else _wait(idle.start_up),
                "between": [_wait(wait) for wait in idle.between],
                "drained_ps": idle.drained_ps,
            }
            for idle in account.idle
        ],
        "one_percent_more_bandwidth_gains_ps": _by_dimension(account.gains_ps),
        "one_percent_more_everywhere_gains_ps": account.gain_everywhere_ps,
        "best_dimensions": list(account.best_dimensions),
        "critical_ps_by_chunk": {str(chunk): taken_ps for chunk, taken_ps in sorted(account.chunk_ps.items())},
        "bound_ps": account.bound.value_ps,
        "bound_kind": str(account.bound.kind),
        "certified_bound_ps": account.certified_ps,
        "binding_dimensions": {str(k): str(weight) for k, weight in account.binding.items()},
    }


def instance_account_document(account: InstanceAccount) -> dict[str, Any]:
    """Return where an instance's network has too much or too little bandwidth."""
    return {
        "dimensions": [
            {
                "dimension": provision.dimension,
                "baseline_bytes": str(provision.sent_bytes),
                "baseline_transfer_ps": str(provision.transfer_ps),
                "bandwidth_Bps": str(provision.bandwidth_Bps),
                "needed_Bps": str(provision.needed_Bps),
                "ratio": float(provision.ratio),
                "supply": str(provision.supply),
                "value_of_1_GBps_ps": account.values_ps[provision.dimension],
            }
            for provision in account.provisions
        ],
        "fluid_bound_ps": account.fluid.value_ps,
        "best_dimensions": list(account.best_dimensions),
    }


def _wait(wait: Wait) -> dict[str, int]:
    return {"start_ps": wait.start_ps, "end_ps": wait.end_ps, "chunk": wait.chunk, "source": wait.source}


def _by_dimension(values: dict[int, int]) -> dict[str, int]:
    return {str(k): value for k, value in values.items()}
