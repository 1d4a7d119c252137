"""A line of text that takes a shorter wording where the long one has no room."""

from PySide6.QtGui import QPaintEvent, QResizeEvent

from grpo_gui.ui.widgets.labels import ElidedLabel


class FittingLabel(ElidedLabel):
    """Shows the first of its wordings that fits, else the last one with an ellipsis."""

    def __init__(self, look: str = "") -> None:
        super().__init__(look=look)
        self._wordings: tuple[str, ...] = ("",)

    @property
    def wordings(self) -> tuple[str, ...]:
        """All wordings, the longest first."""
        return self._wordings

    def set_wordings(self, *wordings: str) -> None:
        """Take other wordings, the longest first."""
        if wordings != self._wordings:
            self._wordings = wordings
            self.setAccessibleName(wordings[0])
            self._choose()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose anew."""
        super().resizeEvent(event)
        self._choose()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Choose anew where the font has changed meanwhile."""
        self._choose()
        super().paintEvent(event)

    def _choose(self) -> None:
        # Asked as the painting does: an advance that is rounded down may fit where the text is cut all the same.
        width, metrics = self.contentsRect().width(), self.fontMetrics()
        fitting = (text for text in self._wordings if metrics.elidedText(text, self._mode, width) == text)
        chosen = next(fitting, self._wordings[-1])
        if chosen != self.text():
            self.setText(chosen)
