"""Compares what a widget paints with a reference, coarsely: where which colours are, not the shapes of letters.

A picture is reduced to the mean colours of small squares. Fonts differ from machine to machine, and with them where
words end and how dark they are. But words are grey: so the hues of the squares are compared narrowly, their brightness
only roughly, either may lie one square aside, and a few squares may be wholly different.
"""

import os
from pathlib import Path

import numpy as np
from PySide6.QtGui import QFontInfo, QImage
from PySide6.QtWidgets import QWidget

from grpo_gui.ui import theme

REFERENCES = Path(__file__).parent / "pictures"
FONTS = "fonts.txt"
WRITE = "WRITE_PICTURES"  # set in the environment: write the references anew
SQUARE = 8  # pixels
SAME_HUE = 9  # of 255, by which red less green, and blue less green, may differ in squares of the same colour
SAME_SHADE = 48  # of 255, by which the brightness of larger squares may differ
OTHERS = 0.08  # the share of the coloured squares, and of the larger ones, that may be different


def squares(widget: QWidget) -> np.ndarray:
    """The mean colours of the widget's squares, (rows, columns, 3)."""
    widget.ensurePolished()
    image = widget.grab().toImage().scaled(widget.size())  # also where a pixel of the screen is smaller
    rows, columns = widget.height() // SQUARE, widget.width() // SQUARE
    pixels = _array(image)[: rows * SQUARE, : columns * SQUARE].astype(float)
    means = pixels.reshape(rows, SQUARE, columns, SQUARE, 3).mean(axis=(1, 3))
    return np.rint(means).astype(np.uint8)


def fonts() -> str:
    """The fonts that words are written in on this machine."""
    families = (QFontInfo(theme.font(12, mono=mono)).family() for mono in (False, True))
    return ", ".join(families)


def reference_fonts() -> str:
    """The fonts of the references."""
    return (REFERENCES / FONTS).read_text().strip()


def differing(seen: np.ndarray, reference: np.ndarray) -> float:
    """The share of squares that look like none at their place in the other picture, in hue or in brightness."""
    if seen.shape != reference.shape:
        return 1.0
    hues = [_hue(picture) for picture in (seen, reference)]
    coloured = np.any([np.abs(hue - _hue(reference)[0, 0]).max(axis=2) > SAME_HUE for hue in hues], axis=0)
    other_hue = _unlike(*hues, SAME_HUE) | _unlike(*hues[::-1], SAME_HUE)
    shades = [_shade(picture) for picture in (seen, reference)]
    other_shade = _unlike(*shades, SAME_SHADE) | _unlike(*shades[::-1], SAME_SHADE)
    return max(float((other_hue & coloured).sum() / max(coloured.sum(), 1)), float(other_shade.mean()))


def check(name: str, seen: np.ndarray, folder: Path) -> str:
    """Compare with the reference `name`, or write it; return what is wrong, empty when nothing is.

    A picture that differs is kept in `folder`.
    """
    path = REFERENCES / f"{name}.png"
    if os.environ.get(WRITE):
        REFERENCES.mkdir(exist_ok=True)
        (REFERENCES / FONTS).write_text(f"{fonts()}\n")
        _image(seen).save(str(path))
        return ""
    share = differing(seen, read(name))
    if share <= OTHERS:
        return ""
    _image(seen).save(str(folder / f"{name}.png"))
    return f"{name}: {share:.1%} of the squares differ; see {folder / f'{name}.png'} beside {path}"


def read(name: str) -> np.ndarray:
    """A reference."""
    return _array(QImage(str(REFERENCES / f"{name}.png")))


def _hue(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture.astype(int), 2, 0)
    return np.stack([red - green, blue - green], axis=2)


def _shade(picture: np.ndarray) -> np.ndarray:
    """The brightness of squares of four, (rows / 2, columns / 2, 1)."""
    rows, columns = (length // 2 * 2 for length in picture.shape[:2])
    parts = picture[:rows, :columns].mean(axis=2).reshape(rows // 2, 2, columns // 2, 2)
    return parts.mean(axis=(1, 3))[..., None]


def _unlike(one: np.ndarray, other: np.ndarray, most: int) -> np.ndarray:
    """Where a square of `one` is like none of the nine at its place in `other`."""
    rows, columns, _ = one.shape
    padded = np.pad(other, ((1, 1), (1, 1), (0, 0)), mode="edge")
    around = [padded[y : y + rows, x : x + columns] for y in range(3) for x in range(3)]
    return np.min([np.abs(one - near).max(axis=2) for near in around], axis=0) > most


def _array(image: QImage) -> np.ndarray:
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(image.constBits(), dtype=np.uint8).reshape(image.height(), image.bytesPerLine())
    return lines[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def _image(colours: np.ndarray) -> QImage:
    rows, columns, _ = colours.shape
    return QImage(
        np.ascontiguousarray(colours).tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888
    ).copy()
