"""The views of the window, in the order of the rail and of the keys Ctrl+1, Ctrl+2 and so on."""

VIEWS: tuple[tuple[str, str], ...] = (
    ("train", "Train"),
    ("completions", "Completions"),
    ("rate", "Rate"),
    ("router", "Router"),
    ("runs", "Runs"),
    ("snapshots", "Snapshots"),
)


def key_of(name: str) -> str:
    """The keys that show a view."""
    return f"Ctrl+{[view for view, _ in VIEWS].index(name) + 1}"


def all_keys() -> str:
    """The keys of all views, in short."""
    return f"Ctrl+1 to Ctrl+{len(VIEWS)}"
