"""What the Router view asks before a model is added, renamed or removed."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFileDialog, QLineEdit, QWidget

from grpo_gui.ui.models.model_offers import Offer
from grpo_gui.ui.router_engine import HASHED, NewModel
from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.question_dialog import QuestionDialog

_NO_KEY, _VARIABLE, _KEYRING = "no key", "environment variable", "system keyring"
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OTHER = "another folder…"
_EMBEDDINGS = "a sentence embedding model"


class SnapshotModelDialog(QuestionDialog):
    """Asks for a snapshot of a run, or any folder with a model, and a name."""

    def __init__(self, parent: QWidget, offers: Sequence[Offer], taken: Sequence[str]) -> None:
        super().__init__(parent, "Add a snapshot", "Add")
        self._offers, self._taken = list(offers), taken
        self.snapshot = QComboBox()
        self.snapshot.setAccessibleName("Snapshot")
        self.snapshot.addItems([offer.title for offer in self._offers])
        self.snapshot.addItem(_OTHER)
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder")
        browse = button("Browse…", "folder", tooltip="Choose the folder of a model.")
        browse.clicked.connect(self._browse)
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.cost = _cost_field()
        self.add_row("Snapshot", self.snapshot)
        self.add_row("Folder", self.folder, browse)
        self.add_row("Name", self.name)
        self.add_row("Cost", self.cost)
        self.sentence.setText(
            "It answers in this program, on your machine. Any folder that transformers loads will do."
        )
        self.snapshot.currentIndexChanged.connect(self._choose)
        self.folder.textChanged.connect(self._check)
        self.name.textChanged.connect(self._check)
        self._choose(0)

    @property
    def model(self) -> NewModel:
        """What to add."""
        folder = str(Path(self.folder.text().strip()).expanduser())
        return NewModel(self.name.text().strip(), folder, cost_per_1000_tokens=self.cost.value())

    def _choose(self, place: int) -> None:
        if place < len(self._offers):
            self.folder.setText(str(self._offers[place].folder))
            self.name.setText(_free_name(self._offers[place].name, self._taken))
        self._check()

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "The folder of a model", self.folder.text())
        if folder:
            self.snapshot.setCurrentIndex(len(self._offers))
            self.folder.setText(folder)
            self.name.setText(self.name.text() or _free_name(Path(folder).name, self._taken))

    def _check(self) -> None:
        problem = _name_problem(self.name.text(), self._taken)
        folder = self.folder.text().strip()
        if not folder:
            problem = "Choose a snapshot or a folder."
        elif not Path(folder).expanduser().is_dir():
            problem = "There is no such folder."
        self.act.setEnabled(not problem)
        self.act.setToolTip(problem)


class EndpointDialog(QuestionDialog):
    """Asks for an OpenAI-compatible endpoint, its model, and where its key is; the key itself goes to the keyring."""

    def __init__(self, parent: QWidget, taken: Sequence[str]) -> None:
        super().__init__(parent, "Add an endpoint", "Add")
        self._taken = taken
        self.url, self.location, self.name, self.variable, self.key = (QLineEdit() for _ in range(5))
        self.url.setText("http://localhost:11434/v1")
        self.url.setAccessibleName("Base URL")
        self.location.setAccessibleName("Model")
        self.location.setPlaceholderText("its name at the endpoint, such as llama3.2")
        self.name.setAccessibleName("Name")
        self.name.setPlaceholderText("how it is called here")
        self.key_source = QComboBox()
        self.key_source.setAccessibleName("Key")
        self.key_source.addItems([_NO_KEY, _VARIABLE, _KEYRING])
        self.variable.setAccessibleName("Environment variable")
        self.variable.setPlaceholderText("OPENAI_API_KEY")
        self.key.setAccessibleName("Key to keep in the system's keyring")
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.cost = _cost_field()
        for name, widget in (("Base URL", self.url), ("Model", self.location), ("Name", self.name)):
            self.add_row(name, widget)
        self.add_row("Key", self.key_source, self.variable, self.key)
        self.add_row("Cost", self.cost)
        self._is_named = False
        self.name.textEdited.connect(self._named)
        self.location.textChanged.connect(self._suggest_name)
        self.key_source.currentIndexChanged.connect(self._check)
        for field in (self.url, self.location, self.name, self.variable, self.key):
            field.textChanged.connect(self._check)
        self._check()

    @property
    def model(self) -> NewModel:
        """What to add."""
        source = self.key_source.currentText()
        return NewModel(
            self.name.text().strip(),
            self.location.text().strip(),
            endpoint_url=self.url.text().strip(),
            key=self.key.text() if source == _KEYRING else "",
            key_variable=self.variable.text().strip() if source == _VARIABLE else "",
            cost_per_1000_tokens=self.cost.value(),
        )

    def _named(self) -> None:
        self._is_named = True

    def _suggest_name(self, location: str) -> None:
        if not self._is_named:
            self.name.setText(_free_name(location.strip().rsplit("/", 1)[-1], self._taken) if location.strip() else "")

    def _check(self) -> None:
        source = self.key_source.currentText()
        self.variable.setVisible(source == _VARIABLE)
        self.key.setVisible(source == _KEYRING)
        self.sentence.setText(
            {
                _NO_KEY: "Ollama, llama.cpp, LM Studio, vLLM and transformers serve need no key on your own machine.",
                _VARIABLE: "The key is read from this variable each time; it is not kept.",
                _KEYRING: "The key is kept in your system's keyring, never in the database or a log.",
            }[source]
        )
        problem = self._problem(source)
        self.act.setEnabled(not problem)
        self.act.setToolTip(problem)

    def _problem(self, source: str) -> str:
        address = urlsplit(self.url.text().strip())
        if address.scheme not in ("http", "https") or not address.netloc:
            return "Give a base URL that begins with http:// or https://."
        if not self.location.text().strip():
            return "Give the model's name at the endpoint."
        if source == _VARIABLE and not _VARIABLE_NAME.fullmatch(self.variable.text().strip()):
            return "Give the name of an environment variable."
        if source == _KEYRING and not self.key.text():
            return "Give the key."
        return _name_problem(self.name.text(), self._taken)


class FeaturesDialog(QuestionDialog):
    """Asks what the candidate network shall see of a query."""

    def __init__(self, parent: QWidget, features: str) -> None:
        super().__init__(parent, "What the network sees of a query", "Begin anew")
        self._now = features
        self.source = QComboBox()
        self.source.setAccessibleName("Features")
        self.source.addItems([HASHED, _EMBEDDINGS])
        self.folder = QLineEdit("" if features == HASHED else features)
        self.folder.setAccessibleName("Folder of the embedding model")
        self.browse = button("Browse…", "folder", tooltip="Choose the folder of a sentence embedding model.")
        self.browse.clicked.connect(self._browse)
        self.add_row("Features", self.source)
        self.add_row("Folder", self.folder, self.browse)
        self.source.setCurrentIndex(0 if features == HASHED else 1)
        self.source.currentIndexChanged.connect(self._check)
        self.folder.textChanged.connect(self._check)
        self._check()

    @property
    def features(self) -> str:
        """What was chosen: `HASHED` or a folder."""
        if self.source.currentText() == HASHED:
            return HASHED
        return str(Path(self.folder.text().strip()).expanduser())

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "The folder of an embedding model", self.folder.text())
        if folder:
            self.folder.setText(folder)

    def _check(self) -> None:
        has_folder = self.source.currentText() != HASHED
        self.folder.setEnabled(has_folder)
        self.browse.setEnabled(has_folder)
        self.sentence.setText(
            "A new candidate network begins with nothing learned; the stored ratings teach it again. "
            + (
                "Any folder that sentence-transformers loads will do, such as all-MiniLM-L6-v2."
                if has_folder
                else "Character and word n-grams need nothing else and are quick."
            )
        )
        problem = "" if self.features != self._now else "The network sees queries so already."
        if has_folder and not (self.folder.text().strip() and Path(self.features).is_dir()):
            problem = "There is no such folder."
        self.act.setEnabled(not problem)
        self.act.setToolTip(problem)


class RenameDialog(QuestionDialog):
    """Asks for another name."""

    def __init__(self, parent: QWidget, old: str, taken: Sequence[str]) -> None:
        super().__init__(parent, f"Rename {old}", "Rename")
        self._old, self._taken = old, taken
        self.name = QLineEdit(old)
        self.name.setAccessibleName("Name")
        self.name.selectAll()
        self.add_row("Name", self.name)
        self.sentence.setText("Its ratings and what was learned of it go along.")
        self.name.textChanged.connect(self._check)
        self._check()

    @property
    def new(self) -> str:
        """The name that was chosen."""
        return self.name.text().strip()

    def _check(self) -> None:
        problem = _name_problem(self.name.text(), self._taken)
        self.act.setEnabled(not problem)
        self.act.setToolTip(problem)


class RemoveDialog(QuestionDialog):
    """Asks before a model is not asked any more."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent, f"Remove {name}", "Remove")
        self.sentence.setText(
            f"{name} is not asked any more. Its ratings stay in the history, and it takes them up again when a model "
            "of this name is added. Files on the disk are left alone."
        )


def _cost_field() -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setRange(0.0, 1_000_000.0)
    field.setDecimals(4)
    field.setSuffix(" for 1000 tokens")
    field.setAccessibleName("Cost for 1000 tokens")
    field.setToolTip("In a unit of your own, the same for all models. 0: it costs nothing.")
    return field


def _name_problem(name: str, taken: Sequence[str]) -> str:
    if not name.strip():
        return "Give it a name."
    return f"There is a model {name.strip()} already." if name.strip() in taken else ""


def _free_name(name: str, taken: Sequence[str]) -> str:
    number = 2
    result = name
    while result in taken:
        result, number = f"{name}-{number}", number + 1
    return result
