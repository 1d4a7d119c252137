"""What an answer says differently from the most common one, word by word; sign by sign where there are few."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"  # written without blanks: each sign is compared alone
_TOKEN = re.compile(rf"[{_SIGNS}]|(?:(?![{_SIGNS}])\w)+|[^\w\s]")
_SIGN = re.compile(f"[{_SIGNS}]")
_FEW_WORDS = 2
_MOST_WORDS = 2_000  # two longer texts are not compared: it would take longer than a person waits
LEAST_SHARED = 0.5

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """`spans` are the places (start, end) in the other text; None when too little is shared to mark anything."""

    spans: tuple[Span, ...] | None
    shared: float  # share of the words of both that the other has too, in whatever order, 0 to 1


def difference(common: str, other: str) -> Difference:
    """Compare `other` with `common`; spans are given only where more than half of the words are shared."""
    first, second = _words(common), _words(other)
    if max(len(first), len(second)) <= _FEW_WORDS:  # numbers, formulas, single words: sign by sign
        first, second = _signs(common), _signs(other)
    if not first or not second or len(first) > _MOST_WORDS or len(second) > _MOST_WORDS:
        return Difference(None, 0.0)
    matcher = SequenceMatcher(None, [common[a:b] for a, b in first], [other[a:b] for a, b in second], autojunk=False)
    shared = matcher.quick_ratio()
    if shared <= LEAST_SHARED:
        return Difference(None, shared)
    changed = [(low, high) for tag, _, _, low, high in matcher.get_opcodes() if tag != "equal" and high > low]
    return Difference(tuple((second[low][0], second[high - 1][1]) for low, high in changed), shared)


def length_text(text: str) -> str:
    """How long an answer is, in words; in characters for numbers, and where no blanks stand between words."""
    is_number = not any(character.isalpha() for character in text)
    if is_number or len(_SIGN.findall(text)) * 2 > len(text.strip()):
        count = sum(not character.isspace() for character in text)
        return f"{count} character{'' if count == 1 else 's'}"
    count = sum(any(map(str.isalnum, word)) for word in text.split())
    return f"{count} word{'' if count == 1 else 's'}"


def _signs(text: str) -> list[Span]:
    return [(place, place + 1) for place, sign in enumerate(text) if not sign.isspace()]


def _words(text: str) -> list[Span]:
    return [match.span() for match in _TOKEN.finditer(text)]
