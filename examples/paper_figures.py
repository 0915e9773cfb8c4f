"""Redraw Figures 8 to 11 of the Themis paper with the optimum as a fourth line, from two studies.

    python examples/paper_figures.py [FOLDER] [--sizes STUDY] [--chunks STUDY]

Shows how a study is run from Python, resumed (run it twice), and drawn: makespan and utilisation over the collective's
size on six networks (Figures 8 and 11), over the number of chunks (Figure 10), and over time (Figure 9). It writes
`figure_8.png` to `figure_11.png` and the studies' results into FOLDER (default: the current one); about a minute on two
cores. Needs the extra `plot`.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from themis_opt import Instance, Sizing, load_network, schedule, solve
from themis_opt.show.pictures import save_picture, sweep, utilization
from themis_opt.show.pictures.panels import panels
from themis_opt.solving.resources import usable_processors
from themis_opt.studies import LocalEngine, StudyTable, load_study, read_table, run_study
from themis_opt.studies.table import Value

STUDIES = Path(__file__).parent / "studies"
NETWORK = "3d-sw-sw-sw-homo-artifact"
SIZE_BYTES = 100 * 2**20


def table_of(study: Path, folder: Path) -> StudyTable:
    """Run what is missing of a study and return its table."""
    results = folder / f"{study.stem}.db"
    end = run_study(load_study(study), results, partial(LocalEngine, usable_processors()))
    print(f"{study.stem}: {end.num_points} points, {end.num_done} of them done now, {end.num_failed} failed")
    return read_table(results)


def draw_sweep(table: StudyTable, x: str, y: str, path: Path) -> None:
    """Draw a metric over an axis, a panel for each network, a line for each scheduler."""

    def draw(*, only: dict[str, Value], ax: Axes, title: str, is_corner: bool) -> None:
        sweep(table, x=x, y=y, only=only, ax=ax, title=title, legend=is_corner)

    save_picture(panels(table, "network", draw), path)


def draw_utilization(path: Path) -> None:
    """Draw how the schedulers use the bandwidth of one network over time, the optimum below them."""
    instance = Instance(load_network(NETWORK), size_bytes=SIZE_BYTES)
    made = {name: schedule(instance, name) for name in ("baseline", "themis-fifo", "themis-scf")}
    found = solve(instance, sizes=Sizing.FREE, max_chunks=16, gap=1e-3, max_evaluations=2_000_000)
    made["optimum"] = found.schedule
    axes = utilization(made)
    save_picture(axes.figure, path)
    for name, one in made.items():
        assert one.makespan_ps is not None
        print(f"{NETWORK}, 100 MiB, {name}: {one.makespan_ps / 1e6:.1f} us with {one.num_chunks} chunks")


def main() -> None:
    """Run both studies and draw the four figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path())
    parser.add_argument("--sizes", type=Path, default=STUDIES / "paper_sizes.yaml", metavar="STUDY")
    parser.add_argument("--chunks", type=Path, default=STUDIES / "paper_chunks.yaml", metavar="STUDY")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sizes = table_of(arguments.sizes, arguments.folder)
    draw_sweep(sizes, "size", "makespan_ps", arguments.folder / "figure_8.png")
    draw_utilization(arguments.folder / "figure_9.png")
    chunks = table_of(arguments.chunks, arguments.folder)
    draw_sweep(chunks, "chunks", "bw_utilization", arguments.folder / "figure_10.png")
    draw_sweep(sizes, "size", "bw_utilization", arguments.folder / "figure_11.png")


if __name__ == "__main__":
    main()
