"""The class of a query as the router at work sees it: the built-in tasks have classes of their own."""

import re

from grpo_gui.router.context import QueryClass, RoutingContext, context_from_text

_TASKS = {
    "compare": re.compile(r"Which is bigger\? \d+\.\d+ or \d+\.\d+\?"),
    "sort": re.compile(r"Sort the digits: \d+"),
    "add": re.compile(r"What is \d+ \+ \d+\?"),
    "reverse": re.compile(r"Reverse: [a-z]+"),
}


def task_class(query: str) -> QueryClass | None:
    """The built-in task that the query is a prompt of; None: the class follows from the text as usual."""
    name = next((name for name, form in _TASKS.items() if form.fullmatch(query.strip())), None)
    return None if name is None else QueryClass(name, "it is a prompt of this built-in task")


def context_of(query: str) -> tuple[RoutingContext, QueryClass | None]:
    """What the policy needs to know of a query: its context, and a class that overrides the one of the context."""
    return context_from_text(query), task_class(query)
