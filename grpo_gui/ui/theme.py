"""The current theme: colours by token, fonts, light or dark, following the system or forced by the settings."""

from collections.abc import Callable
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Qt, QTemporaryDir, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication

from grpo_gui.ui import tokens
from grpo_gui.ui.glyphs import glyph_pixmap
from grpo_gui.ui.style_sheet import build_style_sheet


class ThemeSignals(QObject):
    """Emits `changed` on the GUI thread after the colours of the window changed; read `current()` again."""

    changed = Signal()


signals = ThemeSignals()


class Theme:
    """The colours of light or of dark. Immutable: a change of theme makes a new one."""

    def __init__(self, *, dark: bool) -> None:
        self.is_dark = dark
        self.name = "dark" if dark else "light"
        self._tokens = tokens.DARK if dark else tokens.LIGHT
        self._colors: dict[tuple[str, int], QColor] = {}  # parsed once: they are asked for in every painting

    def css(self, name: str) -> str:
        """Return token `name` (or a series meaning of `tokens.SERIES`) as `#RRGGBB`."""
        return self._tokens[tokens.SERIES.get(name, name)]

    def color(self, name: str, alpha: int = 255) -> QColor:
        """Return token `name` (or a series meaning) as a colour; `alpha` is 0 to 255."""
        known = self._colors.get((name, alpha))
        if known is None:
            known = self._colors[name, alpha] = QColor(self.css(name))
            known.setAlpha(alpha)
        return QColor(known)

    def mix(self, base: str, other: str, share: float) -> QColor:
        """Return `base` with `share` (0 to 1) of `other` mixed in, as an opaque colour."""
        low, high = self.color(base), self.color(other)
        share = min(max(share, 0.0), 1.0)
        return QColor(
            round(low.red() + (high.red() - low.red()) * share),
            round(low.green() + (high.green() - low.green()) * share),
            round(low.blue() + (high.blue() - low.blue()) * share),
        )

    def diverging(self, value: float) -> QColor:
        """Return the ground of a cell for `value` in [-1, 1]: surface towards vermillion (low) or blue (high)."""
        share = tokens.DIVERGING_SHARE[self.name] * min(abs(value), 1.0)
        return self.mix("surface", "blue" if value > 0 else "vermillion", share)

    @property
    def grid_alpha(self) -> int:
        """Alpha of the plots' grid, of 255."""
        return tokens.GRID_ALPHA[self.name]

    @property
    def density_stops(self) -> tuple[tuple[float, str], ...]:
        """The colour map of densities as (position, colour) pairs from empty to full."""
        colors = tokens.DENSITY_DARK if self.is_dark else tokens.DENSITY_LIGHT
        return tuple(zip(tokens.DENSITY_STOPS, colors, strict=True))

    def palette(self) -> QPalette:
        """Return the Qt palette for everything that the style sheet does not name."""
        roles = {
            QPalette.ColorRole.Window: "win",
            QPalette.ColorRole.WindowText: "text",
            QPalette.ColorRole.Base: "surface",
            QPalette.ColorRole.AlternateBase: "sunken",
            QPalette.ColorRole.Text: "text",
            QPalette.ColorRole.Button: "surface",
            QPalette.ColorRole.ButtonText: "text",
            QPalette.ColorRole.ToolTipBase: "surface",
            QPalette.ColorRole.ToolTipText: "text",
            QPalette.ColorRole.PlaceholderText: "text3",
            QPalette.ColorRole.Highlight: "soft",
            QPalette.ColorRole.HighlightedText: "text",
            QPalette.ColorRole.Link: "softtext",
            QPalette.ColorRole.Mid: "line",
            QPalette.ColorRole.Accent: "accent",
        }
        palette = QPalette()
        for role, token in roles.items():
            palette.setColor(role, self.color(token))
        for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("text3"))
        return palette


class ThemeKeeper(QObject):
    """Owns the application's theme: applies it and follows the system while the choice is `system`."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._choice = "system"
        self._system_font = QFont(app.font())
        self.scale = min(max(QFontInfo(self._system_font).pixelSize() / 12.0, 0.75), 2.5)
        self.fonts: dict[tuple[float, int, bool], QFont] = {}  # painting asks for thousands a second
        self._images = QTemporaryDir()
        self.theme = Theme(dark=False)
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._system_changed)

    def apply(self, choice: str) -> None:
        """Use `system`, `light` or `dark` from now on and tell everybody through `signals.changed`."""
        self._choice = choice
        dark = choice == "dark" or (choice == "system" and self._system_is_dark())
        self.theme = Theme(dark=dark)
        self.fonts.clear()
        self._app.setFont(_application_font(self._system_font))
        self._app.setPalette(self.theme.palette())
        self._app.setStyleSheet(build_style_sheet(self.theme.css, px, self._draw_images()))
        signals.changed.emit()

    def _draw_images(self) -> dict[str, str]:
        """Draw what Qt's style sheets can only load from files, in this theme's colours; return name -> file."""
        files = {}
        for name, (icon, token) in {"arrow": ("ph.caret-down", "text2"), "tick": ("ph.check-bold", "onaccent")}.items():
            path = Path(self._images.path()) / f"{name}-{self.theme.name}.png"
            glyph_pixmap(icon, self.theme.color(token), 24).save(str(path))
            files[name] = path.as_posix()
        return files

    def _system_is_dark(self) -> bool:
        return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def _system_changed(self) -> None:
        if self._choice == "system" and self.theme.is_dark != self._system_is_dark():
            self.apply("system")


class _Follower(QObject):
    """A child of a widget that calls a function at each change of theme, and dies with the widget."""

    def __init__(self, owner: QObject, function: Callable[[], None]) -> None:
        super().__init__(owner)
        self._function = function
        signals.changed.connect(self.call)

    def call(self) -> None:
        self._function()


def follow(owner: QObject, function: Callable[[], None]) -> None:
    """Call `function` now and after every change of theme, for as long as `owner` lives."""
    _Follower(owner, function).call()


_kept: list[ThemeKeeper] = []


def _keeper() -> ThemeKeeper:
    """Return the keeper of the one running application, made at first use."""
    if _kept and shiboken6.isValid(_kept[0]):
        return _kept[0]
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise RuntimeError("the theme needs a QApplication; make one first")
    _kept[:] = [ThemeKeeper(app)]
    return _kept[0]


def apply(choice: str) -> None:
    """Style the application: `system`, `light` or `dark`. Call on the GUI thread."""
    _keeper().apply(choice)


def current() -> Theme:
    """Return the theme in use; do not keep it, it is another object after `signals.changed`."""
    return _keeper().theme


def scale() -> float:
    """Return the size of the system's font relative to the 12 px that the design is drawn for."""
    return _keeper().scale


def px(size: float) -> int:
    """Return a length of the design (drawn for a 12-px font) in pixels at the system's font size."""
    return max(1, round(size * scale()))


def font(size: float = 12, weight: int = 400, *, mono: bool = False) -> QFont:
    """Return the UI (or monospace) font: `size` in design pixels, weight 400, 500 or 600, tabular figures."""
    fonts = _keeper().fonts
    known = fonts.get((size, weight, mono))
    if known is None:
        known = fonts[(size, weight, mono)] = _make_font(size, weight, mono=mono)
    return QFont(known)


def _make_font(size: float, weight: int, *, mono: bool) -> QFont:
    result = QFont(QApplication.font())
    if mono:
        result.setFamilies(mono_families())
        result.setFeature(QFont.Tag("calt"), 0)  # otherwise JetBrains Mono merges tokens such as ->
    result.setPixelSize(px(size))
    result.setWeight(QFont.Weight(weight))
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


def mono_families() -> list[str]:
    """Return the system's monospace family, preferring JetBrains Mono where none was chosen on Linux."""
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    return _with_preferred("JetBrains Mono", system, generic=("monospace", "Monospace"))


def _application_font(system: QFont) -> QFont:
    result = QFont(system)
    result.setFamilies(_with_preferred("Inter", system.family(), generic=("Sans Serif", "Sans", "sans-serif")))
    result.setPixelSize(px(12))
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


def _with_preferred(preferred: str, system: str, generic: tuple[str, ...]) -> list[str]:
    """Put `preferred` first only where the system names no font of its own (a bare X server)."""
    return [preferred, system] if system in generic and preferred in QFontDatabase.families() else [system]
