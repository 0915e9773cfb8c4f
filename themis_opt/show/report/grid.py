"""A table of results that people sort and plots are drawn from: columns with a quantity, cells with text and value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from themis_opt.show.report.markup import Markup, element

GAP_HEADING = "gap to the bound for its chunks"
GAP_NOTE = (
    "Each gap is to the bound for the row's own sizing and number of chunks: across these, the smaller gap may be the "
    "longer schedule's, so compare makespans."
)

_WORDY = 24


class Quantity(StrEnum):
    """What the numbers of a column are; a page picks units and scales of axes by it."""

    TIME = "time"
    SIZE = "size"
    BANDWIDTH = "bandwidth"
    SHARE = "share"
    COUNT = "count"
    NUMBER = "number"
    TEXT = "text"


class Part(StrEnum):
    """What a column is for: what was varied, what was found, or a remark on it."""

    AXIS = "axis"
    METRIC = "metric"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class GridColumn:
    """One column: its key for programs, its heading for people, its quantity and its part."""

    key: str
    heading: str
    quantity: Quantity
    part: Part


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what people read, and the value it is sorted and drawn by (``None``: nothing there)."""

    text: str
    value: float | str | None


@dataclass(frozen=True)
class Grid:
    """A table of results.

    Attributes
    ----------
    columns
        The columns; the first one names the row.
    rows
        A cell for every column.
    """

    columns: tuple[GridColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column_idx(self, key: str) -> int | None:
        """Return the place of a column, if there is one."""
        return next((place for place, column in enumerate(self.columns) if column.key == key), None)


def grid_document(grid: Grid) -> dict[str, Any]:
    """Return a grid as the page's plots take it; what is no finite number is ``null``."""
    return {
        "columns": [
            {
                "key": column.key,
                "heading": column.heading,
                "quantity": str(column.quantity),
                "part": str(column.part),
            }
            for column in grid.columns
        ],
        "values": [[_plain(cell.value) for cell in row] for row in grid.rows],
        "texts": [
            [cell.text if column.part is Part.AXIS else None for column, cell in zip(grid.columns, row, strict=True)]
            for row in grid.rows
        ],
    }


def grid_markup(grid: Grid, *, told_by: str) -> Markup:
    """Return a grid as an HTML table, in which every heading is a button that sorts and every row has one to select.

    `told_by` is the identifier of the sentence that describes it: a caption would scroll away with its columns.
    """
    head = [
        element(
            "th",
            element("button", column.heading, element("span", class_="arrow", aria_hidden="true"), type="button"),
            scope="col",
            class_=_heading_class(column, place),
            data_column=str(place),
        )
        for place, column in enumerate(grid.columns)
    ]
    body = [
        element(
            "tr",
            element("th", element("button", row[0].text, type="button", aria_pressed="false"), scope="row"),
            (
                element("td", cell.text, class_=_class(column))
                for column, cell in zip(grid.columns[1:], row[1:], strict=True)
            ),
            data_row=str(index),
        )
        for index, row in enumerate(grid.rows)
    ]
    return element(
        "table",
        element("thead", element("tr", head)),
        element("tbody", body),
        id="results",
        aria_describedby=told_by,
    )


def without_constants(grid: Grid, keys: Sequence[str]) -> Grid:
    """Return a grid without those of the named columns that say the same in every row."""
    kept = [
        place
        for place, column in enumerate(grid.columns)
        if column.key not in keys or len({row[place] for row in grid.rows}) > 1
    ]
    return Grid(
        tuple(grid.columns[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in grid.rows)
    )


def _class(column: GridColumn) -> str | None:
    return None if column.quantity is Quantity.TEXT else "number"


def _heading_class(column: GridColumn, place: int) -> str | None:
    """Return the classes of a heading: what is written in several lines needs width for its words."""
    names = [(_class(column) if place else None) or "", "wordy" if len(column.heading) > _WORDY else ""]
    return " ".join(filter(None, names)) or None


def _plain(value: float | str | None) -> float | str | None:
    return None if isinstance(value, float) and not isfinite(value) else value
