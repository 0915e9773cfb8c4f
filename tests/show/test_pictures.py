"""Pictures of schedules: what is drawn is what the simulator says, and nothing that a file says is markup."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, StepPatch
from matplotlib.text import Text

import themis_opt
from themis_opt import Collective, Dimension, Instance, Network, Schedule, Topology, simulate
from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Occupancy
from themis_opt.show.pictures import Subject, loads, save_picture, timeline, utilization
from themis_opt.show.pictures.boxes import HATCH
from themis_opt.show.pictures.canvas import house_style, new_axes
from themis_opt.show.pictures.dimension_rows import IDLE_COLOR, LINE_COLOR
from themis_opt.show.pictures.scales import chunk_colors, plain_label, round_ticks, scale_for
from themis_opt.show.pictures.utilization import window_edges, window_utilization
from themis_opt.timing import metrics


def pair(latency_ps: int = 0, name: str = "pair", **fields: object) -> Instance:
    """Two NPUs, 1 GB/s: a chunk of 1000 B sends 500 B in each phase, which takes 500 ns."""
    dimension = Dimension(Topology.RING, 2, Fraction(10**9), Fraction(latency_ps))
    chosen: dict[str, object] = {"size_bytes": 2000, "num_chunks": 2, **fields}
    return Instance(Network(name, (dimension,)), **chosen)  # type: ignore[arg-type]


def shipped(name: str, **fields: object) -> Instance:
    network = themis_opt.load_network(name)
    return Instance(network, Collective.ALL_REDUCE, **fields)  # type: ignore[arg-type]


def boxes_of(ax: Axes) -> list[tuple[float, float, float, float]]:
    """Return left, right, upper edge and lower edge of every stage's box, sorted."""
    corners = [path.vertices[:4] for found in ax.collections if is_boxes(found) for path in found.get_paths()]
    return sorted((c[0, 0], c[1, 0], c[0, 1], c[2, 1]) for c in corners)


def is_boxes(artist: object) -> bool:
    return isinstance(artist, PolyCollection) and artist.get_zorder() == 2


def backgrounds_of(ax: Axes) -> list[PolyCollection]:
    return [found for found in ax.collections if to_hex(found.get_facecolor()[0]) == IDLE_COLOR]


def hatched_of(ax: Axes) -> list[tuple[float, float]]:
    """Return left and right of every hatched box, sorted."""
    spans = []
    for patch in ax.get_children():
        if isinstance(patch, PathPatch) and patch.get_hatch() == HATCH:
            for corners in patch.get_path().vertices.reshape(-1, 5, 2):
                spans.append((corners[0, 0], corners[1, 0]))
    return sorted(spans)


def lines_at(ax: Axes, color: str = LINE_COLOR) -> list[float]:
    return [line.get_xdata()[0] for line in ax.lines if line.get_color() == color]


def texts_of(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def spans_of(schedule: Schedule, phases: tuple[Phase, ...] = tuple(Phase)) -> list[tuple[float, float]]:
    """Return from when to when each stage holds its dimension, by the simulator's own table."""
    found = simulate(schedule.instance, schedule)
    return sorted(
        (float(start), float(start + hold))
        for path, holds, starts in zip(found.table.paths, found.table.holds, found.starts, strict=True)
        for (phase, _), hold, start in zip(path, holds, starts, strict=True)
        if phase in phases
    )


def test_a_chart_by_hand() -> None:
    """One dimension and no latency: four stages of 500 ns without a pause, and the bound of 2 us is met."""
    schedule = themis_opt.schedule(pair(), "baseline")
    ax = timeline({"mine": schedule})
    assert [(left, right) for left, right, _, _ in boxes_of(ax)] == [
        (0, 500_000), (500_000, 1_000_000), (1_000_000, 1_500_000), (1_500_000, 2_000_000),
    ]  # fmt: skip
    assert lines_at(ax) == [2_000_000]
    assert "mine: 2 chunks, makespan 2 us, as short as its bound" in texts_of(ax)
    assert "bound 2 us" in texts_of(ax)
    assert ax.get_xlabel() == "time [us]"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["dim1"]
    assert sorted(text for text in texts_of(ax) if text in ("0", "1")) == ["0", "0", "1", "1"]  # numbers in the boxes


def test_pipelined_boxes_are_transfers_only() -> None:
    """The latency of 100 ns passes while the dimension serves others: the boxes stay 500 ns long."""
    schedule = themis_opt.schedule(pair(100_000, occupancy=Occupancy.PIPELINED, num_chunks=1, size_bytes=1000))
    ax = timeline({"mine": schedule})
    assert [(left, right) for left, right, _, _ in boxes_of(ax)] == [(0, 500_000), (600_000, 1_100_000)]
    (background,) = backgrounds_of(ax)
    assert background.get_paths()[0].vertices[:, 0].max() == 1_200_000  # the last latency is idle time too


@pytest.mark.parametrize("occupancy", list(Occupancy))
@pytest.mark.parametrize("num_chunks", [1, 7, 64, 512])
def test_every_stage_is_a_box_where_the_simulator_has_it(num_chunks: int, occupancy: Occupancy) -> None:
    instance = shipped("4d-ring-sw-sw-sw", num_chunks=num_chunks, occupancy=occupancy)
    schedule = themis_opt.schedule(instance, "themis-scf")
    ax = timeline({"themis-scf": schedule})
    boxes = boxes_of(ax)
    assert len(boxes) == num_chunks * 8
    assert [box[:2] for box in boxes] == spans_of(schedule)
    assert hatched_of(ax) == spans_of(schedule, (Phase.ALL_GATHER,))
    assert len(ax.collections) + len(ax.patches) < 12  # and not an artist each


@pytest.mark.parametrize("collective", [Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_TO_ALL])
def test_only_all_gather_is_hatched_and_explained(collective: Collective) -> None:
    schedule = themis_opt.schedule(pair(collective=collective), "baseline")
    ax = timeline({"baseline": schedule})
    assert hatched_of(ax) == (spans_of(schedule) if collective is Collective.ALL_GATHER else [])
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text().lower() for text in legend.get_texts()][:-1] == [str(collective), "idle"]


def test_boxes_stand_in_the_row_of_their_dimension_in_the_colour_of_their_chunk() -> None:
    instance = shipped("3d-fc-ring-sw", num_chunks=5)
    schedule = themis_opt.schedule(instance, "themis-scf")
    subject = Subject.of("mine", schedule)
    ax = timeline([subject])
    row_of = {label.get_text(): y for y, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    colors = {tuple(color): chunk for chunk, color in enumerate(np.round(chunk_colors(5), 6))}
    drawn = set()
    for collection in filter(is_boxes, ax.collections):
        for path, color in zip(collection.get_paths(), collection.get_facecolors(), strict=True):
            left, upper, lower = path.vertices[0, 0], path.vertices[0, 1], path.vertices[2, 1]
            drawn.add((colors[tuple(np.round(color[:3], 6))], round((upper + lower) / 2, 6), left))
    assert drawn == {
        (stage.chunk, round(row_of[f"dim{stage.dimension + 1}"], 6), float(stage.start_ps))
        for stage in subject.timeline.stages
    }


def test_schedules_stand_under_each_other_on_one_axis() -> None:
    instance = shipped("3d-fc-ring-sw", num_chunks=4)
    schedules = {name: themis_opt.schedule(instance, name) for name in ("baseline", "themis-scf", "round-robin")}
    ax = timeline(schedules)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # downwards
    assert [label.get_text() for label in ax.get_yticklabels()] == ["dim1", "dim2", "dim3"] * 3
    assert sorted(ax.get_yticks()) == list(ax.get_yticks())
    assert len(lines_at(ax)) == 3
    assert len(boxes_of(ax)) == 3 * 4 * 6
    latest = max(schedule.makespan_ps or 0 for schedule in schedules.values())
    assert latest <= ax.get_xlim()[1] <= 1.05 * latest
    ends = [background.get_paths()[0].vertices[:, 0].max() for background in backgrounds_of(ax)]
    assert ends == [schedule.makespan_ps for schedule in schedules.values()]


def test_narrow_boxes_have_no_edges_and_no_numbers() -> None:
    schedule = themis_opt.schedule(shipped("4d-ring-sw-sw-sw", num_chunks=512), "baseline")
    ax = timeline({"baseline": schedule})
    assert all(collection.get_linewidth()[0] == 0 for collection in filter(is_boxes, ax.collections))
    assert len(ax.texts) == 2  # the heading and the bound


def test_what_closes_seams_covers_no_idle_time() -> None:
    """Below narrow boxes that follow each other, never between boxes that do not."""
    schedule = themis_opt.schedule(shipped("4d-ring-sw-sw-sw", num_chunks=512), "themis-scf")
    subject = Subject.of("mine", schedule)
    ax = timeline([subject])
    (seams,) = [c for c in ax.collections if isinstance(c, PolyCollection) and c.get_zorder() == 1.5]
    row_of = {label.get_text(): y for y, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    idle = {
        round(row_of[f"dim{k + 1}"], 6): np.array(use.idle_gaps or [(-1, -1)], dtype=float)
        for k, use in enumerate(subject.timeline.dimensions)
    }
    for path in seams.get_paths():
        corners = path.vertices
        gaps = idle[round((corners[0, 1] + corners[2, 1]) / 2, 6)]
        overlap = np.minimum(gaps[:, 1], corners[1, 0]) - np.maximum(gaps[:, 0], corners[0, 0])
        assert overlap.max() <= 0


def test_given_axes_are_drawn_into_and_returned() -> None:
    figure = Figure(figsize=(8, 9), layout="constrained")
    upper, lower = figure.subplots(2)
    schedule = themis_opt.schedule(pair(), "baseline")
    assert timeline({"a": schedule}, ax=upper) is upper
    assert utilization({"a": schedule}, ax=lower) is lower
    assert loads({"a": schedule}).get_figure() is not figure


def test_loads_are_bytes_over_bandwidth() -> None:
    """By hand: 2 chunks of 500 ns in each of two phases; the balance of a single dimension is its load."""
    schedule = themis_opt.schedule(pair(100_000), "baseline")
    ax = loads({"mine": schedule})
    assert [(left, right) for left, right, _, _ in boxes_of(ax)] == [
        (0, 500_000), (500_000, 1_000_000), (1_000_000, 1_500_000), (1_500_000, 2_000_000),
    ]  # fmt: skip
    assert hatched_of(ax) == [(500_000, 1_000_000), (1_500_000, 2_000_000)]  # by chunk, Reduce-Scatter first
    assert "mine: 2 chunks, most on dim1, 1.00 times the balance" in texts_of(ax)
    assert {"2 us", "balance 2 us"} <= set(texts_of(ax))


def test_loads_end_where_the_bytes_say() -> None:
    instance = shipped("3d-fc-ring-sw", num_chunks=16)
    subject = Subject.of("themis-scf", themis_opt.schedule(instance, "themis-scf"))
    ax = loads([subject])
    ends: dict[float, float] = {}
    for _, right, upper, lower in boxes_of(ax):
        middle = round((upper + lower) / 2, 6)
        ends[middle] = max(ends.get(middle, 0.0), right)
    expected = [
        float(use.sent_bytes * 10**12 / dimension.bandwidth_Bps)
        for use, dimension in zip(subject.timeline.dimensions, instance.network.dimensions, strict=True)
    ]
    assert list(dict(sorted(ends.items())).values()) == pytest.approx(expected)


def test_a_bound_far_beyond_the_loads_is_named_and_not_drawn() -> None:
    schedule = themis_opt.schedule(pair(10**9), "baseline")  # a millisecond of latency beside microseconds of bytes
    ax = loads({"mine": schedule})
    assert lines_at(ax) == []
    assert any(text.startswith("bound ") and text.endswith("\N{RIGHTWARDS ARROW}") for text in texts_of(ax))
    assert ax.get_xlim()[1] < 3 * 10**6


def crossed(ax: Axes, texts: list[Text]) -> list[str]:
    """Return the texts that a vertical line passes through."""
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    found = []
    for text in texts:
        box = text.get_window_extent()
        for line in ax.lines:
            (x, low), (_, high) = ax.transData.transform(np.column_stack(line.get_data()))
            if box.x0 < x < box.x1 and min(low, high) < (box.y0 + box.y1) / 2 < max(low, high):
                found.append(text.get_text())
    return found


@pytest.mark.parametrize("num_chunks", [4, 8, 16])
@pytest.mark.parametrize("draw", [loads, timeline])
def test_lines_cross_neither_numbers_nor_lengths(draw: Callable[..., Axes], num_chunks: int) -> None:
    instance = shipped("3d-fc-ring-sw", num_chunks=num_chunks)
    schedules = {name: themis_opt.schedule(instance, name) for name in ("baseline", "themis-fifo", "themis-scf")}
    ax = draw(schedules)
    texts = [text for text in ax.texts if text.get_text()[0].isdigit()]
    assert len([text for text in texts if text.get_text().isdigit()]) > 10
    assert crossed(ax, texts) == []


@pytest.mark.parametrize(
    ("num_chunks", "ticks"),
    [
        (512, [0, 128, 256, 384, 511]),
        (64, [0, 16, 32, 48, 63]),
        (17, [0, 5, 10, 16]),
        (100, [0, 20, 40, 60, 80, 99]),
        (200, [0, 50, 100, 150, 199]),
        (1000, [0, 200, 400, 600, 800, 999]),
        (2, [0, 1]),
    ],
)
def test_colour_bars_name_round_numbers(num_chunks: int, ticks: list[int]) -> None:
    assert round_ticks(num_chunks) == ticks


def test_the_colour_bar_of_many_chunks_has_them() -> None:
    ax = timeline({"baseline": themis_opt.schedule(shipped("2d-sw-sw", num_chunks=512), "baseline")})
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    (bar,) = [one for one in figure.axes if one is not ax]
    assert list(bar.get_yticks()) == [0, 128, 256, 384, 511]


def test_utilization_by_hand() -> None:
    """500 ns of transfer in a stage of 600 ns, twice: half of it in the first window of 300 ns, and so on."""
    schedule = themis_opt.schedule(pair(100_000, num_chunks=1, size_bytes=1000), "baseline")
    subject = Subject.of("mine", schedule)
    assert subject.makespan_ps == 1_200_000
    edges = window_edges(subject, 500_000.0)
    assert edges.tolist() == [0, 500_000, 1_000_000, 1_200_000]  # the last window ends with the schedule
    used = window_utilization(subject, edges)
    assert used == pytest.approx(np.full((2, 3), 5 / 6))  # a stage's bytes are spread over all the time it holds
    pipelined = Subject.of(
        "p", themis_opt.schedule(pair(100_000, num_chunks=1, size_bytes=1000, occupancy="pipelined"))
    )
    assert window_utilization(pipelined, edges)[0] == pytest.approx([1.0, 0.8, 0.5])


@pytest.mark.parametrize("occupancy", list(Occupancy))
def test_utilization_adds_up_to_the_reported_figures(occupancy: Occupancy) -> None:
    instance = shipped("4d-ring-sw-sw-sw", num_chunks=32, occupancy=occupancy)
    subject = Subject.of("mine", themis_opt.schedule(instance, "themis-fifo"))
    edges = window_edges(subject, subject.makespan_ps / 37.3)
    used = window_utilization(subject, edges)
    assert used.min() >= 0
    assert used.max() <= 1 + 0.5 / subject.stages.hold_ps.min()  # transfers are whole picoseconds, bytes are exact
    means = (used * np.diff(edges)).sum(axis=1) / subject.makespan_ps
    per_dimension = [
        themis_opt.timing.metrics.dimension_utilization(instance, k, use.sent_bytes, subject.makespan_ps)
        for k, use in enumerate(subject.timeline.dimensions)
    ]
    assert means == pytest.approx([*per_dimension, metrics.bw_utilization(instance, subject.makespan_ps)])
    ax = utilization([subject])
    assert len([patch for patch in ax.patches if isinstance(patch, StepPatch)]) == 5
    assert [text for text in texts_of(ax) if text.startswith("mean ")] == [f"mean {mean:.1%}" for mean in means]


def test_names_are_text(tmp_path: Path) -> None:
    """Neither mathematics nor markup nor a command; a name without an end is shortened."""
    name = r"$\frac{1}{0}$ <script>_^{ " + "x" * 200
    schedule = themis_opt.schedule(pair(name=name), "baseline")
    with house_style():
        for draw in (timeline, utilization, loads):
            ax = draw({name + "\x1b[31m\n": schedule})
            (heading,) = [text for text in texts_of(ax) if text.startswith(r"$\frac{1}{0}$")]
            assert "\n" not in heading
            assert len(heading) < 120
            assert ax.get_title(loc="left").startswith(r"$\frac{1}{0}$")
            named = [text for text in ax.findobj(Text) if "frac" in text.get_text()]
            assert len(named) == 2
            assert not any(text.get_parse_math() for text in named)
            save_picture(ax.get_figure(), tmp_path / "odd.svg")


def test_what_a_font_lacks_is_no_warning(tmp_path: Path) -> None:
    save_picture(timeline({"网络": themis_opt.schedule(pair(), "baseline")}).get_figure(), tmp_path / "x.png")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_picture_has_the_same_bytes(ending: str, tmp_path: Path) -> None:
    schedules = {"baseline": themis_opt.schedule(shipped("3d-fc-ring-sw", num_chunks=3), "baseline")}
    written = []
    for run, settings in enumerate(({}, {"font.size": 20.0, "svg.hashsalt": None, "axes.facecolor": "red"})):
        with matplotlib.rc_context(settings), house_style():  # whatever the user's own settings are
            save_picture(timeline(schedules).get_figure(), tmp_path / f"{run}.{ending}")
        written.append((tmp_path / f"{run}.{ending}").read_bytes())
    assert written[0] == written[1]
    assert b"Date" not in written[0]


def test_no_setting_of_matplotlib_is_left_behind(tmp_path: Path) -> None:
    # Not the backend: to look at it is to choose one.
    before = {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}
    with house_style():
        assert matplotlib.rcParams["svg.hashsalt"] != before["svg.hashsalt"]
        save_picture(timeline({"a": themis_opt.schedule(pair(), "baseline")}).get_figure(), tmp_path / "a.svg")
    assert {name: matplotlib.rcParams[name] for name in before} == before


def test_a_picture_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "x.png"
    target.write_bytes(b"old")
    figure = timeline({"a": themis_opt.schedule(pair(), "baseline")}).get_figure()

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("os.replace", fail)
        with pytest.raises(InputError, match=r"x\.png: cannot be written: No space left on device"):
            save_picture(figure, target)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.png"]
    save_picture(figure, target)
    assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.jpg", r"'.*x\.jpg' ends in '\.jpg'; a picture's file ends in one of: \.png, \.svg, \.pdf"),
        ("x.pgn", r"did you mean '\.png'\?"),
        ("x", r"'.*x' has no ending"),
    ],
)
def test_endings(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        save_picture(new_axes(2, 2).get_figure(), tmp_path / name)


def test_a_picture_may_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("themis_opt.show.pictures.canvas.MAX_PIXELS", 10_000)
    with pytest.raises(InputError, match="would have 300 x 150 pixels; at most 10000 are possible"):
        save_picture(new_axes(3, 1.5).get_figure(), tmp_path / "x.png", dpi=100)
    with pytest.raises(InputError, match="dpi is 5; allowed are 30 to 1200"):
        save_picture(new_axes(5, 5).get_figure(), tmp_path / "x.png", dpi=5)


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"^plotting needs matplotlib: pip install 'themis-opt\[plot\]'$"):
        timeline({"a": themis_opt.schedule(pair(), "baseline")})


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="there is nothing to draw"):
        timeline({})
    with pytest.raises(InputError, match="dimensions do not fit one picture"):
        timeline([Subject.of("a", themis_opt.schedule(pair(), "baseline"))] * 241)
    with pytest.raises(InputError, match=r"window is 1 ps: 2\.0000 us has more than 20000"):
        utilization({"a": themis_opt.schedule(pair(), "baseline")}, window_ps=1)
    with pytest.raises(InputError, match="must be above zero"):
        utilization({"a": themis_opt.schedule(pair(), "baseline")}, window_ps=0)


@pytest.mark.parametrize(
    ("unit", "largest", "label"),
    [
        ("ps", 999, "time [ps]"),
        ("ps", 1_000, "time [ns]"),
        ("ps", 1_000_000, "time [us]"),
        ("ps", 10**15, "time [s]"),
        ("B/s", 2 * 10**11, "time [GB/s]"),
        ("B", 5 * 10**6, "time [MB]"),
        ("", 5, "time"),
        ("ps", 0, "time [ps]"),
    ],
)
def test_units_of_axes(unit: str, largest: float, label: str) -> None:
    assert scale_for(unit, largest).of("time") == label


def test_long_labels_keep_both_ends() -> None:
    assert plain_label("a" * 30 + "z" * 30, 20) == "aaaaa...zzzzzzzzzzzz"
    assert plain_label("tab\there") == "tab\\there"
