"""The tool bar: transport at the left, progress and the run selector at the right."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolBar, QWidget

from grpo_gui.ui import theme, tokens
from grpo_gui.ui.progress import Progress
from grpo_gui.ui.run_selector import RunSelector
from grpo_gui.ui.transport import Transport
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.workspace import Workspace

_MARGIN = 4
_SPACING = 1
_NARROW = 1080


class ToolBar(QToolBar):
    """Disabled tools stay in place."""

    def __init__(self, workspace: Workspace, transport: Transport) -> None:
        super().__init__("Tools")
        self.setObjectName("tools")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(theme.px(14), theme.px(14)))
        self.addActions([transport.start, transport.pause, transport.step, transport.stop])
        for action in (transport.start, transport.pause):  # whose words change: keep the others in place
            self.widgetForAction(action).setMinimumWidth(theme.px(104))
        self.addSeparator()
        self.addAction(transport.snapshot)
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        self.progress = Progress(workspace)
        self.progress_action = self.addWidget(self.progress)
        self.addWidget(label(" Run  ", "hint"))
        self.selector = RunSelector(workspace)
        self.addWidget(self.selector)
        self.addWidget(_gap(12))
        theme.follow(self, self._keep_shape)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the run selector where Qt would put it out of sight."""
        super().resizeEvent(event)
        layout = self.layout()
        if self.selector.set_short(short=self.width() < theme.px(_NARROW)) and layout is not None:
            layout.invalidate()
            layout.setGeometry(self.rect())  # Qt has laid it out for the other width already

    def _keep_shape(self) -> None:
        """Give the bar its margins: Qt takes others of its own each time that the style sheet is set again."""
        margin, layout = theme.px(_MARGIN), self.layout()
        assert layout is not None  # every tool bar has one
        layout.setContentsMargins(margin, margin, margin, margin)
        layout.setSpacing(theme.px(_SPACING))
        self.setFixedHeight(theme.px(tokens.TOOLBAR_HEIGHT))


def _gap(width: int) -> QWidget:
    gap = QWidget()
    gap.setFixedWidth(theme.px(width))
    return gap
