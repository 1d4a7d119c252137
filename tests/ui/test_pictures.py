"""What a person sees of widgets that paint themselves, against references in both themes.

`make pictures` writes the references anew; look at the difference before committing it.
"""

import os
from dataclasses import replace

import pytest
from PySide6.QtCore import QSize

from grpo_gui.router.explanation import WeightMap
from grpo_gui.snapshots.judging import WinRate
from grpo_gui.ui import theme
from grpo_gui.ui.models.group_focus import GroupFocus
from grpo_gui.ui.models.shown_step import of_event
from grpo_gui.ui.models.token_values import token_values
from grpo_gui.ui.widgets.batch_map import BatchMap
from grpo_gui.ui.widgets.newest_group import NewestGroup
from grpo_gui.ui.widgets.router_weight_map import WeightMapWidget
from grpo_gui.ui.widgets.token_panel import TokenPanel
from grpo_gui.ui.widgets.win_bar import WinBar
from tests.ui.fakes import completion, floats, group, step_completed
from tests.ui.pictures import OTHERS, WRITE, check, differing, fonts, read, reference_fonts, squares
from tests.ui.plots.conftest import drawn_panel

SIZES = {
    "batch-map": QSize(336, 72),
    "weight-map": QSize(448, 160),
    "win-bar": QSize(448, 24),
    "newest-group": QSize(336, 416),
    "tokens": QSize(448, 432),
}
WORDY = ("newest-group", "tokens")  # where words are decides what lies below them
PLOTS = ("reward", "advantage", "clip", "kl", "entropy", "loss", "norm", "length", "time")


@pytest.fixture(autouse=True)
def _usual_font_size():
    if theme.scale() != 1.0:
        pytest.skip("the system's font is not 12 pixels high, and all sizes follow it")


@pytest.fixture
def make(workspace, qtbot):
    """Make a widget by its name, with what it shows, on screen."""

    def made(name, **changes):
        widget = globals()[f"_{name.replace('-', '_')}"](workspace, **changes)
        qtbot.addWidget(widget)
        widget.resize(SIZES[name])
        with qtbot.waitExposed(widget):
            widget.show()
        return widget

    return made


@pytest.fixture
def plots(qtbot):
    return drawn_panel(qtbot)


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    if theme.current().name != request.param:
        theme.apply(request.param)
    return request.param


def test_that_the_plots_look_like_their_references(scheme, plots, tmp_path):
    faults = [check(f"plot-{name}-{scheme}", squares(plots.cards[name].area), tmp_path) for name in PLOTS]
    assert not any(faults), "\n".join(filter(None, faults))


def test_that_what_paints_itself_looks_like_its_reference(scheme, make, tmp_path):
    names = [name for name in SIZES if name not in WORDY]
    faults = [check(f"{name}-{scheme}", squares(make(name)), tmp_path) for name in names]
    assert not any(faults), "\n".join(filter(None, faults))


def test_that_what_has_words_looks_like_its_reference(scheme, make, tmp_path):
    if not os.environ.get(WRITE) and fonts() != reference_fonts():
        pytest.skip(f"the references are written in {reference_fonts()}, this machine has {fonts()}")
    faults = [check(f"{name}-{scheme}", squares(make(name)), tmp_path) for name in WORDY]
    assert not any(faults), "\n".join(filter(None, faults))


@pytest.mark.parametrize("name", [*SIZES, *(f"plot-{name}" for name in PLOTS)])
def test_that_the_other_theme_is_noticed(name):
    assert differing(read(f"{name}-light"), read(f"{name}-dark")) > 0.5


@pytest.mark.parametrize(("name", "layer"), [("loss", -1), ("kl", -1), ("reward", 1), ("length", 0)])
def test_that_a_curve_or_band_that_is_missing_is_noticed(plots, name, layer):
    card = plots.cards[name]
    for item in card._layers[layer].items():
        item.hide()
    assert differing(squares(card.area), read(f"plot-{name}-light")) > OTHERS


def test_that_another_shade_of_the_map_is_noticed(make):
    batch = make("batch-map", rewards=(1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0))
    assert differing(squares(batch), read("batch-map-light")) > OTHERS


def test_that_the_bar_of_another_share_is_noticed(make):
    bar = make("win-bar")
    bar.show_rate(WinRate(36, 108, 56))
    assert differing(squares(bar), read("win-bar-light")) > OTHERS


_REWARDS = (1.0, 1.0, 0.2, 0.0, 1.0, 0.2, 1.0, 0.0)


def _focused(workspace, rewards):
    focus = GroupFocus(workspace)
    groups = [group(0, rewards), group(1, rewards[::-1]), group(2, (1.0,) * 8), group(3, rewards[2:] + rewards[:2])]
    focus.offer(of_event(step_completed(1, 5, tuple(groups))))
    return focus


def _newest_group(workspace, rewards=_REWARDS):
    return NewestGroup(_focused(workspace, rewards))


def _batch_map(workspace, rewards=_REWARDS):
    return BatchMap(_focused(workspace, rewards))


def _tokens(workspace):
    count = 24
    logps = [-0.4 + 0.25 * ((place % 5) - 2) for place in range(count)]
    sample = completion(
        token_ids=tuple(range(count)),
        tokens=tuple("abcdefghijklmnopqrstuvwx"),
        old_logps=floats(*(-0.4,) * count),
        logps=floats(*logps),
        ref_logps=floats(*(-0.5,) * count),
        entropy=floats(*(0.1 * (place % 7) for place in range(count))),
        clipped=bytes((255, 0, 0, 0, 1) * 5)[:count],
    )
    panel = TokenPanel()
    panel.show_values(token_values(replace(sample, text="abcdefghijklmnopqrstuvwx")), "9.9", (0.8, 1.2))
    return panel


def _weight_map(workspace):
    widget = WeightMapWidget()
    weights = ((1.5, -0.5, 0.0), (-2.0, 0.5, 1.0), (0.2, 0.0, -1.0))
    widget.show_weights(
        WeightMap(
            ("short", "long", "code"),
            ("a", "b", "c"),
            weights,
            ((0.9, 0.4, 0.5), (0.1, 0.6, 0.7), (0.5, 0.5, 0.3)),
            ((0.1, 0.1, 0.3),) * 3,
            ((20, 12, 0), (9, 8, 7), (3, 0, 5)),
        )
    )
    return widget


def _win_bar(workspace):
    bar = WinBar()
    bar.show_rate(WinRate(56, 108, 36))
    return bar
