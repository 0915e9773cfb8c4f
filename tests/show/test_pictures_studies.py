"""Pictures of studies: a line or a cell where the table has a number, and what the bound rules out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import nan
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

from themis_opt.problem.errors import InputError
from themis_opt.show.pictures import gap_map, save_picture, sweep
from themis_opt.show.pictures.canvas import house_style, new_axes
from themis_opt.show.pictures.gap_map import common_range
from themis_opt.show.pictures.panels import panels
from themis_opt.show.pictures.sweep_plot import COLORS, MARKERS, STYLES, common_values
from themis_opt.studies.table import Column, Role, StudyRow, StudyTable, Value

SIZES = (10**6, 10**7, 10**8, 10**9)
CHUNKS = (4, 16, 64)
COLUMNS = {
    "size": Column("size_bytes", "size", "B", Role.AXIS, True),
    "chunks": Column("chunks", "chunks", "", Role.AXIS, True),
    "scheduler": Column("scheduler", "scheduler", "", Role.AXIS, False),
    "makespan": Column("makespan_ps", "makespan_ps", "ps", Role.METRIC, True),
    "busbw": Column("busbw_Bps", "busbw_Bps", "B/s", Role.METRIC, True),
    "bound": Column("bound_ps", "bound_ps", "ps", Role.METRIC, True),
    "gap": Column("gap", "gap", "", Role.METRIC, True),
    "sizing": Column("sizing", "sizing", "", Role.METRIC, False),
}


def bound_of(size: int, chunks: int) -> int:
    return 8 * size + 10**6 * chunks


def gap_of(scheduler: str, chunks: int) -> float:
    return {"baseline": 0.5, "themis-scf": 0.25, "$auto$": 0.0}[scheduler] * (1 + 1 / chunks)


def table(
    leave_out: tuple[str, ...] = (),
    failed: Callable[[int, int, str], bool] = lambda size, chunks, scheduler: False,
    sizes: tuple[int, ...] = SIZES,
    schedulers: tuple[str, ...] = ("baseline", "themis-scf", "$auto$"),
) -> StudyTable:
    rows = []
    for size in sizes:
        for chunks in CHUNKS:
            for scheduler in schedulers:
                makespan = bound_of(size, chunks) * (1 + gap_of(scheduler, chunks))
                values: dict[str, Value] = {
                    "size_bytes": size,
                    "chunks": chunks,
                    "scheduler": scheduler,
                    "makespan_ps": makespan,
                    "busbw_Bps": size * 1.5e12 / makespan,
                    "bound_ps": bound_of(size, chunks),
                    "gap": gap_of(scheduler, chunks),
                    "sizing": "equal",
                }
                lost = failed(size, chunks, scheduler)
                if lost:
                    values |= dict.fromkeys(("makespan_ps", "busbw_Bps", "bound_ps", "gap", "sizing"))
                rows.append(StudyRow(values, "failed" if lost else "heuristic", 0.1))
    columns = tuple(column for name, column in COLUMNS.items() if name not in leave_out)
    return StudyTable("a $study$", "", columns, tuple(rows))


def lines_of(ax: Axes) -> dict[str, tuple[list[float], list[float]]]:
    return {str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines}


def band_of(ax: Axes) -> np.ndarray:
    (band,) = [found for found in ax.collections if isinstance(found, PolyCollection)]
    return band.get_paths()[0].vertices


def test_a_line_for_every_scheduler() -> None:
    ax = sweep(table(), only={"chunks": 16})
    lines = lines_of(ax)
    assert list(lines) == ["baseline", "themis-scf", "$auto$", "bound"]
    for scheduler in ("baseline", "themis-scf", "$auto$"):
        expected = [bound_of(size, 16) * (1 + gap_of(scheduler, 16)) for size in SIZES]
        assert lines[scheduler] == (list(SIZES), pytest.approx(expected))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("size per NPU", "makespan [ms]")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1 MB", "10 MB", "100 MB", "1 GB"]


def test_the_bound_is_a_band_below_the_makespan() -> None:
    ax = sweep(table(), only={"chunks": 16}, y="makespan")
    limit = [float(bound_of(size, 16)) for size in SIZES]
    assert lines_of(ax)["bound"] == (list(SIZES), limit)
    corners = band_of(ax)
    assert corners[:, 1].max() == max(limit)
    assert corners[:, 1].min() == pytest.approx(ax.get_ylim()[0])


@pytest.mark.parametrize("leave_out", [("bound",), ("gap",), ()])
def test_the_bound_is_a_band_above_the_bandwidth(leave_out: tuple[str, ...]) -> None:
    """Worked out from the gap or from makespan and bound, whichever was measured."""
    # No scheduler reaches the bound, or a wrong limit could be its own value.
    ax = sweep(table(leave_out, schedulers=("baseline", "themis-scf")), only={"chunks": 16}, y="busbw")
    limit = [size * 1.5e12 / bound_of(size, 16) for size in SIZES]
    assert lines_of(ax)["bound"][1] == pytest.approx(limit)
    corners = band_of(ax)
    assert corners[:, 1].min() == pytest.approx(min(limit))
    assert corners[:, 1].max() == pytest.approx(ax.get_ylim()[1])
    assert ax.get_ylim()[0] == 0  # less than a decade: heights compare


@pytest.mark.parametrize(("leave_out", "y"), [(("bound", "gap"), "makespan"), ((), "gap")])
def test_without_a_bound_there_is_no_band(leave_out: tuple[str, ...], y: str) -> None:
    assert "bound" not in lines_of(sweep(table(leave_out), only={"chunks": 16}, y=y))


def test_the_weakest_bound_counts() -> None:
    """Over all schedulers, each with a bound for its own chunks, no point lies in the band."""
    study = table()
    rows = [
        StudyRow({**row.values, "bound_ps": 0.5 * bound_of(row.values["size_bytes"], 16)}, row.status, 0.1)  # type: ignore[arg-type]
        if row.values["scheduler"] == "baseline"
        else row
        for row in study.rows
    ]
    changed = StudyTable(study.name, "", study.columns, tuple(rows))
    ax = sweep(changed, only={"chunks": 16})
    assert lines_of(ax)["bound"][1] == [0.5 * bound_of(size, 16) for size in SIZES]


def test_what_failed_interrupts_a_line_and_is_counted() -> None:
    study = table(failed=lambda size, chunks, scheduler: size == 10**7 and scheduler == "baseline")
    ax = sweep(study, only={"chunks": 16})
    values = lines_of(ax)["baseline"][1]
    assert [np.isnan(value) for value in values] == [False, True, False, False]
    assert ax.get_xlabel() == "size per NPU\n(1 of 12 points failed or not computed yet)"
    assert nan != values[1]


def test_lines_differ_in_more_than_colour() -> None:
    styles = [(line.get_marker(), line.get_linestyle()) for line in sweep(table(), only={"chunks": 4}).lines]
    for looks in zip(*styles[:3], strict=True):  # those of the schedulers: markers, then strokes
        assert len(set(looks)) == 3
    assert len({(COLORS[n % len(COLORS)], MARKERS[n % len(MARKERS)]) for n in range(24)}) == 24
    assert len({*STYLES}) == 4


def test_chunk_counts_are_labelled_as_they_are() -> None:
    ax = sweep(table(), x="chunks", only={"size": 10**6})
    assert [label.get_text() for label in ax.get_xticklabels()] == ["4", "16", "64"]
    assert ax.get_xlabel() == "number of chunks"


def test_only_some_of_many_values_are_labelled() -> None:
    sizes = tuple(2**power for power in range(10, 32))
    ax = sweep(table(sizes=sizes), only={"chunks": 4})
    texts = [label.get_text() for label in ax.get_xticklabels()]
    assert 5 <= len(texts) <= 12
    assert texts[-1] == "2 GiB"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {},
            "chunks: varies too, .* keep one value .such as --where chunks=..., with one of: 4, 16, 64., or spread it",
        ),
        ({"x": "chnks"}, r"--x: the study has no column 'chnks'; it has: size, .* \(did you mean 'chunks'\?\)"),
        ({"y": "busbandwidth", "only": {"chunks": 4}}, "--y: the study has no column 'busbandwidth'"),
        ({"by": "sheduler"}, r"--by: .*did you mean 'scheduler'"),
        ({"x": "scheduler", "by": "chunks"}, "size: varies too"),
        ({"by": "chunks", "only": {"chunks": 4, "size_bytes": 10**6, "scheduler": "baseline"}}, "--x: no axis of the"),
        ({"y": "sizing"}, "--y: column sizing has words, not numbers"),
        ({"only": {"chunks": 5}}, "the study has no row with chunks = 5"),
    ],
)
def test_sweeps_that_make_no_sense(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sweep(table(), **options)  # type: ignore[arg-type]


def test_a_study_without_results() -> None:
    study = table(failed=lambda size, chunks, scheduler: True)
    with pytest.raises(
        InputError, match=r"^none of the 12 rows chosen has a value of makespan_ps \(12 of 12 failed\); "
    ):
        sweep(study, only={"chunks": 4})
    with pytest.raises(InputError, match=r"^none of the 12 rows chosen has a value of gap \(12 of 12 failed\); there"):
        gap_map(study, scheduler="baseline")
    assert common_range(study, "gap") is None
    statuses = ("failed", "missing", "missing")
    rows = tuple(StudyRow(row.values, statuses[place % 3], None) for place, row in enumerate(study.rows))
    started = StudyTable("s", "", study.columns, rows)
    with pytest.raises(
        InputError, match=r"a value of gap yet \(4 of 12 failed, 8 of 12 to do\); there is nothing to draw$"
    ):
        sweep(started, only={"chunks": 64}, y="gap")


def test_a_metric_without_values_is_not_yet_to_come() -> None:
    """All rows are done: the message names what can be drawn instead."""
    study = table()
    column = Column("gap_any", "gap_any", "", Role.METRIC, True)
    rows = tuple(StudyRow({**row.values, "gap_any": None}, row.status, 0.1) for row in study.rows)
    done = StudyTable("s", "", (*study.columns, column), rows)
    message = (
        r"^none of the 12 rows chosen has a value of gap_any; there is nothing to draw: draw another metric "
        r"\(makespan_ps, busbw_Bps, bound_ps, gap\)$"
    )
    with pytest.raises(InputError, match=message):
        gap_map(done, metric="gap_any", scheduler="themis-scf")
    with pytest.raises(InputError, match=message):
        sweep(done, y="gap_any", only={"chunks": 4})


def mesh_of(ax: Axes) -> QuadMesh:
    (mesh,) = [found for found in ax.collections if isinstance(found, QuadMesh)]
    return mesh


def test_a_cell_for_every_pair() -> None:
    ax = gap_map(table(), scheduler="themis-scf")
    cells = mesh_of(ax).get_array()
    assert cells.shape == (3, 4)  # chunks upwards, sizes across
    assert cells.tolist() == [[gap_of("themis-scf", chunks)] * 4 for chunks in CHUNKS]
    assert sorted({text.get_text() for text in ax.texts}) == ["25.4", "26.6", "31.2"]  # per cent
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1 MB", "10 MB", "100 MB", "1 GB"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["4", "16", "64"]
    assert mesh_of(ax).norm.vmin == 0  # a gap of nothing is the darkest
    assert ax.get_title(loc="left") == "a $study$: themis-scf"
    bar = mesh_of(ax).colorbar
    assert bar is not None
    assert bar.ax.get_ylabel() == "gap to the bound for\nthese chunks [%]"


def test_a_gap_for_any_chunks_says_so() -> None:
    study = table()
    column = Column("gap_any", "gap_any", "", Role.METRIC, True)
    rows = tuple(StudyRow({**row.values, "gap_any": 0.5}, row.status, 0.1) for row in study.rows)
    known = StudyTable("s", "", (*study.columns, column), rows)
    ax = gap_map(known, metric="gap_any", scheduler="baseline", ax=new_axes(6, 5))
    bar = mesh_of(ax).colorbar
    assert bar is not None
    assert bar.ax.get_ylabel() == "gap to the bound for any chunks [%]"
    assert (mesh_of(ax).norm.vmin, mesh_of(ax).norm.vmax) == (0, 0.5)
    assert sweep(known, y="gap_any", only={"chunks": 4}).get_ylabel() == "gap to the bound for any chunks [%]"


def test_colours_are_logarithmic_where_values_span_decades() -> None:
    from matplotlib.colors import LogNorm

    wide = mesh_of(gap_map(table(), scheduler="baseline", metric="makespan"))  # of 1 MB to 1 GB
    assert isinstance(wide.norm, LogNorm)
    assert (wide.norm.vmin, wide.norm.vmax) == (wide.get_array().min(), wide.get_array().max())
    assert not isinstance(
        mesh_of(gap_map(table(sizes=SIZES[:2]), scheduler="baseline", metric="makespan")).norm, LogNorm
    )


def test_labels_below_a_narrow_map_are_turned_rather_than_overlap() -> None:
    sizes = tuple(round(10 ** (6 + step / 3)) for step in range(7))
    study = table(sizes=sizes)
    wide = gap_map(study, scheduler="baseline", ax=new_axes(11, 4))
    narrow = gap_map(study, scheduler="baseline", ax=new_axes(4, 4))
    assert {label.get_rotation() for label in wide.get_xticklabels()} == {0}
    assert {label.get_rotation() for label in narrow.get_xticklabels()} == {40}


@pytest.mark.parametrize(("width", "legend"), [(None, True), (4.0, False)])
def test_binary_sizes_are_told_in_binary_units_and_have_room(width: float | None, legend: bool) -> None:
    sizes = tuple(100 * 2**20 * number for number in range(1, 11))
    ax = None if width is None else new_axes(width, 3)
    ax = sweep(table(sizes=sizes), only={"chunks": 4}, x="size", ax=ax, legend=legend)
    texts = [label.get_text() for label in ax.get_xticklabels()]
    assert texts[-1] == "1000 MiB"
    assert 2 <= len(texts) < 10
    figure = ax.get_figure()
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_cell_without_a_result_is_crossed() -> None:
    study = table(failed=lambda size, chunks, scheduler: (size, chunks) == (10**7, 16))
    ax = gap_map(study, scheduler="baseline", metric="makespan")
    assert np.ma.getmaskarray(mesh_of(ax).get_array()).nonzero() == (np.array([1]), np.array([1]))
    (crossed,) = [patch for patch in ax.get_children() if isinstance(patch, PathPatch) and patch.get_hatch()]
    assert crossed.get_path().vertices[:4].tolist() == [[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [0.5, 1.5]]
    assert "1 of 12 points failed" in ax.get_xlabel()


def test_numbers_are_left_out_where_they_do_not_fit() -> None:
    sizes = tuple(range(10**6, 10**6 + 200))
    ax = gap_map(table(sizes=sizes), scheduler="baseline")
    assert list(ax.texts) == []
    assert len(ax.get_xticklabels()) <= 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "scheduler: varies too"),
        ({"scheduler": "themis"}, r"--scheduler: the study has no 'themis'; it has: .*did you mean 'themis-scf'"),
        ({"metric": "gapp"}, r"--metric: .*did you mean 'gap'"),
        ({"metric": "sizing"}, "--metric: column sizing has words"),
        ({"x": "size", "y": "size"}, "--x and --y are both size"),
    ],
)
def test_maps_that_make_no_sense(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gap_map(table(), **options)  # type: ignore[arg-type]


def test_panels_share_colours_and_are_named() -> None:
    study = table()

    def draw(*, only: dict[str, Value], ax: Axes, title: str, is_corner: bool) -> Axes:
        return gap_map(study, only=only, ax=ax, title=title, value_range=common_range(study, "gap"))

    figure = panels(study, "scheduler", draw)
    maps = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert [ax.get_title(loc="left") for ax in maps] == ["baseline", "themis-scf", "$auto$"]
    assert {(mesh_of(ax).norm.vmin, mesh_of(ax).norm.vmax) for ax in maps} == {(0.0, gap_of("baseline", 4))}
    (bar,) = [ax for ax in figure.axes if ax not in maps]
    assert bar.get_ylabel() == "gap to the bound for these chunks [%]"
    figure.draw_without_rendering()
    assert bar.get_position().x0 > maps[-1].get_position().x1
    with pytest.raises(InputError, match=r"--panels: .*did you mean 'chunks'"):
        panels(study, "chunk", draw)


def test_names_are_text_and_bytes_are_the_same(tmp_path: Path) -> None:
    def written(name: str) -> bytes:
        with house_style():
            save_picture(figure_of(sweep(table(), only={"chunks": 4})), tmp_path / name)
        return (tmp_path / name).read_bytes()

    assert written("a.svg") == written("b.svg")
    ax = sweep(table(), only={"chunks": 4})
    legend = ax.get_legend()
    assert legend is not None
    assert not any(text.get_parse_math() for text in legend.get_texts())
    assert not any(title.get_parse_math() for title in [ax.title, ax._left_title] if title.get_text())


def figure_of(ax: Axes) -> Figure:
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    return figure


def test_dimensions_are_counted_from_one() -> None:
    column = Column("dimensions[0].bandwidth_Bps", "dimensions[0].bandwidth", "B/s", Role.AXIS, True)
    rows = tuple(
        StudyRow({column.name: bandwidth, "gap": 0.1}, "heuristic", 0.1)
        for bandwidth in (10**11, 2 * 10**11, 3 * 10**11)
    )
    ax = sweep(StudyTable("s", "", (column, COLUMNS["gap"]), rows), y="gap")
    assert ax.get_xlabel() == "dim1 bandwidth"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100 GB/s", "200 GB/s", "300 GB/s"]
    assert ax.get_ylabel() == "gap to the bound for these chunks [%]"


SPLITS = ("4:1", "1:1", "10:1", "1:4")


def words(splits: tuple[str, ...] = SPLITS, chunks: tuple[int, ...] = CHUNKS) -> StudyTable:
    """Return a study over words, whose order is neither theirs in the alphabet nor in numbers."""
    column = Column("bandwidth_split", "bandwidth_split", "", Role.AXIS, False)
    rows = tuple(
        StudyRow(
            {
                "bandwidth_split": split,
                "chunks": count,
                "scheduler": scheduler,
                "makespan_ps": (SPLITS.index(split) + 2) * 10**6,
                "gap": 0.1 * SPLITS.index(split),
            },
            "heuristic",
            0.1,
        )
        for split in splits
        for count in chunks
        for scheduler in ("baseline", "themis-scf")
    )
    metrics = (COLUMNS["makespan"], COLUMNS["gap"])
    return StudyTable("s", "", (column, COLUMNS["chunks"], COLUMNS["scheduler"], *metrics), rows)


@pytest.mark.parametrize("x", [None, "bandwidth_split"])
def test_words_are_equally_spaced_in_the_order_of_the_study(x: str | None) -> None:
    """Without being asked for, too, where no number varies."""
    ax = sweep(words(chunks=(4,)), x=x)
    assert lines_of(ax)["baseline"] == ([0, 1, 2, 3], [2e6, 3e6, 4e6, 5e6])
    assert lines_of(ax)["bound"] == ([0, 1, 2, 3], pytest.approx([2e6, 3e6 / 1.1, 4e6 / 1.2, 5e6 / 1.3]))
    assert [(label.get_position()[0], label.get_text()) for label in ax.get_xticklabels()] == list(enumerate(SPLITS))
    assert ax.get_xlabel() == "bandwidth split"
    assert ax.get_xscale() == "linear"
    assert sweep(words(), only={"bandwidth_split": "1:1"}).get_xlabel() == "number of chunks"


def test_words_keep_their_order_where_rows_are_left_out() -> None:
    study = words(chunks=(4,))
    ax = sweep(StudyTable("s", "", study.columns, (study.rows[3], study.rows[0], study.rows[7])), only={"chunks": 4})
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1:1", "4:1", "1:4"]
    turned = sweep(words(chunks=(4,)), ax=new_axes(2.0, 3.0))
    assert {label.get_rotation() for label in turned.get_xticklabels()} == {40}


def test_schedulers_alone_are_drawn_side_by_side() -> None:
    study = words(("4:1",), (4,))
    bound = StudyRow({**study.rows[0].values, "scheduler": "bound", "makespan_ps": None}, "bound", 0.1)
    ax = sweep(StudyTable("s", "", study.columns, (bound, *study.rows)))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["baseline", "themis-scf"]
    assert ax.get_xlabel() == "scheduler"


def test_in_a_map_the_first_word_is_at_the_top() -> None:
    ax = gap_map(words(), x="chunks", y="bandwidth_split", scheduler="baseline")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(SPLITS)
    assert ax.get_ylim() == (3.5, -0.5)  # downwards
    assert mesh_of(ax).get_array()[:, 0].tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert gap_map(words(), y="chunks", scheduler="baseline").get_ylim() == (-0.5, 2.5)  # numbers grow upwards


def test_what_the_panels_show_is_no_axis() -> None:
    """The first word that varies is the panels' own: each has one value of it."""
    ax = sweep(words(chunks=(4,)), only={"bandwidth_split": "1:1", "chunks": 4})
    assert ax.get_xlabel() == "scheduler"
    with pytest.raises(InputError, match="a map needs two axes that vary"):
        gap_map(words(), only={"chunks": 4}, scheduler="baseline")


def test_panels_share_their_ticks() -> None:
    """The one beside the legend too, and one whose rows have other values."""
    sizes = tuple(100 * 2**20 * number for number in range(1, 11))
    study = table(sizes=sizes)
    rows = tuple(row for row in study.rows if row.values["chunks"] != 16 or row.values["size_bytes"] == sizes[0])
    study = StudyTable("s", "", study.columns, rows)
    shared = common_values(study, "chunks")
    assert shared == list(sizes)

    def draw(*, only: dict[str, Value], ax: Axes, title: str, is_corner: bool) -> Axes:
        return sweep(study, only=only, ax=ax, title=title, legend=is_corner, x_values=shared)

    axes = panels(study, "chunks", draw).axes
    ticks = [[(label.get_position()[0], label.get_text()) for label in ax.get_xticklabels()] for ax in axes]
    assert len(axes) == 3
    assert len(ticks[0]) >= 3
    assert ticks[0] == ticks[1] == ticks[2]
    assert len({ax.get_xlim() for ax in axes}) == 1


def test_a_bound_uses_up_no_colour() -> None:
    study = table(schedulers=("baseline", "$auto$"))
    bounds = [
        StudyRow({**row.values, "scheduler": "bound", "makespan_ps": None, "gap": None}, "bound", 0.1)
        for row in study.rows
        if row.values["scheduler"] == "baseline"
    ]
    bounded = StudyTable("s", "", study.columns, (*study.rows[::2], *bounds, *study.rows[1::2]))  # $auto$ after bound

    def looks(one: StudyTable, y: str) -> dict[str, tuple[object, ...]]:
        ax = sweep(one, only={"chunks": 16}, y=y)
        return {str(line.get_label()): (line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}

    assert looks(bounded, "makespan") == looks(study, "makespan")
    over = looks(bounded, "bound")  # where the bound is a line of its own
    assert over["$auto$"] == looks(study, "bound")["$auto$"]
    assert over["bound"][0] not in COLORS


def test_a_line_looks_the_same_where_others_are_left_out() -> None:
    study = table(failed=lambda size, chunks, scheduler: scheduler == "baseline")
    lines = {line.get_label(): line.get_color() for line in sweep(study, only={"chunks": 4}).lines}
    assert lines["themis-scf"] == COLORS[1]


def test_rows_of_bounds_are_no_points_but_count_as_bounds() -> None:
    """A study may ask for bounds alone: they draw no line, and nobody calls them failed."""
    study = table(("gap",))
    bounds = [
        StudyRow({**row.values, "scheduler": "bound", "makespan_ps": None, "busbw_Bps": None}, "bound", 0.1)
        for row in study.rows
        if row.values["scheduler"] == "baseline"
    ]
    points = [StudyRow({**row.values, "bound_ps": None}, row.status, 0.1) for row in study.rows]
    ax = sweep(StudyTable("s", "", study.columns, (*points, *bounds)), only={"chunks": 16})
    assert list(lines_of(ax)) == ["baseline", "themis-scf", "$auto$", "bound"]
    assert lines_of(ax)["bound"][1] == [float(bound_of(size, 16)) for size in SIZES]
    assert ax.get_xlabel() == "size per NPU"
