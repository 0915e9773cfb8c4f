"""Map the best number of chunks over step latency and message size, for Themis and for the optimum.

    python examples/best_chunk_count.py [FOLDER] [--study STUDY]

Shows a study with a solver in it and two maps side by side. It writes `best_chunk_count.png` and the study's results
into FOLDER (default: the current one); a minute or two on two cores. Needs the extra `plot`.
"""

from __future__ import annotations

import argparse
from functools import partial
from math import prod
from pathlib import Path

from matplotlib.axes import Axes

from themis_opt.show.pictures import gap_map, save_picture
from themis_opt.show.pictures.gap_map import common_range
from themis_opt.show.pictures.panels import panels
from themis_opt.solving.resources import usable_processors
from themis_opt.studies import LocalEngine, StudyTable, load_study, read_table, run_study
from themis_opt.studies.table import Value

STUDY = Path(__file__).parent / "studies" / "best_chunk_count.yaml"


def mean_speedup(table: StudyTable) -> float:
    """Return how much faster the optimum is than Themis at its best number of chunks: the geometric mean."""
    makespans: dict[tuple[object, object], dict[object, int]] = {}
    for row in table.rows:
        place = (row.values["latency_ps"], row.values["size_bytes"])
        makespans.setdefault(place, {})[row.values["scheduler"]] = int(row.values["makespan_ps"] or 0)
    ratios = [found["themis-best"] / found["optimum"] for found in makespans.values()]
    return prod(ratios) ** (1 / len(ratios))


def main() -> None:
    """Run the study, draw both maps, and say what choosing sizes and orders gains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path())
    parser.add_argument("--study", type=Path, default=STUDY)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = arguments.folder / "best_chunk_count.db"
    run_study(load_study(arguments.study), results, partial(LocalEngine, usable_processors()))
    table = read_table(results)
    colors = common_range(table, "num_chunks")

    def draw(*, only: dict[str, Value], ax: Axes, title: str, is_corner: bool) -> None:
        gap_map(table, x="size", y="latency", metric="num_chunks", only=only, value_range=colors, ax=ax, title=title)

    save_picture(panels(table, "scheduler", draw), arguments.folder / "best_chunk_count.png")
    print(f"the optimum is {mean_speedup(table):.2f} times as fast as Themis at its best number of chunks")


if __name__ == "__main__":
    main()
