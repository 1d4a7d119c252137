"""What can be drawn in a plot: curves with their raw values behind, dots, bands, stacked areas, thresholds."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyqtgraph as pg

from grpo_gui.ui import theme
from grpo_gui.ui.plot_style import BAND_ALPHA, pen, raw_pen
from grpo_gui.ui.plots.drawing import Drawing, extent
from grpo_gui.ui.plots.shapes import CurveItem, DotsItem, PolygonItem
from grpo_gui.ui.widgets.legend import LegendEntry

Extent = tuple[float, float] | None
_MAX_DOTS = 200
_STACK_SHARE = 0.62


class Layer(Protocol):
    """A part of a plot. `draw` returns the extent of its values, None when it draws nothing."""

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The pyqtgraph items, back to front."""

    def restyle(self) -> None:
        """Take the colours of the current theme."""

    def draw(self, drawing: Drawing) -> Extent:
        """Draw the visible part again."""

    def legend(self) -> Sequence[LegendEntry]:
        """What stands in the header; nothing for a plot's only curve."""


class LineLayer:
    """One metric as a smoothed curve, with its raw values faint behind it."""

    def __init__(self, name: str, color: str, text: str = "", *, dash: str = "solid", shows_raw: bool = True) -> None:
        self.name, self._color, self._text, self._dash = name, color, text, dash
        self._raw, self._smooth = CurveItem(), CurveItem()
        self._shows_raw = shows_raw

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The raw curve, then the smoothed one."""
        return self._raw, self._smooth

    def restyle(self) -> None:
        """Faint and full pen of the same colour."""
        self._raw.set_pen(raw_pen(self._color))
        self._smooth.set_pen(pen(self._color, dash=self._dash))

    def draw(self, drawing: Drawing) -> Extent:
        """Draw both curves; without smoothing the raw values are the curve."""
        x, y = drawing.curve(self.name)
        self._smooth.set_points(x, y)
        if not self._shows_raw or drawing.weight == 0.0:
            self._raw.clear()
            return extent(y)
        x, raw = drawing.curve(self.name, 0.0)
        self._raw.set_points(x, raw)
        return _joined(extent(y), extent(raw))

    def legend(self) -> Sequence[LegendEntry]:
        """One line or dash."""
        kind = "line" if self._dash == "solid" else "dash"
        return [LegendEntry(self._text, self._color, kind)] if self._text else []


class DotLayer:
    """A metric with few points: a thin line with a dot at each, never smoothed."""

    def __init__(self, name: str, color: str, text: str, *, dash: str = "solid") -> None:
        self.name, self._color, self._text, self._dash = name, color, text, dash
        self._line, self._dots = CurveItem(), DotsItem()

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The line, then the dots."""
        return self._line, self._dots

    def restyle(self) -> None:
        """Dots with a border of the surface's colour."""
        now = theme.current()
        self._line.set_pen(pen(self._color, dash=self._dash))
        self._dots.set_colors(now.color(self._color), now.color("surface"))

    def draw(self, drawing: Drawing) -> Extent:
        """Draw the line, and the dots while they can be told apart."""
        x, y = drawing.curve(self.name, 0.0)
        self._line.set_points(x, y)
        shown = np.isfinite(y) & (np.isfinite(y).sum() <= _MAX_DOTS)
        self._dots.set_points(x[shown], y[shown])
        return extent(y)

    def legend(self) -> Sequence[LegendEntry]:
        """One dot."""
        return [LegendEntry(self._text, self._color, "dot")]


class SpreadLayer:
    """A band around a metric, half of another one to either side."""

    def __init__(self, name: str, spread: str, color: str, text: str) -> None:
        self._name, self._spread, self._color, self._text = name, spread, color, text
        self._area = PolygonItem()

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The area."""
        return (self._area,)

    def restyle(self) -> None:
        """A tint without border."""
        self._area.set_colors(theme.current().color(self._color, BAND_ALPHA), None)

    def draw(self, drawing: Drawing) -> Extent:
        """Draw the band; not on a log scale, where it would reach below 0."""
        x, y = drawing.curve(self._name)
        spread_x, spread = drawing.curve(self._spread)
        known = np.isfinite(spread)
        if drawing.log or not known.any():
            self._area.clear()
            return None
        half = np.interp(x, spread_x[known], spread[known]) / 2
        self._area.set_between(x, y - half, x, y + half)
        return _joined(extent(y - half), extent(y + half))

    def legend(self) -> Sequence[LegendEntry]:
        """One area."""
        return [LegendEntry(self._text, self._color, "area", 0.3)]


class RangeLayer:
    """The area between two metrics, as they are."""

    def __init__(self, low: str, high: str, color: str, text: str) -> None:
        self._low, self._high, self._color, self._text = low, high, color, text
        self._area = PolygonItem()

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The area."""
        return (self._area,)

    def restyle(self) -> None:
        """A tint without border."""
        self._area.set_colors(theme.current().color(self._color, BAND_ALPHA), None)

    def draw(self, drawing: Drawing) -> Extent:
        """Draw the area."""
        low_x, low = drawing.curve(self._low, 0.0)
        high_x, high = drawing.curve(self._high, 0.0)
        self._area.set_between(low_x, low, high_x, high)
        return _joined(extent(low), extent(high))

    def legend(self) -> Sequence[LegendEntry]:
        """One area."""
        return [LegendEntry(self._text, self._color, "area", 0.3)]


class StackLayer:
    """Metrics on top of each other, so that the upper edge is their sum. Colours are tokens, bottom first."""

    def __init__(self, parts: Sequence[tuple[str, str]]) -> None:
        self._parts = tuple(parts)
        self._areas = tuple(PolygonItem() for _ in parts)

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The areas."""
        return self._areas

    def restyle(self) -> None:
        """Muted colours with a separator of the surface's colour."""
        now = theme.current()
        for area, (_, color) in zip(self._areas, self._parts, strict=True):
            area.set_colors(now.mix("surface", color, _STACK_SHARE), pen("surface"))

    def draw(self, drawing: Drawing) -> Extent:
        """Draw the areas on the points of the first metric."""
        x, y = drawing.curve(self._parts[0][0])
        below = np.zeros(len(x))
        for area, (name, _) in zip(self._areas, self._parts, strict=True):
            part_x, part = drawing.curve(name)
            known = np.isfinite(part)
            if not known.any():
                area.clear()
                continue
            above = below + np.interp(x, part_x[known], part[known])
            area.set_between(x, below, x, above)
            below = above
        return _joined((0.0, 0.0), extent(below)) if len(y) else None

    def legend(self) -> Sequence[LegendEntry]:
        """Nothing: the card writes the milliseconds beside the names itself."""
        return []


class ThresholdLayer:
    """A dashed level. It asks for room in the plot only while the values come near it."""

    def __init__(self, level: float, text: str) -> None:
        self._level, self._text = level, text
        self._line = pg.InfiniteLine(angle=0, movable=False)

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The level."""
        return (self._line,)

    def restyle(self) -> None:
        """A dashed line in text colour."""
        self._line.setPen(pen("text2", dash="dash"))

    def draw(self, drawing: Drawing) -> Extent:
        """Move the level to where the scale has it."""
        level = float(drawing.drawn(np.array([self._level * drawing.scale]))[0])
        self._line.setValue(level)
        return (level, level) if np.isfinite(level) else None

    def legend(self) -> Sequence[LegendEntry]:
        """One dash."""
        return [LegendEntry(self._text, "text2", "dash")]


def _joined(first: Extent, second: Extent) -> Extent:
    if first is None or second is None:
        return first or second
    return min(first[0], second[0]), max(first[1], second[1])


def joined(extents: Sequence[Extent]) -> Extent:
    """The extent that holds all the given ones."""
    result: Extent = None
    for one in extents:
        result = _joined(result, one)
    return result
