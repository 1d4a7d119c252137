"""The part of the run form that says where the run is trained: in this window, or by TRL in processes of its own."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from grpo_gui.handover.accelerate_file import NAME, template
from grpo_gui.handover.differences import differences
from grpo_gui.handover.placement import Placement
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import icons, theme
from grpo_gui.ui.models.place_choice import (
    CHOICES,
    HERE,
    MACHINES,
    ONE,
    SHARINGS,
    TOOLTIPS,
    choice_of,
    command_text,
    place_of,
)
from grpo_gui.ui.widgets.bullet_list import BulletList
from grpo_gui.ui.widgets.buttons import SegmentedControl, link
from grpo_gui.ui.widgets.config_field import LabelledInput
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.text_block import TextBlock

_FILE_LINES = 9
_COMMAND_LINES = 6


class WhereItRuns(QWidget):
    """Edits a Placement (None: this window) and the text of accelerate's file ("": the template)."""

    changed = Signal(object, str)

    def __init__(self) -> None:
        super().__init__()
        self._place: Placement | None = None
        self._config = TrainConfig()
        self._files: dict[str, str] = {}  # what the user made of the templates
        self.cards = 0
        self.choice = SegmentedControl(CHOICES, HERE, "Where it runs")
        for value, tooltip in TOOLTIPS.items():
            self.choice.set_tooltip(value, tooltip)
        self.details = QFrame()
        self.details.setProperty("look", "sunken")
        self.processes, self.machines, self.host = QLineEdit(), QLineEdit(), QLineEdit()
        self.sharing = QComboBox()
        self.processes_input = LabelledInput("Processes", "How many processes train on this machine.", self.processes)
        self.machines_input = LabelledInput("Machines", "How many machines train together.", self.machines)
        host_tooltip = "Name or IP address of the first machine, as the others reach it."
        self.host_input = LabelledInput("First machine's address", host_tooltip, self.host)
        self.sharing_input = LabelledInput("How they share the model", "", self.sharing)
        self.problem = label("", "error", wrap=True)
        self.differences = BulletList()
        self.show_command = link("The command", "right", tooltip="Show the command that starts TRL.")
        self.command = TextBlock("The command that starts TRL", 11, _COMMAND_LINES)
        self.show_file = link(NAME, "right", tooltip="Show and change the file that accelerate reads.")
        self.reset_file = link("Back to the template", "undo")
        self.file = QPlainTextEdit()
        self._grid = QGridLayout()
        self._lay_out()
        self._connect()
        self._show()

    def show_place(self, place: Placement | None, config: TrainConfig, problem: str) -> None:
        """Show a placement, what TRL does otherwise with this config, and what is wrong."""
        self._place, self._config = place, config
        if self.choice.value != choice_of(place) and not self._is_being_typed(place):
            self.choice.choose(choice_of(place))
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self._show()

    def _is_being_typed(self, place: Placement | None) -> bool:
        """True while the number of processes or machines is on its way to another one."""
        return place is not None and self.choice.value not in (HERE, ONE)

    def _lay_out(self) -> None:
        theme.follow(self, self._use_fonts)
        for way in SHARINGS:
            self.sharing.addItem(way.text, way.value)
        self.file.setAccessibleName(f"Text of {NAME}")
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        for place in range(3):
            self._grid.setColumnStretch(place, 1)
        links = QHBoxLayout()
        links.setSpacing(12)
        links.addWidget(self.show_command)
        links.addWidget(self.show_file)
        links.addStretch(1)
        links.addWidget(self.reset_file)
        inside = QVBoxLayout(self.details)
        inside.setContentsMargins(12, 10, 12, 10)
        inside.setSpacing(8)
        inside.addLayout(self._grid)
        inside.addWidget(self.problem)
        inside.addWidget(label("What TRL does differently", "title"))
        inside.addWidget(self.differences)
        inside.addLayout(links)
        inside.addWidget(self.command)
        inside.addWidget(self.file)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        head = QHBoxLayout()
        head.addWidget(label("Where it runs", "title"))
        head.addStretch(1)
        head.addWidget(self.choice)
        column.addLayout(head)
        column.addWidget(self.details)
        self.command.hide()
        self.file.hide()

    def _connect(self) -> None:
        self.choice.changed.connect(self._chosen)
        for field in (self.processes, self.machines, self.host):
            field.textEdited.connect(self._typed)
        self.sharing.activated.connect(self._typed)
        self.show_command.clicked.connect(lambda: _toggle(self.show_command, self.command))
        self.show_file.clicked.connect(lambda: _toggle(self.show_file, self.file))
        self.file.textChanged.connect(self._file_edited)
        self.reset_file.clicked.connect(self._file_reset)

    def _chosen(self, choice: str) -> None:
        if choice != choice_of(self._place):
            self._tell(place_of(choice, self._place, self.cards))

    def _typed(self) -> None:
        if self._place is not None:
            sharing = str(self.sharing.currentData())
            processes, machines = _number(self.processes.text()), _number(self.machines.text())
            if self.choice.value != MACHINES:
                machines = 1
            self._tell(
                replace(self._place, processes=processes, machines=machines, sharing=sharing, host=self.host.text())
            )

    def _file_edited(self) -> None:
        if self._place is not None and self.file.toPlainText() != self._shown_file():
            self._files[self._place.sharing] = self.file.toPlainText()
            self._tell(self._place)

    def _file_reset(self) -> None:
        if self._place is not None:
            self._files.pop(self._place.sharing, None)
            self._tell(self._place)

    def _tell(self, place: Placement | None) -> None:
        self._place = place
        self._show()
        self.changed.emit(place, self._files.get(place.sharing, "") if place is not None else "")

    def _show(self) -> None:
        place, choice = self._place, self.choice.value
        self.details.setVisible(place is not None)
        if place is None:
            return
        for widget in (self.processes_input, self.sharing_input):
            widget.setVisible(choice != ONE)
        for widget in (self.machines_input, self.host_input):
            widget.setVisible(choice == MACHINES)
        self._arrange(is_wide=choice == MACHINES)
        self.processes_input.name.setText("Processes on each" if choice == MACHINES else "Processes")
        _set_number(self.processes, place.processes)
        _set_number(self.machines, place.machines)
        if self.host.text() != place.host:
            self.host.setText(place.host)
        way = next(position for position, one in enumerate(SHARINGS) if one.value == place.sharing)
        self.sharing.setCurrentIndex(way)
        self.sharing.setToolTip(SHARINGS[way].tooltip)
        self.differences.show_sentences(differences(self._config))
        self.command.show_text(command_text(place) if place.processes > 0 and place.machines > 0 else "")
        self._show_file_of(place)

    def _arrange(self, *, is_wide: bool) -> None:
        """Put the fields into one row, or into two where there are more of them."""
        self._grid.addWidget(self.machines_input, 0, 0)
        self._grid.addWidget(self.processes_input, 0, 1 if is_wide else 0)
        self._grid.addWidget(self.host_input, 0, 2)
        self._grid.addWidget(self.sharing_input, int(is_wide), 0 if is_wide else 1, 1, 3 if is_wide else 2)

    def _show_file_of(self, place: Placement) -> None:
        self.show_file.setVisible(place.uses_accelerate)
        self.reset_file.setVisible(place.uses_accelerate and place.sharing in self._files)
        if not place.uses_accelerate and not self.file.isHidden():
            _toggle(self.show_file, self.file)
        if place.uses_accelerate and self.file.toPlainText() != self._shown_file():
            self.file.blockSignals(True)
            self.file.setPlainText(self._shown_file())
            self.file.blockSignals(False)

    def _shown_file(self) -> str:
        place = self._place
        if place is None or not place.uses_accelerate:
            return ""
        return self._files.get(place.sharing) or template(place, bf16=self._config.bf16)

    def _use_fonts(self) -> None:
        for field in (self.processes, self.machines, self.host):
            field.setFont(theme.font(12, mono=True))
        self.file.setFont(theme.font(11, mono=True))
        self.file.setFixedHeight(_FILE_LINES * self.file.fontMetrics().lineSpacing() + 12)


def _toggle(opener: QPushButton, widget: QWidget) -> None:
    shown = widget.isHidden()
    widget.setVisible(shown)
    opener.setIcon(icons.icon("down" if shown else "right", "softtext"))


def _number(text: str) -> int:
    """A number of processes; 0 where it is none, which is refused with a sentence."""
    return int(text) if text.strip().isdecimal() and len(text.strip()) < 6 else 0


def _set_number(field: QLineEdit, value: int) -> None:
    if _number(field.text()) != value:
        field.setText(str(value))
