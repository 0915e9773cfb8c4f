"""Pictures of schedules and studies, drawn with matplotlib's object interface (extra ``plot``).

Each function draws one kind of picture into the `ax` (or `axes`) it is given, or into a new figure of its own, and
returns what it drew into: `timeline`, `utilization` and `loads` show schedules, `sweep` and `gap_map` a study's table.
Nothing here touches matplotlib's global state or needs a display; `save_picture` writes a figure whole or not at all.
`text_timeline` draws the same as `timeline` for a terminal, without matplotlib.
"""

from themis_opt.pictures.canvas import save_picture
from themis_opt.pictures.gap_map import gap_map
from themis_opt.pictures.loads import loads
from themis_opt.pictures.subject import Subject
from themis_opt.pictures.sweep import sweep
from themis_opt.pictures.text_timeline import text_timeline
from themis_opt.pictures.timeline import timeline
from themis_opt.pictures.utilization import utilization

__all__ = [
    "Subject",
    "gap_map",
    "loads",
    "save_picture",
    "sweep",
    "text_timeline",
    "timeline",
    "utilization",
]
