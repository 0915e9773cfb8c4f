"""Optimal collective schedules for multi-dimensional training networks, with proven bounds.

Everything public is importable from here and loaded when first used::

    import themis_opt

    instance = themis_opt.load_instance("3d-fc-ring-sw")
    schedule = themis_opt.schedule(instance, "themis-scf")
    bound = themis_opt.lower_bound(instance)
"""

from __future__ import annotations

__version__ = "0.1.0"

# Loaded before the command line can handle Ctrl-C: it imports nothing, not even `typing`, which has the same constant.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from themis_opt.api import SolverWarning as SolverWarning
    from themis_opt.api import lower_bound as lower_bound
    from themis_opt.api import schedule as schedule
    from themis_opt.api import solve as solve
    from themis_opt.bound import Bound as Bound
    from themis_opt.bound import BoundScope as BoundScope
    from themis_opt.bound import Sizing as Sizing
    from themis_opt.collective import Collective as Collective
    from themis_opt.collective import Phase as Phase
    from themis_opt.errors import DeadlockError as DeadlockError
    from themis_opt.errors import InputError as InputError
    from themis_opt.errors import InvalidScheduleError as InvalidScheduleError
    from themis_opt.errors import NoScheduleError as NoScheduleError
    from themis_opt.errors import SchedulerError as SchedulerError
    from themis_opt.errors import SolverError as SolverError
    from themis_opt.errors import ThemisError as ThemisError
    from themis_opt.execution import execute as execute
    from themis_opt.formats.instance_file import load_instance as load_instance
    from themis_opt.formats.instance_file import save_instance as save_instance
    from themis_opt.formats.network_file import load_network as load_network
    from themis_opt.formats.network_file import save_network as save_network
    from themis_opt.formats.schedule_file import load_schedule as load_schedule
    from themis_opt.formats.schedule_file import save_schedule as save_schedule
    from themis_opt.instance import Instance as Instance
    from themis_opt.instance import Occupancy as Occupancy
    from themis_opt.network import Algorithm as Algorithm
    from themis_opt.network import Dimension as Dimension
    from themis_opt.network import Network as Network
    from themis_opt.network import Topology as Topology
    from themis_opt.schedulers.registry import scheduler_names as scheduler_names
    from themis_opt.schedules import Chunk as Chunk
    from themis_opt.schedules import Schedule as Schedule
    from themis_opt.schedules import Slot as Slot
    from themis_opt.schedules import StageTime as StageTime
    from themis_opt.schedules import Status as Status
    from themis_opt.simulator import DispatchPolicy as DispatchPolicy
    from themis_opt.simulator import Timeline as Timeline
    from themis_opt.simulator import dispatch as dispatch
    from themis_opt.simulator import simulate as simulate
    from themis_opt.validation import check as check
    from themis_opt.validation import validate as validate

_HOMES = {
    "api": ("SolverWarning", "lower_bound", "schedule", "solve"),
    "bound": ("Bound", "BoundScope", "Sizing"),
    "collective": ("Collective", "Phase"),
    "errors": (
        "DeadlockError",
        "InputError",
        "InvalidScheduleError",
        "NoScheduleError",
        "SchedulerError",
        "SolverError",
        "ThemisError",
    ),
    "execution": ("execute",),
    "formats.instance_file": ("load_instance", "save_instance"),
    "formats.network_file": ("load_network", "save_network"),
    "formats.schedule_file": ("load_schedule", "save_schedule"),
    "instance": ("Instance", "Occupancy"),
    "network": ("Algorithm", "Dimension", "Network", "Topology"),
    "schedules": ("Chunk", "Schedule", "Slot", "StageTime", "Status"),
    "schedulers.registry": ("scheduler_names",),
    "simulator": ("DispatchPolicy", "Timeline", "dispatch", "simulate"),
    "validation": ("check", "validate"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
