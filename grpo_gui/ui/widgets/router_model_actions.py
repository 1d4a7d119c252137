"""Adds, renames, removes and retries the router's models, and lets the network see otherwise; asks where it must."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QWidget

from grpo_gui.ui.models.model_offers import Offer, read_offers
from grpo_gui.ui.models.router_desk import RouterDesk
from grpo_gui.ui.widgets.router_dialogs import (
    EndpointDialog,
    FeaturesDialog,
    RemoveDialog,
    RenameDialog,
    SnapshotModelDialog,
)
from grpo_gui.ui.widgets.router_models import ModelsCard
from grpo_gui.ui.workspace import Workspace


class ModelActions(QObject):
    """Works for the buttons of the models' card."""

    def __init__(self, workspace: Workspace, desk: RouterDesk, card: ModelsCard, parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace, self._desk, self._card, self._window = workspace, desk, card, parent
        card.add_snapshot_asked.connect(self._offer_snapshots)
        card.add_endpoint_asked.connect(self._add_endpoint)
        card.rename_asked.connect(self._rename)
        card.remove_asked.connect(self._remove)
        card.retry_asked.connect(desk.retry_model)

    def _offer_snapshots(self) -> None:
        database = self._workspace.database
        self._workspace.read(lambda reader: read_offers(reader, database), self._add_snapshot, key="router.offers")

    def _add_snapshot(self, offers: list[Offer]) -> None:
        dialog = SnapshotModelDialog(self._window, offers, self._card.names)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._desk.add_model(dialog.model)
        dialog.deleteLater()

    def _add_endpoint(self) -> None:
        dialog = EndpointDialog(self._window, self._card.names)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._desk.add_model(dialog.model)
        dialog.deleteLater()

    def choose_features(self) -> None:
        """Ask what the candidate network shall see of a query."""
        overview = self._desk.overview
        if overview is None:
            return
        dialog = FeaturesDialog(self._window, overview.candidate.features)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._desk.set_features(dialog.features)
        dialog.deleteLater()

    def _rename(self, name: str) -> None:
        others = [other for other in self._card.names if other != name]
        dialog = RenameDialog(self._window, name, others)
        if dialog.exec() == QDialog.DialogCode.Accepted and dialog.new != name:
            self._desk.rename_model(name, dialog.new)
        dialog.deleteLater()

    def _remove(self, name: str) -> None:
        dialog = RemoveDialog(self._window, name)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._desk.remove_model(name)
        dialog.deleteLater()
