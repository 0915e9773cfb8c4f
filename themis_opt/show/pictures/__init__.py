"""Pictures of schedules and studies, drawn with matplotlib's object interface (extra ``plot``).

Each function draws one kind of picture into the `ax` (or `axes`) it is given, or into a new figure of its own, and
returns what it drew into: `timeline`, `utilization` and `loads` show schedules, `sweep` and `gap_map` a study's table.
Nothing here touches matplotlib's global state or needs a display; `save_picture` writes a figure whole or not at all.
`text_timeline` draws the same as `timeline` for a terminal, without matplotlib.
"""

from themis_opt.show.pictures.canvas import save_picture
from themis_opt.show.pictures.gap_map import gap_map
from themis_opt.show.pictures.loads import loads
from themis_opt.show.pictures.subject import Subject
from themis_opt.show.pictures.sweep_plot import sweep
from themis_opt.show.pictures.text_timeline import text_timeline
from themis_opt.show.pictures.timeline_plot import timeline
from themis_opt.show.pictures.utilization import utilization

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
