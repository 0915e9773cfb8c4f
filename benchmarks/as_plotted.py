"""The paper's runs with the stage times and queues of the simulator it used.

Found by comparison: with them, Figures 8 and 10 come out as plotted but for a constant per network and figure, the same
for every scheduler, size and number of chunks.

- Stage times: `AstraStageTimes`.
- Orders: ``baseline-astra`` and ``themis-astra-*``.
- Queues: `DispatchPolicy.FUSED_FIFO` for the baseline, `DispatchPolicy.ASTRA_FIFO`, and for SCF those of ASTRA-sim with
  another key: the bytes before the stage alone, and no stage is sent to the tail.
"""

from __future__ import annotations

import numpy as np
from astra_stage_times import AstraStageTimes

from themis_opt.problem.instance import Instance
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.timing import kernel
from themis_opt.timing.dispatch import dispatch_table
from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.stage_table import build_stage_table

_SCHEDULERS = {
    "baseline": ("baseline-astra", DispatchPolicy.FUSED_FIFO),
    "themis-fifo": ("themis-astra-fifo", DispatchPolicy.ASTRA_FIFO),
    "themis-scf": ("themis-astra-scf", DispatchPolicy.ASTRA_SCF),
}


def time_us(instance: Instance, scheduler: str) -> float:
    """Return the time of an All-Reduce under one of the paper's schedulers, without the constant [us]."""
    counterpart, policy = _SCHEDULERS[scheduler]
    chunks = get_scheduler(counterpart)(instance).chunks
    table = build_stage_table(AstraStageTimes(instance, fused=policy is DispatchPolicy.FUSED_FIFO), chunks)
    if policy is not DispatchPolicy.ASTRA_SCF:
        return dispatch_table(table, policy).timeline.makespan_ps / 1e6
    start = np.empty((len(chunks), table.num_stages), np.int64)
    served = np.empty((instance.network.num_dimensions, len(chunks) * len(instance.phases), 2), np.int64)
    makespan_ps = kernel.dispatch_by_list(table.stage_array, table.array(table.resident_units()), start, served)
    return makespan_ps / 1e6
