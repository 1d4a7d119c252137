"""The class of a query and the reason that a person reads."""

import pytest

from grpo_gui.router.context import RoutingContext, context_from_text, explain_query_class


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("Please Calculate 3 + 4", "math", "it says “Calculate”"),
        ("Fix `x = 1`", "code", "it says “`x = 1`”"),
        ("```\ndef f():\n    return 1\n    # and much more\n```", "code", "it says “``` def f(): return 1 #…”"),
        ("hello", "short", "it has fewer than 50 characters"),
        ("h" * 501, "long", "it has more than 500 characters"),
        ("h" * 50, "general", "it has 50 to 500 characters, no code and no mathematics"),
    ],
)
def test_that_the_reason_says_what_decided(text, name, reason):
    assert explain_query_class(context_from_text(text)) == (name, reason)


def test_that_a_context_without_text_has_a_reason_too():
    assert explain_query_class(RoutingContext(has_code=True)).reason == "it is marked as code"
    assert explain_query_class(RoutingContext(has_math=True)).reason == "it is marked as mathematics"


def test_that_metadata_is_kept():
    assert context_from_text("hello", {"user": 1}).metadata == {"user": 1}
