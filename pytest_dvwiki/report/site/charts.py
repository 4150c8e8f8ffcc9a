"""Geometry of the charts: columns and lines as shapes of an SVG picture, which the templates draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 800, 180
_LEFT, _TOP, _BOTTOM = 40, 10, 20
_WIDEST = 24
_MARKS = 5
"""Most labels on an axis."""


class Series(NamedTuple):
    """One kind of value; its key names the colour."""

    key: str
    title: str


class Column(NamedTuple):
    """A part of a column, in units of the picture."""

    key: str
    x: float
    y: float
    width: float
    height: float
    title: str


class Mark(NamedTuple):
    """A label on an axis."""

    place: float
    text: str


class ChartRow(NamedTuple):
    """The values at one place of the horizontal axis; None where there is no value."""

    label: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Values over runs or months.

    Args:
        title: What it shows, in words.
        series: The kinds of values.
        rows: The values from left to right.
        unit: Appended to values; the axis of percentages ends at 100 and begins below the lowest one.
    """

    title: str
    series: tuple[Series, ...]
    rows: tuple[ChartRow, ...]
    unit: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """Return the width and height of the picture."""
        return WIDTH, HEIGHT

    @property
    def ends(self) -> tuple[float, float]:
        """Return the values at the bottom and the top of the vertical axis."""
        sums = [sum(value or 0 for value in row.values) for row in self.rows if None not in row.values]
        if self.unit == " %":
            lowest = min(sums, default=0)
            step = 10 if lowest < 90 else 2  # noqa: PLR2004  # a line near the top needs room
            return float(max(0, min(100 - step, math.floor(lowest / step) * step))), 100.0
        largest = max(sums, default=0)
        step = 2 * 10 ** max(0, math.floor(math.log10(max(largest, 1))))
        return 0.0, float(max(1, math.ceil(largest / step)) * step)

    @property
    def left(self) -> int:
        """Return where the columns begin."""
        return _LEFT

    def _y(self, value: float) -> float:
        bottom, top = self.ends
        return round(HEIGHT - _BOTTOM - (value - bottom) / (top - bottom) * (HEIGHT - _TOP - _BOTTOM), 1)

    def _x(self, index: float) -> float:
        return round(_LEFT + index * (WIDTH - _LEFT) / max(1, len(self.rows)), 1)

    @property
    def columns(self) -> list[Column]:
        """Return the parts of all columns, those of one row on top of each other."""
        found = []
        room = self._x(1) - self._x(0)
        width = min(_WIDEST, room - min(2.0, room / 5))
        for index, row in enumerate(self.rows):
            below = 0.0
            for series, value in zip(self.series, row.values, strict=True):
                if value:
                    y = self._y(below + value)
                    height = round(self._y(below) - y, 1)
                    title = f"{row.label}: {value:g}{self.unit} {series.title}"
                    found.append(Column(series.key, self._x(index), y, round(width, 1), height, title))
                    below += value
        return found

    @property
    def lines(self) -> list[str]:
        """Return the points of the line of the first series; it is broken where there is no value."""
        parts: list[list[str]] = [[]]
        for index, row in enumerate(self.rows):
            value = row.values[0]
            if value is None:
                parts.append([])
            else:
                parts[-1].append(f"{self._x(index + 0.5)},{self._y(value)}")
        # A line needs two points.
        return [" ".join(points * 2 if len(points) == 1 else points) for points in parts if points]

    @property
    def marks_left(self) -> list[Mark]:
        """Return the labels of the vertical axis."""
        bottom, top = self.ends
        return [Mark(self._y(value), f"{value:g}{self.unit}") for value in (bottom, (bottom + top) / 2, top)]

    @property
    def marks_below(self) -> list[Mark]:
        """Return the labels of the horizontal axis."""
        step = max(1, math.ceil(len(self.rows) / _MARKS))
        return [Mark(self._x(index), self.rows[index].label[:10]) for index in range(0, len(self.rows), step)]


def stretches(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first and last index of each stretch of true values."""
    found: list[tuple[int, int]] = []
    for index, flag in enumerate(flags):
        if flag and found and found[-1][1] == index - 1:
            found[-1] = (found[-1][0], index)
        elif flag:
            found.append((index, index))
    return found
