"""Map how far Themis is from the bound, over how steeply bandwidth falls and over the number of chunks.

    python examples/themis_gap_map.py [FOLDER] [--study STUDY]

Shows a study under a constraint (600 GB/s over all dimensions, however they are split) and its heat map. It writes
`themis_gap_map.png` and the study's results into FOLDER (default: the current one); some seconds. Needs the extra
`plot`.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from themis_opt.show.pictures import gap_map, save_picture
from themis_opt.solving.resources import usable_processors
from themis_opt.studies import LocalEngine, load_study, read_table, run_study

STUDY = Path(__file__).parent / "studies" / "themis_gap_map.yaml"


def main() -> None:
    """Run the study, draw the map, and say where Themis is nearest and farthest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path())
    parser.add_argument("--study", type=Path, default=STUDY)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = arguments.folder / "themis_gap_map.db"
    run_study(load_study(arguments.study), results, partial(LocalEngine, usable_processors()))
    table = read_table(results)
    axes = gap_map(table, x="chunks", y="bandwidth_taper", metric="gap_any")
    save_picture(axes.figure, arguments.folder / "themis_gap_map.png")

    by_gap = sorted((row.values for row in table.rows), key=lambda values: float(values["gap_any"] or 0))
    for word, values in (("nearest", by_gap[0]), ("farthest", by_gap[-1])):
        where = f"{values['chunks']} chunks, taper {values['bandwidth_taper']}"
        print(f"{word}: {where}: {values['gap_any']:.1%} to the bound for any chunks")


if __name__ == "__main__":
    main()
