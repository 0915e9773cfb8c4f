"""The HTML file itself: its head with what it may do, its sections, its data, its scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from themis_opt.show.report.embedding import plotly_library, script_hash, script_json
from themis_opt.show.report.markup import Markup, element, joined
from themis_opt.show.report.sections import static_markup, static_text

SCRIPTS = (
    "start.js",
    "words.js",
    "colours.js",
    "library.js",
    "schedule.js",
    "gantt.js",
    "use.js",
    "player.js",
    "legend.js",
    "timeline.js",
    "results.js",
    "sweep.js",
    "main.js",
)
"""In the order in which they stand in the page, as one."""


@dataclass(frozen=True)
class Section:
    """A part of a page: its anchor, its heading, and what is in it."""

    anchor: str
    heading: str
    content: Sequence[Markup]


def page_text(title: str, subject: str, sections: Sequence[Section], data: dict[str, Any]) -> str:
    """Return the text of a page that needs nothing but itself.

    Its Content-Security-Policy allows no connection whatsoever, and only the scripts that stand in it.

    Parameters
    ----------
    title
        For the browser's tab.
    subject
        What it is about, for people.
    sections
        Its parts.
    data
        What the scripts draw, as plain data for JSON.

    Raises
    ------
    InputError
        When plotly is not installed.
    """
    plotly = plotly_library()
    script = '"use strict";\n(() => {\n' + "\n".join(static_text(name) for name in SCRIPTS) + "})();\n"
    policy = (
        f"default-src 'none'; script-src {script_hash(script)} {plotly.script_hash}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = joined(
        Markup('<meta charset="utf-8">\n'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">\n'),
        Markup('<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'),
        element("title", title),
        Markup("\n"),
        element("style", Markup(static_text("report.css"))),
    )
    links = [element("a", section.heading, href=f"#{section.anchor}") for section in sections]
    parts = [
        element(
            "section",
            element("h2", section.heading, id=f"{section.anchor}-heading"),
            section.content,
            id=section.anchor,
            aria_labelledby=f"{section.anchor}-heading",
        )
        for section in sections
    ]
    body = joined(
        element("a", "Skip to the content", href="#main", class_="skip"),
        element(
            "header",
            element("h1", title),
            element("p", subject, class_="subject"),
            element("nav", links, aria_label="Sections"),
            static_markup("theme.html"),
        ),
        element("main", parts, id="main", tabindex="-1"),
        element("noscript", "Sorting, plots and the timeline need JavaScript; the figures and claims do not."),
        element("script", Markup(plotly.packed_script), type="application/gzip", id="library"),
        element("script", Markup(script_json(data)), type="application/json", id="data"),
        element("script", Markup(script)),
    )
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'
