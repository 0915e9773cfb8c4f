"""Schedules as algorithms for MSCCL's executors: layout of the buffers, lowering to threadblocks, limits, XML."""
