"""Schedulers of another author with habits that a study has to survive, written into a folder at test time."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
import os
import signal
import time
from pathlib import Path

from themis_opt import get_scheduler

MARKS = Path(os.environ["STUDY_MARKS"])


def deadly(instance, *, seed=0):
    """Take the process along whenever the chunks are eight."""
    if instance.num_chunks == 8:
        os.kill(os.getpid(), signal.SIGKILL)
    return get_scheduler("baseline")(instance)


def deadly_once(instance, *, seed=0):
    """Take the process along the first time."""
    mark = MARKS / f"died-{instance.num_chunks}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return get_scheduler("baseline")(instance)


def hungry(instance, *, seed=0):
    """Ask for more memory than there is when the chunks are eight."""
    if instance.num_chunks == 8:
        bytearray(2**40)
    return get_scheduler("baseline")(instance)


def moody(instance, *, seed=0):
    """Fail until somebody has put things right."""
    if not (MARKS / "right").exists():
        raise RuntimeError("not today")
    return get_scheduler("baseline")(instance)


def slow(instance, *, seed=0):
    """Take a while."""
    time.sleep(0.05)
    return get_scheduler("baseline")(instance)
'''

NAMES = ("deadly", "deadly_once", "hungry", "moody", "slow")


def write_study_plugin(folder: Path) -> None:
    """Write the package so that it counts as installed when `folder` is on the path."""
    (folder / "study_author.py").write_text(MODULE)
    metadata = folder / "study_author-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: study-author\nVersion: 1.0\n")
    entries = "".join(f"{name} = study_author:{name}\n" for name in NAMES)
    (metadata / "entry_points.txt").write_text(f"[themis_opt.schedulers]\n{entries}")
