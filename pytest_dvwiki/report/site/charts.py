"""Charts of values over runs, drawn by pygal as SVG elements of a page.

The content security policy of the site forbids inline styles and scripts. Therefore one style file with the colours of
the page replaces pygal's style for each chart. A title on each shape, with the shape's value, replaces pygal's script.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pygal
from markupsafe import Markup
from msgspec import Struct
from pygal.etree import etree
from pygal.style import Style

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# pygal installs an import finder about which Python 3.11 warns at each later import of a missing module.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != pygal.__name__]

_MOST_SERIES = 4
_COLOURS = tuple(f"var(--chart-{number})" for number in range(_MOST_SERIES))
_STYLE = Style(
    background="transparent",
    plot_background="transparent",
    foreground="var(--soft)",
    foreground_strong="var(--soft)",
    foreground_subtle="var(--line)",
    guide_stroke_color="var(--line)",
    major_guide_stroke_color="var(--line)",
    guide_stroke_dasharray="none",
    major_guide_stroke_dasharray="none",
    font_family="inherit",
    label_font_size=13,
    major_label_font_size=13,
    opacity="1",
    stroke_opacity="1",
    stroke_width="2",
    colors=_COLOURS,
    value_colors=_COLOURS,
)
_MARKS = 5
"""Maximum number of labels on the horizontal axis."""


class ChartRow(NamedTuple):
    """The values at one position of the horizontal axis; None for a missing value."""

    label: str
    values: tuple[float | None, ...]


class Chart(Struct, frozen=True):
    """A chart of values over runs.

    Args:
        key: Selects the chart's colours in the style of the site.
        title: The title of the chart.
        series: The names of the series.
        rows: The values from left to right.
        unit: Appended to values. Percentages are drawn as a line on an axis up to 100, numbers as stacked columns.
    """

    key: str
    title: str
    series: tuple[str, ...]
    rows: tuple[ChartRow, ...]
    unit: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether all values are zero or unknown."""
        return not any(value for row in self.rows for value in row.values)

    @property
    def svg(self) -> Markup:
        """Return the chart as an SVG element."""
        root = self.drawn()
        for child in [each for each in root if each.tag != "g"]:
            root.remove(child)
        for parent in list(root.iter()):
            for child in [each for each in parent if _is_left_out(each)]:
                parent.remove(child)
        del root.attrib["id"]
        root.attrib.update({"role": "img", "aria-label": f"{self.title}. The table below has its values."})
        return Markup(etree.tostring(root, encoding="unicode"))  # noqa: S704  # the library escapes

    def drawn(self) -> Element:
        """Return the SVG tree that pygal draws, before anything is removed from it."""
        options: dict[str, Any] = {
            "style": _STYLE,
            "css": ("file://style.css", "file://graph.css"),
            "js": (),
            "width": 560,
            "height": 180,
            "margin": 8,
            "margin_right": 40,
            "show_legend": False,
            "max_scale": 5,
            "order_min": 0,
            "x_labels": [row.label[:10] for row in self.rows],
            "x_labels_major_count": min(_MARKS, len(self.rows)),
            "show_minor_x_labels": False,
            "truncate_label": -1,
            "allow_interruptions": True,
            "value_formatter": lambda value: f"{value:g}{self.unit}",
        }
        chart = (
            pygal.Line(range=(self._lowest, 100), dots_size=2, **options)
            if self.unit == " %"
            else pygal.StackedBar(**options)
        )
        for number, title in enumerate(self.series):
            chart.add(title, [self._value(row, number) for row in self.rows])
        root: Element = chart.render_tree()
        return root

    def _value(self, row: ChartRow, number: int) -> dict[str, Any] | None:
        value = row.values[number]
        if value is None or not (value or self.unit):
            return None
        return {"value": value, "tooltip": f"{row.label}: {value:g}{self.unit} {self.series[number]}"}

    @property
    def _lowest(self) -> float:
        """Return the start of the percentage axis: a step at or below the lowest value, and less than 100."""
        lowest = min((value for row in self.rows for value in row.values if value is not None), default=0.0)
        step = 10 if lowest < 90 else 2  # noqa: PLR2004
        return max(0, min(100 - step, lowest // step * step))


def _is_left_out(element: Element) -> bool:
    """Return whether an SVG element is left out: only pygal's script needs it, or it is a column of height zero."""
    classes = element.get("class", "").split()
    return element.tag == "desc" or "tooltip-overlay" in classes or ("bar" in classes and element.find("title") is None)


def styles() -> str:
    """Return pygal's styles for all charts of the site."""
    root = Chart("", "", _COLOURS, (ChartRow("", (1.0,) * _MOST_SERIES),)).drawn()
    return str(root.findtext("defs/style")).replace(f"#{root.attrib['id']}", ".pygal-chart")
