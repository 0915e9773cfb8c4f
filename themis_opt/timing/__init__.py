"""The timing simulator: the one judge of how long a schedule takes. It knows no scheduler.

A stage starts as soon as its chunk is there and its dimension no longer holds the stage before it in the sequence; the
makespan includes the last stage's latency. `sequencing.simulate` times given sequences, `dispatch.dispatch` lets a
queue discipline choose them.
"""
