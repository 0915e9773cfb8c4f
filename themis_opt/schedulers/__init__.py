"""The heuristic schedulers (Sec. 4 and the ASTRA-sim code): one module each, one registry."""

from themis_opt.schedulers.protocol import Scheduler
from themis_opt.schedulers.registry import get_scheduler, scheduler_names, scheduler_summary

__all__ = ["Scheduler", "get_scheduler", "scheduler_names", "scheduler_summary"]
