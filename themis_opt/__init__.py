"""Optimal collective schedules for multi-dimensional training networks, with proven bounds.

Everything public is importable from here and loaded when first used::

    import themis_opt

    instance = themis_opt.load_instance("3d-fc-ring-sw")
    heuristic = themis_opt.schedule(instance, "themis-scf")
    bound = themis_opt.lower_bound(instance)
    result = themis_opt.solve(instance, time_limit_s=20)
"""

from __future__ import annotations

# Not from `typing`, which is not loaded yet when the command line makes itself ready for Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    # The one list of what is public: type checkers read it as it stands, `__getattr__` looks a name's module up in it.
    from typing import Any

    from themis_opt.files.instance_file import load_instance as load_instance
    from themis_opt.files.instance_file import save_instance as save_instance
    from themis_opt.files.network_file import load_network as load_network
    from themis_opt.files.network_file import save_network as save_network
    from themis_opt.files.schedule_file import load_schedule as load_schedule
    from themis_opt.files.schedule_file import save_schedule as save_schedule
    from themis_opt.judging.certify import certify as certify
    from themis_opt.judging.execution import execute as execute
    from themis_opt.judging.validator import check as check
    from themis_opt.judging.validator import validate as validate
    from themis_opt.problem.bound import Bound as Bound
    from themis_opt.problem.bound import BoundScope as BoundScope
    from themis_opt.problem.bound import Sizing as Sizing
    from themis_opt.problem.chunking import ChunkingChoice as ChunkingChoice
    from themis_opt.problem.collective import Collective as Collective
    from themis_opt.problem.collective import Phase as Phase
    from themis_opt.problem.errors import DeadlockError as DeadlockError
    from themis_opt.problem.errors import InputError as InputError
    from themis_opt.problem.errors import InvalidScheduleError as InvalidScheduleError
    from themis_opt.problem.errors import NoScheduleError as NoScheduleError
    from themis_opt.problem.errors import SchedulerError as SchedulerError
    from themis_opt.problem.errors import SolverError as SolverError
    from themis_opt.problem.errors import ThemisError as ThemisError
    from themis_opt.problem.instance import Instance as Instance
    from themis_opt.problem.instance import Occupancy as Occupancy
    from themis_opt.problem.network import Algorithm as Algorithm
    from themis_opt.problem.network import Dimension as Dimension
    from themis_opt.problem.network import Network as Network
    from themis_opt.problem.network import Topology as Topology
    from themis_opt.problem.schedule import Chunk as Chunk
    from themis_opt.problem.schedule import Schedule as Schedule
    from themis_opt.problem.schedule import Slot as Slot
    from themis_opt.problem.schedule import StageTime as StageTime
    from themis_opt.problem.schedule import Status as Status
    from themis_opt.problem.version import VERSION as __version__  # noqa: F401, N811
    from themis_opt.questions.comparison import compare as compare
    from themis_opt.questions.explain.account import explain as explain
    from themis_opt.questions.provision.provision import provision as provision
    from themis_opt.questions.tune import tune as tune
    from themis_opt.questions.when import when as when
    from themis_opt.schedulers.prediction import predict as predict
    from themis_opt.schedulers.registry import get_scheduler as get_scheduler
    from themis_opt.schedulers.registry import predictor_names as predictor_names
    from themis_opt.schedulers.registry import scheduler_names as scheduler_names
    from themis_opt.solving.api import SolverWarning as SolverWarning
    from themis_opt.solving.api import lower_bound as lower_bound
    from themis_opt.solving.api import schedule as schedule
    from themis_opt.solving.api import solve as solve
    from themis_opt.solving.protocol import Progress as Progress
    from themis_opt.solving.protocol import SolverParams as SolverParams
    from themis_opt.solving.protocol import SolverResult as SolverResult
    from themis_opt.solving.result import Ending as Ending
    from themis_opt.solving.result import Result as Result
    from themis_opt.studies.study_run import run_study as run_study
    from themis_opt.timing.dispatch import dispatch as dispatch
    from themis_opt.timing.policy import DispatchPolicy as DispatchPolicy
    from themis_opt.timing.sequencing import simulate as simulate
    from themis_opt.timing.timeline import Timeline as Timeline


def _homes() -> dict[str, tuple[str, str]]:
    """Return the module of every public name and its name there, read from the list above."""
    import ast
    from importlib.resources import files

    tree = ast.parse(files(__name__).joinpath("__init__.py").read_text(encoding="utf-8"))
    listed = next(node for node in tree.body if isinstance(node, ast.If)).body
    return {
        name.asname or name.name: (node.module, name.name)
        for node in listed
        if isinstance(node, ast.ImportFrom) and node.module not in (None, "typing")
        for name in node.names
    }


def __getattr__(name: str) -> Any:
    """Load a public name, or the list of them, when it is first asked for."""
    if name.startswith("_") and name not in ("__all__", "__version__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = _homes()
    value: Any
    if name == "__all__":
        value = sorted(homes)
    elif name in homes:
        from importlib import import_module

        module, its_name = homes[name]
        value = getattr(import_module(module), its_name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes()})
