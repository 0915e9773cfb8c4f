"""Reports in headless Chromium: they load without a complaint, and every interaction does what it says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import browser
import pytest
from browser import Browser, chromium, require_chromium
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_report import HOSTILE, comparison, network, study

from themis_opt import Dimension, Instance, Network, Topology, schedule, simulate
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
    set_value(page, "schedule", row)
    page.wait("return document.querySelector('#results tr.selected').dataset.row === arguments[0]", str(row))


def legend(page: Browser) -> list[str]:
    return page.texts("#gantt .legendtext")


def span(page: Browser) -> list[float]:
    return [float(end) for end in page.run("return document.getElementById('gantt')._fullLayout.xaxis.range")]


def spot(page: Browser, lane: int, time: float) -> tuple[int, int]:
    """Return where on the screen a dimension has a time, in the units of the axis."""
    sees(page, "#gantt")
    x, y = page.run(
        """const gantt = document.getElementById("gantt"), {xaxis, yaxis} = gantt._fullLayout;
        const box = gantt.getBoundingClientRect();
        const [lane, time] = arguments;
        return [box.left + xaxis._offset + xaxis.l2p(time), box.top + yaxis._offset + yaxis.l2p(lane)];""",
        lane,
        time,
    )
    return round(x), round(y)


def move_to(page: Browser, *places: tuple[int, int], hold: bool = False) -> None:
    """Point at places of the screen one after the other; with `hold`, drag from the first to the last."""
    actions = ActionChains(page.driver, duration=40)
    pointer = actions.w3c_actions.pointer_action
    for place, (x, y) in enumerate(places):
        pointer.move_to_location(x - 2, y)
        pointer.move_to_location(x, y)
        if hold and place == 0:
            pointer.pointer_down()
    if hold:
        pointer.pointer_up()
    actions.perform()


def test_four_schedulers_load_without_a_complaint(page: Browser) -> None:
    assert page.texts("#results tbody th") == list(SCHEDULERS)
    assert page.texts("#schedule option") == list(SCHEDULERS)
    assert not page.one("#instance").is_displayed()
    # The shortest schedule is shown first.
    makespans = [simulate(INSTANCE, schedule(INSTANCE, name)).makespan_ps for name in SCHEDULERS]
    assert page.texts("#results tr.selected th") == [SCHEDULERS[makespans.index(min(makespans))]]


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


def test_schedules_switch_by_choice_and_by_row(page: Browser) -> None:
    for name in SCHEDULERS:
        show(page, SCHEDULERS.index(name))
        makespan = format_time(simulate(INSTANCE, schedule(INSTANCE, name)).makespan_ps)
        page.wait(
            "const texts = [...document.querySelectorAll('#gantt .legendtext')];"
            "return texts.some((text) => text.textContent === arguments[0])",
            f"makespan {makespan}",
        )
        assert page.texts("#results tr.selected th") == [name]
    sees(page, "#results")
    page.one("#results tbody tr:nth-child(1) td").click()
    page.wait("return document.getElementById('schedule').value === '0'")
    assert page.one("#results tbody tr:nth-child(1) button").get_attribute("aria-pressed") == "true"


def test_one_axis_for_all_schedules_or_each_its_own(page: Browser) -> None:
    makespans = [simulate(INSTANCE, schedule(INSTANCE, name)).makespan_ps / 1e9 for name in SCHEDULERS]
    shortest = makespans.index(min(makespans))
    show(page, shortest)
    assert span(page) == pytest.approx([0, 1.02 * max(makespans)])
    page.one("#same-axis").click()
    page.wait_for(lambda: span(page) == pytest.approx([0, 1.02 * makespans[shortest]]), "its own axis")


def test_dragging_zooms_and_a_double_click_shows_everything(page: Browser) -> None:
    before = span(page)
    end = before[1]

    def drag() -> None:
        move_to(page, spot(page, 0, 0.2 * end), spot(page, 0, 0.6 * end), hold=True)

    def double_click() -> None:
        actions = ActionChains(page.driver, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(*spot(page, 0, 0.4 * end))
        actions.w3c_actions.pointer_action.double_click()
        actions.perform()

    part = pytest.approx([0.2 * end, 0.6 * end], rel=0.03)
    page.wait_after(drag, lambda: span(page) == part, "a part of the time")
    page.wait_after(double_click, lambda: span(page) == pytest.approx(before), "everything again")


def test_pointing_at_a_block_tells_its_stage(page: Browser) -> None:
    show(page, 0)
    (first, *_) = simulate(INSTANCE, schedule(INSTANCE, "baseline")).stages
    middle = (first.start_ps + first.end_ps) / 2 / 1e9
    told = page.wait_after(
        lambda: move_to(page, spot(page, first.dimension, middle)),
        lambda: " ".join(page.texts("#gantt .hoverlayer text")),
        "words on the stage",
    )
    assert f"chunk {first.chunk}, Reduce-Scatter on dim{first.dimension + 1}" in told
    assert f"from {format_time(first.start_ps)} to {format_time(first.end_ps)}" in told
    assert f"({first.start_ps} to {first.end_ps} ps)" in told


def test_the_legend_hides_and_shows_a_phase(page: Browser) -> None:
    def hidden() -> list[str]:
        return list(
            page.run(
                "return document.getElementById('gantt').data"
                ".filter((trace) => trace.visible === 'legendonly').map((trace) => trace.name)"
            )
        )

    assert hidden() == []
    sees(page, "#gantt")
    page.driver.find_elements(By.CSS_SELECTOR, "#gantt .legendtoggle")[0].click()
    page.wait_for(lambda: hidden() == ["Reduce-Scatter"] * 2, "Reduce-Scatter to be gone")


def test_light_and_dark(page: Browser) -> None:
    def colours() -> tuple[str, str]:
        paper = page.run("return getComputedStyle(document.body).backgroundColor")
        return paper, page.run("return document.getElementById('gantt')._fullLayout.font.color")

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


def test_every_control_can_be_reached_and_used_by_keyboard(several: Browser) -> None:
    """From the top of the page by Tab alone; the focus is always to be seen."""
    several.run("document.activeElement.blur()")
    reached = []
    for _ in range(60):
        ActionChains(several.driver).send_keys(Keys.TAB).perform()
        reached.append(several.run("return document.activeElement.id || document.activeElement.textContent"))
        assert several.run("return getComputedStyle(document.activeElement).outlineStyle") != "none"
    for control in ("Dark", "makespan", "baseline", "sweep-x", "sweep-y", "instance", "schedule", "same-axis"):
        assert any(text.startswith(control) for text in reached), (control, reached)


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


def test_a_selected_row_takes_timeline_and_claim_along(several: Browser) -> None:
    several.run("document.querySelector('tr[data-row=\"5\"]').click()")
    several.wait("return document.getElementById('instance').value === '2'")
    shown = several.run(
        "return [...document.querySelectorAll('article[data-run]')].filter((part) => !part.hidden)"
        ".map((part) => part.dataset.run)"
    )
    assert shown == ["2", "2"]
    set_value(several, "instance", 0)
    several.wait("return document.querySelector('tr.selected').dataset.row === '0'")


def test_axes_of_a_study_can_be_chosen(window: Browser, folder: Path) -> None:
    for page in opened(window, folder / "study.html"):
        assert page.texts("#sweep-x option") == ["size"]
        lines = page.run("return document.getElementById('sweep').data.map(({name, x, y}) => [name, x, y])")
        # 1 MB and 100 MB: 200 and 20000 us of the baseline; the last point of the last one failed.
        assert lines[0] == ["baseline", [1, 100], [200, 20_000]]
        assert lines[2] == ["auto", [1], [400]]
        set_value(page, "sweep-y", "bw_utilization")
        page.wait("return document.getElementById('sweep').layout.yaxis.title.text === 'BW use'")


def test_other_axes_are_held_or_shown_all(several: Browser) -> None:
    assert several.texts("#sweep-x option") == ["size", "network"]
    (held,) = several.texts("#sweep-others label:not([hidden])")
    assert held.startswith("network ")
    count = "return document.getElementById('sweep').data.map(({x}) => x.length)"
    assert several.run(count) == [2, 2, 2]  # two schedulers and the lowest bound, over two sizes
    several.run(
        "const select = document.querySelector('#sweep-others label:not([hidden]) select');"
        "select.value = 2; select.dispatchEvent(new Event('change'))"
    )
    several.wait(f"return String(({count.replace('return ', '() => ')})()) === '4,4,2'")


def test_a_point_selects_its_row(several: Browser) -> None:
    several.run(
        "const gd = document.getElementById('sweep');"
        "gd.emit('plotly_click', {points: [{data: gd.data[1], pointNumber: 1}]})"
    )
    several.wait("return document.querySelector('tr.selected').dataset.row === '3'")


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
        if kind == "comparison":
            assert page.texts("#sweep .xtick text") == list(HOSTILE)
        if kind == "study":
            assert page.texts("#sweep .legendtext")[: len(HOSTILE)] == list(HOSTILE)
        assert page.run("return document.querySelectorAll('script').length") == 1
        made = "img, iframe, object, embed, b, [onerror], [onmouseover]"
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


def test_512_chunks_on_four_dimensions_can_be_drawn(window: Browser, tmp_path: Path) -> None:
    from themis_opt import load_network

    instance = Instance(load_network("4d-ring-sw-sw-sw"), num_chunks=512)
    (tmp_path / "large.html").write_text(comparison_report(comparison(instance, schedulers=SCHEDULERS)))
    assert (tmp_path / "large.html").stat().st_size < 6_000_000
    for page in opened(window, tmp_path / "large.html"):
        blocks = page.run(
            """return document.getElementById("gantt").data.filter(({type}) => type === "heatmap")
              .map(({z}) => z[0].filter((value) => value !== null).length);"""
        )
        assert blocks == [512] * 8
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


def test_nothing_takes_no_time_at_all(window: Browser, tmp_path: Path) -> None:
    """Stages that are rounded to 0 ps, and names as long as a file may have them."""
    fast = Network("W" * 400, (Dimension(Topology.RING, 2, Fraction(10**30), Fraction(0)),))
    made = schedule(Instance(fast, size_bytes=2, num_chunks=1), "baseline")
    assert made.makespan_ps == 0
    (tmp_path / "fast.html").write_text(schedule_report(made.replace(scheduler="W" * 400), "a.json"))
    for page in opened(window, tmp_path / "fast.html"):
        page.resize(360, 740)
        page.wait("return document.documentElement.scrollWidth === 360")


def test_paper_is_light(page: Browser) -> None:
    page.one("[data-theme-choice='dark']").click()
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("return document.documentElement.dataset.theme") == "light"
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("return document.documentElement.dataset.theme") == "dark"


def test_a_browser_that_is_missing_is_skipped_and_in_ci_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "CHROMIUM", "/nowhere/chromium")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="chromium-driver"):
        require_chromium()
    monkeypatch.setitem(os.environ, "CI", "true")
    with pytest.raises(pytest.fail.Exception, match="/nowhere/chromium missing"):
        require_chromium()
