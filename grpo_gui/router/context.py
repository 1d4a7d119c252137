"""What the router knows of a query, and the query class that follows from it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

SHORT_BELOW = 50  # characters; exactly 50 and exactly 500 are "general"
LONG_ABOVE = 500
QUERY_CLASSES = ("code", "math", "short", "long", "general")

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`|\b(?:def|class|import|function)\s", re.DOTALL)
_MATH = re.compile(r"\b(?:solve|integral|equation|calculate|compute)", re.IGNORECASE)
_SHOWN = 24  # characters of the text that explains a class


@dataclass
class RoutingContext:
    """One query as the router sees it. `query_length` is in characters; the text itself is not looked at."""

    query: str = ""
    query_length: int = 0
    has_code: bool = False
    has_math: bool = False
    language: str = "en"
    urgency: float = 0.5
    metadata: dict[str, object] = field(default_factory=dict)


class QueryClass(NamedTuple):
    """A class with the reason for it, as a clause that follows "because"."""

    name: str
    reason: str


def derive_query_class(context: RoutingContext) -> str:
    """The class of a query; the first rule that matches wins: code, math, short, long, general."""
    if context.has_code:
        return "code"
    if context.has_math:
        return "math"
    if context.query_length < SHORT_BELOW:
        return "short"
    if context.query_length > LONG_ABOVE:
        return "long"
    return "general"


def context_from_text(query: str, metadata: Mapping[str, object] | None = None) -> RoutingContext:
    """The context of a query's text.

    Code is a fenced or inline code block, or one of def, class, import, function before a blank. Maths is one of
    solve, integral, equation, calculate, compute, also as the start of a longer word, in any case.
    """
    return RoutingContext(
        query=query,
        query_length=len(query),
        has_code=_CODE.search(query) is not None,
        has_math=_MATH.search(query) is not None,
        metadata=dict(metadata or {}),
    )


def explain_query_class(context: RoutingContext) -> QueryClass:
    """The class of a query and why it has it."""
    name = derive_query_class(context)
    match name:
        case "code":
            return QueryClass(name, _says(_CODE, context.query, "it is marked as code"))
        case "math":
            return QueryClass(name, _says(_MATH, context.query, "it is marked as mathematics"))
        case "short":
            return QueryClass(name, f"it has fewer than {SHORT_BELOW} characters")
        case "long":
            return QueryClass(name, f"it has more than {LONG_ABOVE} characters")
        case _:
            return QueryClass(name, f"it has {SHORT_BELOW} to {LONG_ABOVE} characters, no code and no mathematics")


def _says(pattern: re.Pattern[str], query: str, otherwise: str) -> str:
    found = pattern.search(query)
    if found is None:
        return otherwise
    text = " ".join(found.group().split())
    return f"it says “{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}”"
