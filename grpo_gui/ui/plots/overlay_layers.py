"""What the plots of several runs draw: a line for each run, or a mean with an interval for seeds of one experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyqtgraph as pg

from grpo_gui.store.records import Float64Array
from grpo_gui.ui import theme
from grpo_gui.ui.models.run_overlay import OverlaidRun
from grpo_gui.ui.models.run_styles import RunStyle
from grpo_gui.ui.models.seed_bands import seed_band
from grpo_gui.ui.plot_style import BAND_ALPHA, pen, raw_pen
from grpo_gui.ui.plots.drawing import Drawing, extent
from grpo_gui.ui.plots.layers import DotLayer, Extent, Layer, LineLayer, joined
from grpo_gui.ui.plots.shapes import CurveItem, PolygonItem
from grpo_gui.ui.widgets.legend import LegendEntry

_MOST_WITH_DOTS = 4
SWATCHES = {"solid": "line", "dash": "dash", "dot": "dots"}


@dataclass(frozen=True, slots=True)
class Strand:
    """One line of the plots: a run, or several that differ only in their seed."""

    title: str
    style: RunStyle
    members: tuple[OverlaidRun, ...]

    @property
    def is_band(self) -> bool:
        """True for the mean of several runs."""
        return len(self.members) > 1

    def layer(self, metric: str, strands: int) -> Layer:
        """The layer that draws this metric beside others: raw values behind a single line, dots for a few."""
        if self.is_band:
            return SeedBandLayer(metric, self)
        color, dash = self.style
        if is_sparse(metric) and strands <= _MOST_WITH_DOTS:
            return DotLayer(metric, color, "", dash=dash)
        return LineLayer(metric, color, dash=dash, shows_raw=strands == 1)

    def entry(self, text: str) -> LegendEntry:
        """Its swatch with a text."""
        return LegendEntry(text, self.style.color, SWATCHES[self.style.dash])


def is_sparse(metric: str) -> bool:
    """True for what is measured only now and then, so that it is never smoothed."""
    return metric.startswith("eval/")


class SeedBandLayer:
    """The mean of the runs, the interval around it, and the runs themselves faint behind."""

    def __init__(self, metric: str, strand: Strand) -> None:
        self._metric, self._strand = metric, strand
        self._area, self._mean = PolygonItem(), CurveItem()
        self._faint = tuple(CurveItem() for _ in strand.members)
        self.drawn = seed_band(())  # the band of the last drawing

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The area, the runs, the mean."""
        return self._area, *self._faint, self._mean

    def restyle(self) -> None:
        """A tint, faint lines, and a full one in the colour of the first run."""
        color, dash = self._strand.style
        self._area.set_colors(theme.current().color(color, BAND_ALPHA), None)
        self._mean.set_pen(pen(color, dash=dash))
        for item in self._faint:
            item.set_pen(raw_pen(color))

    def draw(self, drawing: Drawing) -> Extent:
        """Draw runs, interval and mean; mean and interval are those of the values, also on a log scale."""
        curves = self._curves(drawing)
        self.drawn = band = seed_band(curves)
        extents: list[Extent] = []
        for item, (x, y) in zip(self._faint, curves, strict=True):
            shown = drawing.drawn(y)
            item.set_points(x, shown)
            extents.append(extent(shown))
        mean, low, high = (drawing.drawn(values) for values in (band.mean, band.low, band.high))
        self._mean.set_points(band.places, mean)
        self._area.set_between(band.places, low, band.places, high)
        return joined([*extents, extent(low), extent(high)])

    def _curves(self, drawing: Drawing) -> list[tuple[Float64Array, Float64Array]]:
        """The runs in view, in values also on a log scale."""
        weight = 0.0 if is_sparse(self._metric) else drawing.weight
        curves = []
        for member in self._strand.members:
            curve = replace(drawing, run=member.series, log=False).curve(self._metric, weight)
            curves.append((curve.steps, curve.values))
        return curves

    def legend(self) -> Sequence[LegendEntry]:
        """The card writes its own."""
        return ()
