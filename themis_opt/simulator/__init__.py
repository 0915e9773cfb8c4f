"""The timing simulator: the one judge of how long a schedule takes. It knows no scheduler.

A stage starts as soon as its chunk is there and its dimension no longer holds the stage before it in the
sequence; the makespan includes the last stage's latency. `simulate` times given sequences, `dispatch` lets a
queue discipline choose them.
"""

from themis_opt.simulator.dispatching import Dispatched, dispatch
from themis_opt.simulator.engine import Engine
from themis_opt.simulator.policy import DispatchPolicy
from themis_opt.simulator.sequencing import simulate
from themis_opt.simulator.timeline import DimensionUse, Timeline

__all__ = ["DimensionUse", "DispatchPolicy", "Dispatched", "Engine", "Timeline", "dispatch", "simulate"]
