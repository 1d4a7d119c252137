"""How every pyqtgraph plot of the window looks: pens, axes, grid, all from the theme."""

import pyqtgraph
from PySide6.QtCore import Qt
from PySide6.QtGui import QPen

from grpo_gui.ui import theme

DASHES = {"solid": None, "dash": [4.0, 3.0], "dot": [2.0, 3.0]}
RAW_ALPHA = 90
BAND_ALPHA = 36
ANTIALIAS_LIMIT = 5_000  # drawn points up to which a curve is drawn smooth


def configure_pyqtgraph() -> None:
    """Set pyqtgraph's global options from the theme; call before the first plot and at each change of theme."""
    now = theme.current()
    pyqtgraph.setConfigOptions(background=now.color("surface"), foreground=now.color("text3"), antialias=True)


def pen(color: str, *, dash: str = "solid", alpha: int = 255) -> QPen:
    """Return a cosmetic 1-px pen in a colour token; `dash` is solid, dash or dot. Wider pens draw 13 times slower."""
    result = QPen(theme.current().color(color, alpha))
    result.setWidth(1)
    result.setCosmetic(True)
    pattern = DASHES[dash]
    if pattern is not None:
        result.setDashPattern(pattern)
    result.setCapStyle(Qt.PenCapStyle.FlatCap)
    return result


def raw_pen(color: str) -> QPen:
    """Return the faint pen of the values before smoothing."""
    return pen(color, alpha=RAW_ALPHA)


def style_plot(plot: pyqtgraph.PlotItem, *, left_width: int = 54, tick_labels: bool = True) -> None:
    """Give a plot the window's axes, grid and behaviour; call again after a change of theme.

    `tick_labels` False drops the x axis' labels, for a plot above another one with the same axis.
    """
    now = theme.current()
    plot.hideButtons()
    plot.setMenuEnabled(False)
    plot.setContentsMargins(0, 0, 0, 0)
    plot.layout.setContentsMargins(0, 2, 2, 0)
    view = plot.getViewBox()
    view.setMouseEnabled(x=True, y=False)
    view.setBackgroundColor(None)
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(now.color("line2"))
        axis.setTickPen(now.color("text3"))
        axis.setTextPen(now.color("text3"))
        axis.setGrid(now.grid_alpha)
        axis.enableAutoSIPrefix(False)
        axis.setStyle(
            tickLength=0,
            tickFont=theme.font(11),
            tickTextOffset=6 if side == "left" else 3,
            maxTickLevel=0,
            autoExpandTextSpace=False,
            showValues=tick_labels if side == "bottom" else True,
        )
    plot.getAxis("left").setWidth(theme.px(left_width))
    plot.getAxis("bottom").setHeight(theme.px(18 if tick_labels else 4))
    scene = plot.getViewWidget()
    if scene is not None:
        scene.setBackground(now.color("surface"))
        scene.setFrameShape(scene.Shape.NoFrame)
