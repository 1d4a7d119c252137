"""The application's style sheet: Fusion flattened, built from the tokens of one theme.

Widgets choose a look with the dynamic property `look` (`button.setProperty("look", "primary")`); a rule
never stands without a selector, because such a rule flows into all children.
"""

import re
from collections.abc import Callable, Mapping

_BASE = """
QMainWindow, QDialog { background: $win; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QToolTip { background: $surface; color: $text; border: 1px solid $line2; padding: 4px 6px; }
QMenuBar { background: $win; color: $text; border-bottom: 1px solid $line; padding: 0 8px; }
QMenuBar::item { padding: 5px 10px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: $soft; color: $softtext; }
QMenu { background: $surface; color: $text; border: 1px solid $line2; padding: 4px; }
QMenu::item { padding: 4px 24px 4px 12px; border-radius: 4px; }
QMenu::item:selected { background: $soft; color: $softtext; }
QMenu::item:disabled { color: $text3; }
QMenu::separator { height: 1px; background: $line; margin: 4px 6px; }
QMenu::icon { padding-left: 8px; }
QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget[look="page"] { background: transparent; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: $line; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: $line2; border-radius: 3px; min-height: 24px; min-width: 24px; margin: 2px; }
QScrollBar::handle:hover { background: $ctl; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
"""

_LABELS = """
QLabel { background: transparent; color: $text; }
QLabel[look="label"] { color: $text2; }
QLabel[look="hint"] { color: $text3; font-size: @11; }
QLabel[look="small"] { color: $text2; font-size: @11; }
QLabel[look="value"] { color: $text; font-weight: 600; }
QLabel[look="title"] { color: $text; font-weight: 600; }
QLabel[look="cardtitle"] { color: $text; font-size: @15; font-weight: 600; }
QLabel[look="headline"] { color: $text; font-size: @20; font-weight: 500; }
QLabel[look="hero"] { color: $text; font-size: @22; font-weight: 600; }
QLabel[look="lead"] { color: $text2; font-size: @13; }
QLabel[look="link"] { color: $softtext; font-weight: 500; }
QLabel[look="good"] { color: $good; }
QLabel[look="warn"] { color: $warn; }
QLabel[look="bad"] { color: $bad; }
QLabel[look="error"] { color: $bad; font-size: @11; }
QLabel[look="pill-good"] { color: $good; background: $goodbg; }
QLabel[look="pill-warn"] { color: $warn; background: $warnbg; }
QLabel[look="pill-bad"] { color: $bad; background: $badbg; }
QLabel[look="pill-plain"] { color: $text2; background: $sunken; }
QLabel[look="pill-accent"] { color: $onaccent; background: $accent; }
QLabel[look^="pill"] { border-radius: 4px; padding: 1px 7px; font-weight: 500; }
QLabel:disabled { color: $text3; }
"""

_FRAMES = """
QFrame[look="card"] { background: $surface; border: 1px solid $line; border-radius: 6px; }
QFrame[look="pinned"] { background: $surface; border: none; border-top: 1px solid $line; }
QFrame[look="card-chosen"] { background: $surface; border: 1px solid $accent; border-radius: 6px; }
QFrame[look="sunken"] { background: $sunken; border: none; border-radius: 4px; }
QFrame[look="hline"] { background: $line; border: none; max-height: 1px; min-height: 1px; }
QFrame[look="vline"] { background: $line; border: none; max-width: 1px; min-width: 1px; }
QFrame[look="banner-warn"] { background: $warnbg; border: 1px solid $line; border-radius: 4px; }
QFrame[look="banner-bad"] { background: $badbg; border: 1px solid $line; border-radius: 4px; }
QFrame[look="overlay"] { background: $surface; border: 1px solid $line2; border-radius: 8px; }
QFrame[look="panel"] { background: $win; border: none; border-right: 1px solid $line; }
QFrame#segments { background: $sunken; border: 1px solid $line; border-radius: 4px; }
QFrame[look="remedy"] { background: $soft; border: none; border-radius: 6px; }
QFrame#chip { background: $soft; border-radius: 4px; }
QLabel#badge { background: $accent; color: $onaccent; border-radius: 7px; padding: 1px 4px; }
QLabel#keycap { background: $surface; color: $text2; border: 1px solid $line2; border-radius: 4px; padding: 1px 5px; }
"""

_BUTTONS = """
QPushButton { background: $surface; color: $text; border: 1px solid $line2; border-radius: 4px;
  padding: 0 10px; min-height: @24; font-weight: 500; }
QPushButton:hover { background: $sunken; }
QPushButton:pressed { background: $line; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $text3; border-color: $line; background: $surface; }
QPushButton:checked { background: $soft; color: $softtext; border-color: $accent; }
QPushButton[look="primary"] { background: $accent; color: $onaccent; border: 1px solid $accent; font-weight: 600; }
QPushButton[look="primary"]:hover { background: $accenthover; border-color: $accenthover; }
QPushButton[look="primary"]:focus { border-color: $text; }
QPushButton[look="primary"]:disabled { background: $sunken; color: $text3; border-color: $line; }
QPushButton#big { min-height: @36; font-size: @15; padding: 3px 12px; }
QPushButton[look="link"] { background: transparent; border: 1px solid transparent; color: $softtext;
  padding: 0 2px; min-height: @18; font-weight: 500; text-align: left; }
QPushButton[look="link"]:hover { text-decoration: underline; }
QPushButton[look="link"]:focus { border-color: $accent; }
QPushButton[look="link"]:disabled { color: $text3; }
QPushButton[look="segment"] { background: transparent; border: 1px solid transparent; color: $text2;
  min-height: @18; padding: 0 10px; margin: 2px; }
QPushButton[look="segment"]:hover { color: $text; }
QPushButton[look="segment"]:checked { background: $surface; border-color: $line2; color: $text; font-weight: 600; }
QPushButton[look="segment"]:focus { border-color: $accent; }
QPushButton[look="grade"] { background: $sunken; color: $text; border: 1px solid $sunken; font-weight: 600;
  min-height: @18; min-width: @22; padding: 0; }
QPushButton[look="grade"]:hover { border-color: $line2; }
QPushButton[look="grade"]:checked { background: $accent; color: $onaccent; border-color: $accent; }
QPushButton[look="grade"]:disabled { color: $text3; }
QPushButton[look="grade"]:checked:disabled { background: $soft; color: $softtext; border-color: $soft; }
QPushButton[look="chip"] { background: transparent; border: 1px solid transparent; color: $softtext; min-height: @16;
  padding: 0 2px; }
QPushButton[look="chip"]:focus { border-color: $accent; }
QPushButton#score { padding: 0; min-height: @18; }
QToolButton { background: transparent; color: $text; border: 1px solid transparent; border-radius: 4px;
  padding: 3px 6px; font-weight: 500; }
QToolButton:hover { background: $sunken; }
QToolButton:focus { border-color: $accent; }
QToolButton:checked { background: $soft; color: $softtext; }
QToolButton:disabled { color: $text3; }
QToolButton::menu-indicator { image: none; }
"""

_FIELDS = """
QLineEdit, QPlainTextEdit, QAbstractSpinBox { background: $surface; color: $text; border: 1px solid $ctl;
  border-radius: 4px; padding: 0 6px; min-height: @22; selection-background-color: $accent;
  selection-color: $onaccent; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; height: 0; border: none; }
QLineEdit:focus, QPlainTextEdit:focus, QAbstractSpinBox:focus { border-color: $accent; }
QLineEdit[state="edited"] { background: $soft; border-color: $accent; }
QLineEdit[state="bad"] { border-color: $bad; }
QLineEdit:disabled { color: $text3; border-color: $line; }
QLineEdit[look="bare"] { border: none; background: transparent; }
QComboBox { background: $surface; color: $text; border: 1px solid $ctl; border-radius: 4px; padding: 0 6px;
  min-height: @22; }
QComboBox:focus, QComboBox:on { border-color: $accent; }
QComboBox:disabled { color: $text3; border-color: $line; }
QComboBox::drop-down { border: none; width: 20px; subcontrol-position: center right; }
QComboBox::down-arrow { image: url($arrow); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $surface; color: $text; border: 1px solid $line2; outline: none;
  selection-background-color: $soft; selection-color: $softtext; padding: 2px; }
QCheckBox, QRadioButton { color: $text; spacing: 6px; background: transparent; }
QCheckBox:disabled, QRadioButton:disabled { color: $text3; }
QCheckBox::indicator { width: 13px; height: 13px; border: 1px solid $ctl; border-radius: 3px; background: $surface; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url($tick); }
QCheckBox:focus::indicator { border-color: $accent; }
QSlider { background: transparent; min-height: @18; }
QSlider::groove:horizontal { background: $line; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: $accent; height: 4px; border-radius: 2px; }
QSlider::handle:horizontal { background: $surface; border: 2px solid $accent; width: 10px; height: 10px;
  margin: -5px 0; border-radius: 7px; }
QSlider::handle:horizontal:focus { background: $soft; }
QProgressBar { background: $line; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }
"""

_VIEWS = """
QAbstractItemView { background: $surface; color: $text; border: none; outline: none; alternate-background-color: $win;
  selection-background-color: $soft; selection-color: $text; gridline-color: $line; }
QAbstractItemView::item { padding: 0 6px; border: none; }
QAbstractItemView::item:selected { background: $soft; color: $text; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section { background: $surface; color: $text2; border: none; border-bottom: 1px solid $line;
  padding: 0 6px 0 9px; min-height: @26; font-weight: 400; }
QTableCornerButton::section { background: $surface; border: none; }
"""

_SHELL = """
QToolBar#tools { background: $win; border: none; border-bottom: 1px solid $line; min-height: @41; }
QToolBar#tools QToolButton { padding: 4px 10px; font-weight: 600; }
QToolBar#tools::separator { background: $line; width: 1px; margin: 10px 8px; }
QStatusBar { background: $win; border-top: 1px solid $line; min-height: @25; color: $text2; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $text2; font-size: @11; }
QStatusBar QPushButton { font-size: @11; font-weight: 400; }
QFrame#rail { background: $win; border: none; border-right: 1px solid $line; }
QFrame#rail QToolButton { min-width: @66; min-height: @44; padding: 2px 0; font-weight: 500;
  font-size: @11; color: $text2; border-radius: 6px; }
QFrame#rail QToolButton:hover { background: $sunken; }
QFrame#rail QToolButton:checked { background: $soft; color: $softtext; }
QFrame#rail QToolButton:focus { border-color: $accent; }
"""


def build_style_sheet(css: Callable[[str], str], px: Callable[[float], int], images: Mapping[str, str]) -> str:
    """Return the style sheet: `css` gives a token's colour, `px` scales a length, `images` the file of each image."""
    sheet = _BASE + _LABELS + _FRAMES + _BUTTONS + _FIELDS + _VIEWS + _SHELL
    sheet = re.sub(r"\$(\w+)", lambda match: images.get(match[1]) or css(match[1]), sheet)
    return re.sub(r"@(\d+)", lambda match: f"{px(int(match[1]))}px", sheet)
