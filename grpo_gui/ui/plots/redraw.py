"""When plots are drawn: each at most ten times a second, one after the other, only where it can be seen."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from grpo_gui.ui.plots.density_card import DensityCard
from grpo_gui.ui.plots.plot_card import PlotCard

Plot = PlotCard | DensityCard

CYCLE_MS = 100  # in which every plot is drawn once: 10 Hz


class RedrawClock(QObject):
    """Draws one stale plot per tick, so that the window is never busy for longer than one plot takes.

    Drawing all of them at once would hold the GUI thread, and the trainer's share of the interpreter, in one piece.
    """

    def __init__(self, plots: Sequence[Plot], version: Callable[[], object], parent: QWidget) -> None:
        """Watch `version`: a plot is stale when it has changed since the plot was drawn."""
        super().__init__(parent)
        self._plots = tuple(plots)
        self._version = version
        self._drawn: dict[Plot, object] = {}
        self._next = 0
        self._timer = QTimer(self)
        self._timer.setInterval(CYCLE_MS // len(self._plots))
        self._timer.timeout.connect(self.tick)
        for plot in self._plots:
            plot.stale.connect(self._plot_is_stale)

    def start(self) -> None:
        """Begin to draw."""
        self._timer.start()

    def stop(self) -> None:
        """Draw nothing until `start`."""
        self._timer.stop()

    def invalidate(self) -> None:
        """Draw every plot again."""
        self._drawn.clear()

    def tick(self) -> None:
        """Look at the next plot of the cycle and draw it when it is stale and visible."""
        plot = self._plots[self._next]
        self._next = (self._next + 1) % len(self._plots)
        version = (self._version(), plot.size().toTuple())
        if self._drawn.get(plot) != version and not plot.visibleRegion().isEmpty():
            self._drawn[plot] = version
            plot.redraw()

    def draw_all(self) -> None:
        """Draw every plot now, for a picture or a test."""
        for plot in self._plots:
            self._drawn[plot] = (self._version(), plot.size().toTuple())
            plot.redraw()

    def _plot_is_stale(self) -> None:
        plot = self.sender()
        if isinstance(plot, PlotCard | DensityCard):
            self._drawn.pop(plot, None)
