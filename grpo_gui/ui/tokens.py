"""The colours, sizes and fixed series meanings of the window's look, for light and dark."""

from collections.abc import Mapping
from types import MappingProxyType

LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "win": "#F3F4F6",
        "surface": "#FFFFFF",
        "sunken": "#EBEDF0",
        "line": "#D9DDE3",
        "line2": "#B9C0C9",
        "ctl": "#87909C",
        "text": "#1A1D21",
        "text2": "#49525D",
        "text3": "#606975",
        "accent": "#4A4FC4",
        "accenthover": "#3E43B0",
        "onaccent": "#FFFFFF",
        "soft": "#E8E8FA",
        "softtext": "#3438A0",
        "good": "#00734F",
        "warn": "#8F5A00",
        "bad": "#B3261E",
        "goodbg": "#E2F4EC",
        "warnbg": "#FBF0DC",
        "badbg": "#FCE8E6",
        "blue": "#0072B2",
        "vermillion": "#D55E00",
        "green": "#008F68",
        "orange": "#B37400",
        "purple": "#B8608F",
        "sky": "#3B97CC",
        "ink": "#1A1D21",
    }
)

DARK: Mapping[str, str] = MappingProxyType(
    {
        "win": "#15171B",
        "surface": "#1D2025",
        "sunken": "#121418",
        "line": "#30353D",
        "line2": "#4A515C",
        "ctl": "#6A727E",
        "text": "#E7E9EC",
        "text2": "#B0B7C1",
        "text3": "#9099A5",
        "accent": "#6266DE",
        "accenthover": "#5458CC",
        "onaccent": "#FFFFFF",
        "soft": "#2B2D52",
        "softtext": "#C3C5FF",
        "good": "#5CCBA0",
        "warn": "#EDB44A",
        "bad": "#FF8A80",
        "goodbg": "#17322A",
        "warnbg": "#382C14",
        "badbg": "#43211F",
        "blue": "#4A9FE0",
        "vermillion": "#E8702A",
        "green": "#1FB58A",
        "orange": "#E69F00",
        "purple": "#D589B4",
        "sky": "#9AD3F5",
        "ink": "#E7E9EC",
    }
)

SERIES: Mapping[str, str] = MappingProxyType(
    {
        "total": "blue",
        "mean": "blue",
        "advantage_positive": "blue",
        "clip_high": "blue",
        "advantage_negative": "vermillion",
        "clip_low": "vermillion",
        "sample_reward": "green",
        "source_1": "green",
        "source_2": "purple",
        "source_3": "sky",
        "held_out": "ink",
        "maximum": "orange",
        "second_run": "orange",
        "time_rollout": "blue",
        "time_reward": "orange",
        "time_logps": "text3",
        "time_update": "green",
        "time_store": "purple",
    }
)
"""Meaning of a series -> colour token. `source_2`, `maximum` of a second run etc. also carry a dash."""

DENSITY_STOPS = (0.0, 0.08, 0.25, 0.5, 0.78, 1.0)
DENSITY_LIGHT = ("#FFFFFF", "#D6E7F3", "#8FC0E0", "#3C8FC6", "#0A5C94", "#06365A")
DENSITY_DARK = ("#1D2025", "#1F3A52", "#23608F", "#3F93CF", "#8CC8F2", "#E4F4FF")

GRID_ALPHA = {"light": 34, "dark": 42}
DIVERGING_SHARE = {"light": 0.62, "dark": 0.52}

RADIUS_CONTROL = 4
RADIUS_CARD = 6
RADIUS_OVERLAY = 8
GAP = 8  # between cards
PAD = 12  # inside cards

MENU_HEIGHT = 26
TOOLBAR_HEIGHT = 42
STATUS_HEIGHT = 26
CARD_HEADER_HEIGHT = 26
TABLE_HEADER_HEIGHT = 26
ROW_DETAIL = 24
ROW_LIST = 26
ROW_WIDE = 28
FIELD_HEIGHT = 24
BUTTON_HEIGHT = 26
RAIL_WIDTH = 80
RUN_PANEL_WIDTH = 248
GROUP_PANEL_WIDTH = 324
