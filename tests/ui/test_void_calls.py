"""PySide6 6.12.0 drops a reference to None or True per void call on Python 3.11 and then aborts."""

import sys

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel

CALLS = 500
SLACK = 50


class Emitter(QObject):
    fired = Signal()


def test_that_void_calls_and_signals_take_no_reference_to_none_or_true(qtbot):
    label, emitter = QLabel(), Emitter()
    qtbot.addWidget(label)
    emitter.fired.connect(lambda: None)
    before = sys.getrefcount(None), sys.getrefcount(True)
    for number in range(CALLS):
        label.setText(str(number))
        emitter.fired.emit()
    after = sys.getrefcount(None), sys.getrefcount(True)
    assert after[0] > before[0] - SLACK
    assert after[1] > before[1] - SLACK
