"""Turns any stored text into something safe and readable on one line: every character can be seen."""

import unicodedata

_NAMED = {"\n": "⏎", "\r": "␍", "\t": "⇥"}
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Joiners are part of ordinary writing (Persian, Devanagari, emoji), so they stay inside a longer text.
_JOINERS = frozenset("\u200c\u200d")


def one_line(text: str, limit: int = 400) -> str:
    """Give at most `limit` characters of a text on one line; line ends and control characters become visible signs.

    Direction overrides are shown as their code point, so that no text can reorder what stands beside it.
    """
    shown = text[:limit]
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(_visible(character) for character in shown)


def paragraph(text: str) -> str:
    """Give the whole text with its line ends and tabs kept; other control characters become visible signs."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(character if character in "\n\t" else _visible(character) for character in text)


def token_text(text: str) -> str:
    """Give a token's text with its blanks kept; an empty token reads as the sign for the empty string."""
    if not text:
        return "∅"
    if len(text) == 1 and text in _JOINERS:
        return f"<{ord(text):04X}>"
    return one_line(text)


def quoted(text: str) -> str:
    """Give a token between quotes, so that its blanks can be seen."""
    return f"“{one_line(text)}”"


def _visible(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character in _JOINERS or unicodedata.category(character) not in _INVISIBLE:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return f"<{code:04X}>"
