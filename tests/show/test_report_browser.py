"""Reports in headless Chromium: they load without a complaint, and every interaction does what it says."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import browser
import pytest
from browser import Browser, chromium, require_chromium
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from test_report import HOSTILE, comparison, network, study

from themis_opt import Dimension, Instance, Network, Topology, schedule, simulate
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.units import format_time
from themis_opt.questions.comparison_file import ComparisonFile
from themis_opt.show.report.report import comparison_report, schedule_report, study_report

pytestmark = pytest.mark.slow

SCHEDULERS = ("baseline", "themis-fifo", "themis-scf", "round-robin")
INSTANCE = Instance(network(), size_bytes=8_000_000, num_chunks=4)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four reports: four schedulers on one instance, one of two networks and sizes, a study, hostile names."""
    made = tmp_path_factory.mktemp("reports")
    several = [Instance(network(name), size_bytes=size, num_chunks=4) for name in "ab" for size in (10**6, 10**7)]
    texts = {
        "one": comparison_report(comparison(INSTANCE, schedulers=SCHEDULERS)),
        "several": comparison_report(comparison(*several)),
        "study": study_report(study("baseline", "themis-scf", "auto")),
    }
    for name, text in texts.items():
        (made / f"{name}.html").write_text(text)
    return made


@pytest.fixture
def page(window: Browser, folder: Path) -> Iterator[Browser]:
    """The report of four schedulers, on a desktop in light colours; it must not complain of anything."""
    yield from opened(window, folder / "one.html")


@pytest.fixture
def several(window: Browser, folder: Path) -> Iterator[Browser]:
    """The report of several instances, likewise."""
    yield from opened(window, folder / "several.html")


def opened(window: Browser, path: Path) -> Iterator[Browser]:
    window.resize(1280, 1000)
    window.prefer(prefers_color_scheme="light")
    window.open(path)
    yield window
    assert window.errors() == []


def sees(page: Browser, selector: str) -> None:
    page.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)


def set_value(page: Browser, identifier: str, value: str | int, event: str = "change") -> None:
    """Give a control a value, as its user would."""
    page.run(
        """const [id, value, event] = arguments;
        const control = document.getElementById(id);
        control.value = value;
        control.dispatchEvent(new Event(event));""",
        identifier,
        value,
        event,
    )


def show(page: Browser, row: int) -> None:
    """Switch to the schedule of a row."""
    page.run("arguments[0].click()", page.one(f"#schedules input[value='{row}']"))
    page.wait("return document.querySelector('#results tr.selected').dataset.row === arguments[0]", str(row))


def press(page: Browser, *keys: str) -> None:
    for key in keys:
        ActionChains(page.driver).send_keys(key).perform()


def focused(page: Browser) -> str:
    return str(page.run("return document.activeElement.id || document.activeElement.textContent"))


def span(page: Browser, plot: str = "gantt") -> list[float]:
    range_ = page.run("return document.getElementById(arguments[0])._fullLayout.xaxis.range", plot)
    return [float(end) for end in range_]


def facts(page: Browser, selector: str) -> dict[str, str]:
    """Return names and values of the description list in an element."""
    names, values = page.texts(f"{selector} dt"), page.texts(f"{selector} dd")
    return dict(zip(names, values, strict=True))


def spot(page: Browser, lane: int, time: float) -> tuple[int, int]:
    """Return where on the screen a dimension has a time, in the units of the axis."""
    x, y = page.run(
        """const gantt = document.getElementById("gantt"), {xaxis, yaxis} = gantt._fullLayout;
        const box = gantt.getBoundingClientRect();
        const [lane, time] = arguments;
        return [box.left + xaxis._offset + xaxis.l2p(time), box.top + yaxis._offset + yaxis.l2p(lane)];""",
        lane,
        time,
    )
    return round(x), round(y)


def move_to(page: Browser, place: tuple[int, int], *, click: bool = False) -> None:
    """Point at a place of the screen, from beside it, as a hand does."""
    x, y = place
    actions = ActionChains(page.driver, duration=20)
    actions.w3c_actions.pointer_action.move_to_location(x - 2, y)
    actions.w3c_actions.pointer_action.move_to_location(x, y)
    if click:
        actions.w3c_actions.pointer_action.click()
    actions.perform()


def stage_of(scheduler: str, chunk: int, position: int) -> tuple[int, str, float, Any]:
    """Return lane, phase, middle [us] and times of a stage of the instance under a scheduler."""
    made = schedule(INSTANCE, scheduler)
    stages = [stage for stage in simulate(INSTANCE, made).stages if stage.chunk == chunk]
    stage = stages[position]
    return stage.dimension, stage.phase.value.upper(), (stage.start_ps + stage.end_ps) / 2e9, stage


def test_four_schedulers_load_without_a_complaint(page: Browser) -> None:
    assert page.run("return document.querySelectorAll('#gantt .heatmaplayer image').length") == 2
    assert page.run("return document.querySelectorAll('#use .scatterlayer .trace').length") == 2
    assert len(page.texts("#schedules label")) == 4
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")


def test_headings_sort_the_table(page: Browser) -> None:
    makespans = {row: simulate(INSTANCE, schedule(INSTANCE, row)).makespan_ps for row in SCHEDULERS}
    heading = "#results thead th:nth-child(3)"
    assert page.texts(f"{heading} button") == ["makespan"]
    page.one(f"{heading} button").click()
    assert page.one(heading).get_attribute("aria-sort") == "ascending"
    # Equal ones stay in the order of the command.
    assert page.texts("#results tbody th") == sorted(SCHEDULERS, key=makespans.__getitem__)
    page.one(f"{heading} button").send_keys(Keys.ENTER)
    assert page.one(heading).get_attribute("aria-sort") == "descending"
    assert [makespans[name] for name in page.texts("#results tbody th")] == sorted(makespans.values(), reverse=True)
    page.one("#results thead th:nth-child(1) button").click()
    assert page.one(heading).get_attribute("aria-sort") is None
    assert page.texts("#results tbody th") == sorted(SCHEDULERS)


def test_schedules_switch_by_button_and_by_row(page: Browser) -> None:
    for name in SCHEDULERS:
        show(page, SCHEDULERS.index(name))
        makespan = format_time(simulate(INSTANCE, schedule(INSTANCE, name)).makespan_ps)
        page.wait("return document.getElementById('legend').textContent.includes(arguments[0])", f"makespan {makespan}")
        assert page.texts("#results tr.selected th") == [name]
    sees(page, "#results")
    page.one("#results tbody tr:nth-child(1) td").click()
    page.wait("return document.querySelector('#schedules input:checked').value === '0'")
    assert page.one("#results tbody tr:nth-child(1) button").get_attribute("aria-pressed") == "true"


def test_zooming_by_mouse_and_buttons(page: Browser) -> None:
    sees(page, "#stages")
    full = span(page)
    left, right = spot(page, 0, 1.0), spot(page, 0, 3.0)
    actions = ActionChains(page.driver, duration=50)
    pointer = actions.w3c_actions.pointer_action
    pointer.move_to_location(*left).pointer_down()
    pointer.move_to_location((left[0] + right[0]) // 2, left[1])
    pointer.move_to_location(*right).pointer_up()
    actions.perform()
    page.wait_for(lambda: span(page) != full, "a zoom")
    assert span(page) == pytest.approx([1.0, 3.0], abs=0.05)
    # The other plot follows.
    page.wait_for(lambda: span(page, "use") == span(page), "the use")
    page.one("#zoom-in").click()
    page.wait_for(lambda: span(page) == pytest.approx([1.5, 2.5], abs=0.05), "half of it")
    page.one("#later").click()
    page.wait_for(lambda: span(page) == pytest.approx([2.0, 3.0], abs=0.05), "later times")
    page.one("#earlier").click()
    page.one("#zoom-out").click()
    page.wait_for(lambda: span(page) == pytest.approx([1.0, 3.0], abs=0.1), "twice as much")
    page.one("#zoom-all").click()
    page.wait_for(lambda: span(page) == pytest.approx(full), "everything")


@pytest.mark.parametrize(("chunk", "position"), [(0, 0), (1, 2), (3, 3)])
def test_pointing_at_a_stage_tells_everything_of_it(page: Browser, chunk: int, position: int) -> None:
    show(page, 0)
    sees(page, "#gantt")
    lane, phase, middle, stage = stage_of("baseline", chunk, position)
    move_to(page, spot(page, lane, middle))
    page.wait("return !document.getElementById('tip').hidden")
    told = facts(page, "#tip")
    assert told["chunk"] == f"{chunk} (4 in all)"
    assert told["stage"] == f"{position + 1} of 4: {phase} on dim{lane + 1}"
    assert told["start"].startswith(format_time(stage.start_ps))
    assert told["end"] == f"{format_time(stage.end_ps)} ({stage.end_ps} ps)"
    # 2 MB on dim1 (4 NPUs): three quarters of it are sent; then 0.5 MB on dim2 (2 NPUs): half of that.
    assert told["bytes sent"].startswith("1.5 MB" if lane == 0 else "250 KB")
    move_to(page, (5, 5))
    page.wait("return document.getElementById('tip').hidden")


def test_a_click_follows_a_chunk_across_the_dimensions(page: Browser) -> None:
    show(page, 0)
    sees(page, "#gantt")
    lane, _, middle, _ = stage_of("baseline", 2, 0)
    move_to(page, spot(page, lane, middle), click=True)
    page.wait("return document.getElementById('follow').textContent === 'Show all'")
    data = page.run("return document.getElementById('gantt').data.map(({type, opacity, x}) => ({type, opacity, x}))")
    assert [trace.get("opacity") for trace in data[:4]] == [0.16, 0.16, 1, 1]
    stages = [stage for stage in simulate(INSTANCE, schedule(INSTANCE, "baseline")).stages if stage.chunk == 2]
    for k in range(2):
        edges = [time / 1e9 for stage in stages if stage.dimension == k for time in (stage.start_ps, stage.end_ps)]
        assert data[2 + k]["x"] == pytest.approx(sorted(set(edges)))
    way = [time / 1e9 for stage in stages for time in (stage.start_ps, stage.end_ps)]
    assert data[4]["x"] == pytest.approx(way)
    assert facts(page, "#stage")["chunk"] == "2 (4 in all)"
    page.one("#follow").click()
    page.wait("return document.getElementById('gantt').data[0].opacity === 1")
    chosen = page.one("#chunk")
    chosen.clear()
    chosen.send_keys("99", Keys.TAB)
    page.wait("return document.getElementById('chunk').value === '3'")
    page.one("#follow").click()
    page.wait("return document.getElementById('gantt').data[0].opacity < 1")


def test_playing_moves_the_moment_and_pausing_holds_it(page: Browser) -> None:
    sees(page, "#stages")
    assert not page.one("#cursor").is_displayed()
    page.one("#play").click()
    page.wait("return Number(document.getElementById('moment').value) > 5")
    assert page.one("#play").text == "Pause"
    assert page.one("#cursor").is_displayed()
    page.one("#play").click()
    held = page.run("return document.getElementById('cursor').style.transform")
    now = page.texts("#now span")
    assert now[0].startswith("at ")
    assert [part.split(":")[0] for part in now[1:]] == ["dim1", "dim2"]
    page.run("return new Promise((done) => setTimeout(done, 150))")
    assert page.run("return document.getElementById('cursor').style.transform") == held
    set_value(page, "speed", "4")
    page.one("#play").click()
    page.wait("return document.getElementById('play').textContent === 'Play'")  # at the end
    assert page.run("return document.getElementById('moment').value") == "1000"


def test_the_slider_tells_what_every_dimension_does(page: Browser) -> None:
    show(page, 0)
    made = simulate(INSTANCE, schedule(INSTANCE, "baseline"))
    for thousandth in range(0, 1000, 45):
        set_value(page, "moment", thousandth, "input")
        moment_ps = made.makespan_ps * thousandth / 1000
        expected = []
        for k in range(2):
            busy = [s for s in made.stages if s.dimension == k and s.start_ps <= moment_ps < s.end_ps]
            expected.append(
                f"dim{k + 1}: chunk {busy[0].chunk} {busy[0].phase.value.upper()}" if busy else f"dim{k + 1}: idle"
            )
        assert page.texts("#now > span")[1:] == expected


def test_less_motion_means_jumps(page: Browser) -> None:
    page.prefer(prefers_reduced_motion="reduce")
    set_value(page, "moment", 0, "input")
    page.run(
        """window.seen = new Set();
        new MutationObserver(() => seen.add(document.getElementById("cursor").style.transform))
          .observe(document.getElementById("cursor"), {attributes: true});"""
    )
    page.one("#play").click()
    page.wait("return seen.size >= 2")
    page.one("#play").click()
    moment = int(page.run("return document.getElementById('moment').value"))
    steps = page.run("return seen.size")
    # A 24th of what is shown at a time, not a bit more every frame.
    assert moment / steps > 20


def test_light_and_dark(page: Browser) -> None:
    def colours() -> tuple[str, str]:
        paper = page.run("return getComputedStyle(document.body).backgroundColor")
        return paper, page.run("return document.getElementById('gantt').layout.font.color")

    light = colours()
    page.one("[data-theme-choice='dark']").click()
    page.wait_for(lambda: colours()[1] != light[1], "dark plots")
    dark = colours()
    assert dark[0] != light[0]
    assert page.one("[data-theme-choice='dark']").get_attribute("aria-pressed") == "true"
    page.one("[data-theme-choice='light']").click()
    page.wait_for(lambda: colours() == light, "light plots")
    page.one("[data-theme-choice='auto']").click()
    page.prefer(prefers_color_scheme="dark")
    page.wait_for(lambda: colours() == dark, "what the user prefers")


def test_everything_can_be_reached_and_done_by_keyboard(page: Browser) -> None:
    """From the top of the page by Tab alone, to every control in turn; the focus is always to be seen."""
    page.run("document.activeElement.blur()")
    reached = []
    for _ in range(60):
        press(page, Keys.TAB)
        reached.append(focused(page))
        style = page.run(
            """const at = document.activeElement;
            const shown = at.matches("#schedules input") ? at.nextElementSibling : at;
            return [getComputedStyle(shown).outlineStyle, at.getClientRects().length];"""
        )
        assert style[0] != "none", reached[-1]
        assert style[1], reached[-1]
        if reached[-1] == "stages":
            break
    wanted = [
        "Skip to the content",
        "Auto",
        "makespan",
        "baseline",
        "zoom-in",
        "play",
        "moment",
        "speed",
        "chunk",
        "follow",
    ]
    places = [reached.index(name) for name in wanted]
    assert places == sorted(places)
    press(page, Keys.ARROW_RIGHT)
    page.wait("return document.querySelector('#stage dd')")
    assert facts(page, "#stage")["stage"].startswith("1 of 4")
    press(page, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert facts(page, "#stage")["stage"].startswith("2 of 4")
    assert facts(page, "#stage")["chunk"].startswith("1 ")
    press(page, Keys.END)
    assert facts(page, "#stage")["stage"].startswith("4 of 4")
    press(page, Keys.HOME, Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_UP)
    assert facts(page, "#stage")["stage"].startswith("1 of 4")
    assert facts(page, "#stage")["chunk"].startswith("0 ")
    full = span(page)
    press(page, "+")
    page.wait_for(lambda: span(page)[1] - span(page)[0] < 0.6 * (full[1] - full[0]), "a zoom")
    press(page, "0")
    page.wait_for(lambda: span(page) == pytest.approx(full), "everything")
    press(page, Keys.ENTER)
    page.wait("return document.getElementById('gantt').data[0].opacity < 1")
    press(page, Keys.ESCAPE)
    page.wait("return document.getElementById('gantt').data[0].opacity === 1")
    assert page.texts("#stage dd") == []
    press(page, Keys.SPACE)
    page.wait("return document.getElementById('play').textContent === 'Pause'")
    press(page, Keys.SPACE)
    page.wait("return document.getElementById('play').textContent === 'Play'")
    assert page.run("return document.activeElement.id") == "stages"
    # Back to the schedules: a group of one choice, which arrows go through.
    page.run("document.querySelector('#schedules input:checked').focus()")
    before = page.run("return document.querySelector('#schedules input:checked').value")
    press(page, Keys.ARROW_RIGHT)
    page.wait("return document.querySelector('#schedules input:checked').value !== arguments[0]", before)


@pytest.mark.parametrize("name", ["one", "several", "study"])
def test_a_phone_has_no_horizontal_scrolling(window: Browser, folder: Path, name: str) -> None:
    window.prefer(prefers_color_scheme="light")
    window.resize(360, 740)
    window.open(folder / f"{name}.html")
    assert window.run("return [document.documentElement.scrollWidth, document.body.scrollWidth]") == [360, 360]
    outside = window.run(
        """return [...document.querySelectorAll("main *, header *")].filter((node) => {
          if (node.closest(".scroll, pre, svg, .skip, .legend i")) return false;
          const box = node.getBoundingClientRect();
          return box.width > 0 && box.right > 361;
        }).map((node) => node.outerHTML.slice(0, 80));"""
    )
    assert outside == []
    assert window.errors() == []


def test_a_phone_keeps_what_describes_the_table_and_its_lines(window: Browser, folder: Path) -> None:
    window.prefer(prefers_color_scheme="light")
    window.resize(360, 740)
    window.open(folder / "several.html")
    # What says how to use the table is no part of what scrolls, and stands within the screen.
    caption, frame = window.run(
        """const box = (node) => {
          const {left, right, top, bottom} = node.getBoundingClientRect();
          return {left, right, top, bottom};
        };
        const table = document.getElementById("results");
        table.parentElement.scrollLeft = 200;
        return [box(document.getElementById(table.getAttribute("aria-describedby"))), box(table.parentElement)];"""
    )
    assert caption["bottom"] <= frame["top"]
    assert caption["left"] >= 0
    assert caption["right"] <= 360
    # Rows are whole pixels high, or the lines of the first column, which is drawn by itself, are one off.
    heights = window.run(
        "return [...document.querySelectorAll('#results tr')].map((row) => row.getBoundingClientRect().height)"
    )
    assert heights == [round(height) for height in heights]
    # Headings of several words do not make the head as high as a page.
    assert heights[0] <= 70
    assert window.errors() == []


def test_marks_of_lines_in_the_legend_have_room_on_both_sides(window: Browser, folder: Path) -> None:
    window.resize(360, 740)
    window.open(folder / "one.html")
    for name in ("key-end", "key-bound"):
        width, position, border = window.run(
            """const style = getComputedStyle(document.querySelector(`#legend .${arguments[0]}`));
            return [parseFloat(style.width), style.backgroundPosition, style.borderLeftWidth];""",
            name,
        )
        assert width >= 8
        assert (position, border) == ("50% 50%", "0px")


def test_points_and_rings_on_an_axis_are_whole(window: Browser, tmp_path: Path) -> None:
    """A gap of 0 % lies on the axis, and at the edge of what is drawn."""
    one = Instance(network(), size_bytes=10**6, num_chunks=1)
    runs = comparison(one, replace(one, size_bytes=10**7), schedulers=("baseline",))
    assert runs.runs[0].rows[0].gap == 0
    (tmp_path / "optimal.html").write_text(comparison_report(runs))
    for page in opened(window, tmp_path / "optimal.html"):
        page.run("document.querySelector('tr[data-row=\"0\"] button').click()")
        page.wait_for(lambda: [1, 0] in ringed(window, "gap"), "a ring at 0 %")
        told = page.run(
            """const marks = [...document.querySelectorAll("#gap .scatterlayer .point")];
            return marks.map((mark) => !mark.closest("[clip-path]"));"""
        )
        assert told == [True] * 3


def ringed(page: Browser, plot: str) -> list[list[float]]:
    """Return the places of the rings in a plot."""
    x, y = page.run("const {x, y} = document.getElementById(arguments[0]).data.at(-1); return [x, y]", plot)
    return [list(map(float, place)) for place in zip(x, y, strict=True)]


def runs_shown(page: Browser, section: str) -> list[str]:
    """Return the instances that a section speaks of now."""
    found = page.run(
        """const articles = document.querySelectorAll(`#${arguments[0]} article[data-run]:not([hidden])`);
        return [...articles].map((article) => article.dataset.run);""",
        section,
    )
    return list(found)


def chosen_axes(page: Browser) -> list[str]:
    """Return the values of the axes that the plots are not drawn across."""
    found = page.run(
        """const selects = document.querySelectorAll("#sweep-others select");
        return [...selects].map((select) => select.selectedOptions[0].textContent);"""
    )
    return list(found)


def test_rows_and_points_highlight_each_other(several: Browser) -> None:
    makespans = several.run("return document.getElementById('sweep').data.slice(0, 2).map(({x, y}) => [x, y])")
    sees(several, "#table")
    ActionChains(several.driver).move_to_element(several.one("tr[data-row='3'] td")).perform()
    # Row 3 is themis-scf at 10 MB: the second point of the second line.
    expected = [makespans[1][0][1], makespans[1][1][1]]
    several.wait_for(lambda: expected in ringed(several, "sweep"), "a ring")
    assert len(ringed(several, "gap")) == 2
    assert several.texts("tr.linked th") == ["themis-scf"]
    assert "size 10 MB" in several.one("#point").text
    # A row that has the focus is pointed at, too.
    several.run("document.querySelector('tr[data-row=\"1\"] button').focus()")
    several.wait_for(lambda: [makespans[1][0][0], makespans[1][1][0]] in ringed(several, "sweep"), "a ring")
    # And the other way round.
    sees(several, "#sweep")
    x, y = several.run(
        """const plot = document.getElementById("sweep"), {xaxis, yaxis} = plot._fullLayout;
        const box = plot.getBoundingClientRect(), {x, y} = plot.data[0];
        return [box.left + xaxis._offset + xaxis.d2p(x[1]), box.top + yaxis._offset + yaxis.d2p(y[1])];"""
    )
    move_to(several, (round(x), round(y)))
    several.wait("return document.querySelector('tr.linked')?.dataset.row === '2'")
    move_to(several, (round(x), round(y)), click=True)
    several.wait("return document.querySelector('tr.selected')?.dataset.row === '2'")
    several.wait("return document.getElementById('legend').textContent.includes('makespan')")
    several.wait_for(lambda: runs_shown(several, "summary") == ["1"], "the claim of its instance")


def test_a_selected_row_takes_timeline_claim_and_plots_along(several: Browser) -> None:
    before = chosen_axes(several)
    several.run("document.querySelector('tr[data-row=\"7\"] button').click()")
    several.wait("return document.querySelector('tr.selected')?.dataset.row === '7'")
    several.wait("return document.querySelector('#schedules input:checked')?.value === '7'")
    assert several.run("return document.getElementById('instance').value") == "3"
    for part in ("summary", "reproduce"):
        assert runs_shown(several, part) == ["3"]
    assert (before, chosen_axes(several)) == (["a"], ["b"])
    set_value(several, "instance", "0")
    several.wait("return document.querySelector('tr.selected')?.dataset.row === '1'")


def test_axes_of_a_study_can_be_chosen(window: Browser, folder: Path) -> None:
    for page in opened(window, folder / "study.html"):
        assert page.texts("#sweep-x option") == ["size", "scheduler"]
        assert page.texts("#sweep-legend > span") == ["\u25cf baseline", "\u25a0 themis-scf", "\u25c6 auto"]
        lines = page.run("return document.getElementById('sweep').data.map(({x, y}) => [x, y])")
        # 1 MB and 100 MB: 200 and 20000 us of the baseline; the last point of the last one failed.
        assert lines[0] == [[1, 100], [0.2, 20]]
        assert lines[2] == [[1], [0.4]]
        set_value(page, "sweep-x", "1")
        page.wait("return document.getElementById('sweep').layout.xaxis.ticktext.includes('auto')")
        set_value(page, "sweep-y", "3")
        page.wait("return document.getElementById('sweep').layout.yaxis.title.text === 'BW use'")
        page.run("document.querySelector('tr[data-row=\"1\"] button').click()")
        page.wait_for(lambda: ringed(window, "sweep") == [[1, 0.5]], "a ring that stays")
        page.run("document.querySelector('tr[data-row=\"1\"] button').click()")
        page.wait_for(lambda: ringed(window, "sweep") == [], "none when it is clicked again")
        # The failed row has no point, and pointing at it does no harm.
        page.run("document.querySelector('tr[data-row=\"5\"] button').click()")
        page.wait("return document.querySelector('tr.selected')?.dataset.row === '5'")
        assert page.one("#point").text.endswith("reason no luck with auto")


@pytest.mark.parametrize("kind", ["comparison", "schedule", "study"])
def test_hostile_names_do_nothing(window: Browser, tmp_path: Path, kind: str) -> None:
    instances = [Instance(network(name), size_bytes=10**6, num_chunks=2) for name in HOSTILE]
    odd = {name: name for name in HOSTILE}
    joined = " ".join(HOSTILE)
    text = {
        "comparison": lambda: comparison_report(ComparisonFile(comparison(*instances).runs, odd, 0, odd, odd)),
        "schedule": lambda: schedule_report(schedule(instances[1], "baseline").replace(scheduler=joined), joined),
        "study": lambda: study_report(study(*HOSTILE)),
    }[kind]()
    (tmp_path / "page.html").write_text(text)
    for page in opened(window, tmp_path / "page.html"):
        if kind != "schedule":
            for option in range(page.run("return document.getElementById('sweep-x').options.length")):
                page.run("document.getElementById('sweep-x').selectedIndex = arguments[0]", option)
                page.run("document.getElementById('sweep-x').dispatchEvent(new Event('change'))")
                page.wait("return document.getElementById('sweep').layout.xaxis.ticktext")
                if len(ticks := page.texts("#sweep .xtick text")) == len(HOSTILE):
                    assert [tick[:8] for tick in ticks] == [name[:8] for name in HOSTILE]
            page.run("document.querySelector('#results tbody button').focus()")
        assert page.run("return document.querySelectorAll('script').length") == 2
        made = "img, iframe, object, embed, b:not(#now b), [onerror], [onmouseover]"
        assert page.run("return document.querySelectorAll(arguments[0]).length", made) == 0
        for name in HOSTILE:
            assert name in page.run("return document.body.textContent")


def test_the_policy_forbids_what_is_not_in_the_page(page: Browser) -> None:
    page.run(
        """window.blocked = [];
        addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.head.append(script);
        document.body.append(Object.assign(new Image(), {src: "http://127.0.0.1:9/x.png"}));
        fetch("http://127.0.0.1:9/").catch(() => 0);"""
    )
    page.wait("return ['script-src-elem', 'img-src', 'connect-src'].every((name) => blocked.includes(name))")
    assert page.run("return window.ran") is None
    page.errors()  # which it rightly complained of


def test_times_are_written_as_the_command_line_writes_them(window: Browser, tmp_path: Path) -> None:
    draw = random.Random(5)
    times = [draw.randrange(10**power) for power in range(1, 15) for _ in range(40)]
    times += [100_125_000, 10_000_500, 1_000_050, 1_000_150, 999_999_999, 0, 1, 999, 1000, 10**12, 2**53 - 1]
    script = (Path(comparison_report.__code__.co_filename).parent / "static" / "words.js").read_text()
    (tmp_path / "words.html").write_text(f"<!doctype html><script>{script}</script>")
    window.driver.get((tmp_path / "words.html").as_uri())
    assert window.run("return arguments[0].map(formatTime)", times) == [format_time(time) for time in times]


def test_use_in_windows_adds_up_to_what_was_sent(page: Browser) -> None:
    """The mean over the whole makespan, weighted by nothing, is the dimension's utilisation."""
    data = page.run("return document.getElementById('use').data.map(({x, y}) => [x, y])")
    told = page.run(
        """const {yaxis, yaxis2} = document.getElementById("use").layout;
        return [yaxis.ticktext[0], yaxis2.ticktext[0]];"""
    )
    for (_, use), text in zip(data, told, strict=True):
        windows = use[:-1]
        assert f"{sum(windows) / len(windows):.1%}" == text.split("<br>")[1]


def test_latency_after_a_pipelined_stage_is_no_use_of_its_dimension(window: Browser, tmp_path: Path) -> None:
    instance = Instance(network(), size_bytes=80_000, num_chunks=2, occupancy=Occupancy.PIPELINED)
    made = schedule(instance, "baseline")
    (tmp_path / "pipelined.html").write_text(schedule_report(made, "a.json"))
    for page in opened(window, tmp_path / "pipelined.html"):
        edges = page.run("return document.getElementById('gantt').data[0].x")
        # 40 kB on dim1: 30 kB at 2 GB/s hold it for 15 us, then 3 steps of 100 ns pass without holding it.
        assert edges[:3] == pytest.approx([0, 15, 30])
        page.one("#chunk").send_keys(Keys.ENTER)
        page.run("document.getElementById('stages').focus()")
        press(page, Keys.HOME)
        assert facts(page, "#stage")["end"] == "15.300 us (15300000 ps)"


def test_512_chunks_on_four_dimensions_can_be_drawn(window: Browser, tmp_path: Path) -> None:
    from themis_opt import load_network

    instance = Instance(load_network("4d-ring-sw-sw-sw"), num_chunks=512)
    (tmp_path / "large.html").write_text(comparison_report(comparison(instance, schedulers=SCHEDULERS)))
    assert (tmp_path / "large.html").stat().st_size < 6_000_000
    for page in opened(window, tmp_path / "large.html"):
        columns = page.run(
            """const lanes = document.getElementById("gantt").data.slice(0, 4);
            return lanes.map(({z}) => z[0].filter((value) => value !== null).length);"""
        )
        assert columns == [1024] * 4
        # Whatever is drawn, the page stays small: pictures, not an element for each stage.
        assert page.run("return document.querySelectorAll('#gantt *').length") < 1500


def test_a_long_study_can_be_drawn(window: Browser, tmp_path: Path) -> None:
    """A thousand points of two schedulers: nothing stumbles over what it would over two."""
    small = study("baseline", "auto")
    rows = [
        replace(row, values={**row.values, "size_bytes": 1000 + step}) for step in range(1000) for row in small.rows[:2]
    ]
    (tmp_path / "long.html").write_text(study_report(replace(small, rows=tuple(rows))))
    for page in opened(window, tmp_path / "long.html"):
        assert page.run("return document.getElementById('sweep').data[0].x.length") == 1000
        page.run("document.querySelector('tr[data-row=\"1999\"] button').focus()")
        page.wait("return document.getElementById('sweep').data.at(-1).x.length === 1")
        page.run("document.getElementById('sweep').emit('plotly_click', {points: [{customdata: 1200}]})")
        page.wait("return document.querySelector('tr.selected')?.dataset.row === '1200'")
        # A point that is clicked brings its row into view, in the table's own frame.
        above, below = page.run(
            """const row = document.querySelector("tr.selected").getBoundingClientRect();
            const frame = document.querySelector("#table .scroll").getBoundingClientRect();
            return [row.top - frame.top, frame.bottom - row.bottom];"""
        )
        assert above > 0
        assert below > 0


def test_nothing_takes_no_time_at_all(window: Browser, tmp_path: Path) -> None:
    """Stages that are rounded to 0 ps, and names as long as a file may have them."""
    fast = Network("W" * 400, (Dimension(Topology.RING, 2, Fraction(10**30), Fraction(0)),))
    made = schedule(Instance(fast, size_bytes=2, num_chunks=1), "baseline")
    assert made.makespan_ps == 0
    (tmp_path / "fast.html").write_text(schedule_report(made.replace(scheduler="W" * 400), "a.json"))
    for page in opened(window, tmp_path / "fast.html"):
        page.run("document.getElementById('stages').focus()")
        press(page, Keys.ARROW_RIGHT, Keys.SPACE, "+", "0")
        assert facts(page, "#stage")["end"] == "0 ps"
        page.resize(360, 740)
        page.wait("return document.documentElement.scrollWidth === 360")


def test_a_browser_that_is_missing_is_skipped_and_in_ci_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "CHROMIUM", "/nowhere/chromium")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="chromium-driver"):
        require_chromium()
    monkeypatch.setitem(os.environ, "CI", "true")
    with pytest.raises(pytest.fail.Exception, match="/nowhere/chromium missing"):
        require_chromium()
