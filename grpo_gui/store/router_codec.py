"""The kinds of the router's log entries, by the name that the database keeps."""

from grpo_gui.router_events import (
    RouterAnswered,
    RouterDecided,
    RouterEvent,
    RouterImported,
    RouterModelAdded,
    RouterModelRemoved,
    RouterModelRenamed,
    RouterModeSet,
    RouterNetworkStarted,
    RouterNetworkStepped,
    RouterPromoted,
    RouterRated,
    RouterRolledBack,
    RouterStarted,
    RouterTradeOffSet,
    RouterWeightsMoved,
)

PLAIN: dict[str, type[RouterEvent]] = {  # kept as JSON
    "started": RouterStarted,
    "imported": RouterImported,
    "trade_off_set": RouterTradeOffSet,
    "mode_set": RouterModeSet,
    "model_renamed": RouterModelRenamed,
    "model_added": RouterModelAdded,
    "model_removed": RouterModelRemoved,
    "network_started": RouterNetworkStarted,
    "network_stepped": RouterNetworkStepped,
    "rolled_back": RouterRolledBack,
}
KINDS: dict[type[RouterEvent], str] = {kind: name for name, kind in PLAIN.items()} | {
    RouterDecided: "decided",
    RouterAnswered: "answered",
    RouterRated: "rated",
    RouterWeightsMoved: "weights_moved",
    RouterPromoted: "promoted",
}
