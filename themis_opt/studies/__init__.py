"""Design-space studies: many points, one table, resumable; on this machine or a cluster (docs/studies.md)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from themis_opt.studies.dask_engine import DaskEngine as DaskEngine
    from themis_opt.studies.local_engine import LocalEngine as LocalEngine
    from themis_opt.studies.planning import plan as plan
    from themis_opt.studies.reading_table import read_table as read_table
    from themis_opt.studies.study import Study as Study
    from themis_opt.studies.study_file import load_study as load_study
    from themis_opt.studies.study_run import SweepProgress as SweepProgress
    from themis_opt.studies.study_run import run_study as run_study
    from themis_opt.studies.table import StudyTable as StudyTable

_HOME_OF = {
    "DaskEngine": "dask_engine",
    "LocalEngine": "local_engine",
    "plan": "planning",
    "load_study": "study_file",
    "read_table": "reading_table",
    "SweepProgress": "study_run",
    "run_study": "study_run",
    "Study": "study",
    "StudyTable": "table",
}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
