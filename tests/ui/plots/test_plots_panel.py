from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from grpo_gui.grpo.definitions import definition_of
from grpo_gui.ui import theme
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.step_table import AxisKind
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.plots_panel import PlotsPanel
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.plots.specs import CLIP_NOTE
from tests.ui import synthetic_run
from tests.ui.plots.conftest import synthetic_series


def point_of(area, step) -> QPoint:
    """The pixel of a step in the middle of a plot."""
    low, high = area.y_range
    place = area.getViewBox().mapViewToScene(QPointF(area.axis.place(step), (low + high) / 2))
    return area.mapFromScene(place)


def picture(widget) -> bytes:
    image = widget.grab().toImage()
    return bytes(image.constBits())


def test_that_every_plot_tells_its_newest_value(panel):
    values = {key: card.header.value.text() for key, card in panel.cards.items()}
    assert all(values.values())
    assert values["clip"].endswith(" %")
    assert values["time"].endswith(" ms")
    assert 0 < float(values["reward"]) < 1


def test_that_a_plot_has_no_ticks_before_it_is_drawn(qtbot):
    area = PlotArea(SharedAxis())
    qtbot.addWidget(area)
    assert area.getPlotItem().getAxis("left")._tickLevels == [[]]  # pyqtgraph has no public way to ask


def test_that_every_title_defines_its_metric(panel):
    for key, metric in (("reward", "reward"), ("kl", "kl"), ("advantage", "advantage/std"), ("norm", "grad_norm")):
        assert panel.cards[key].header.title.toolTip().startswith(definition_of(metric).tooltip)


def test_that_the_number_of_points_stands_above_the_plots(panel):
    assert panel.points.text() == "120 of 120 points"


def test_that_every_plot_has_a_summary_for_screen_readers(panel):
    assert panel.cards["reward"].accessibleDescription().startswith("Reward 0.")
    assert panel.cards["reward"].accessibleDescription().endswith("rising, 120 points")
    assert "falling" in panel.cards["entropy"].accessibleDescription()
    assert "at 0" in panel.cards["advantage"].accessibleDescription()


def test_that_the_crosshair_shows_the_values_of_its_step_in_all_headers(panel, qtbot):
    area = panel.cards["loss"].area
    qtbot.mouseMove(area.viewport(), point_of(area, 40))
    qtbot.waitUntil(lambda: panel.points.text() == "step 40")
    run = panel.axis.run
    assert panel.cards["reward"].header.value.text() == f"{run.series('reward').nearest(40)[1]:.2f}"
    assert panel.cards["norm"].area.cursor_line.isVisible()
    panel.axis.set_cursor(None)
    qtbot.waitUntil(lambda: panel.points.text().endswith("points"))
    assert not panel.cards["norm"].area.cursor_line.isVisible()


def test_that_a_click_names_the_step_and_a_drag_does_not(panel, qtbot):
    area = panel.cards["kl"].area
    with qtbot.waitSignal(panel.step_clicked) as signal:
        qtbot.mouseClick(area.viewport(), Qt.MouseButton.LeftButton, pos=point_of(area, 77))
    assert signal.args == [77]
    with qtbot.assertNotEmitted(panel.step_clicked):
        qtbot.mousePress(area.viewport(), Qt.MouseButton.LeftButton, pos=point_of(area, 77))
        qtbot.mouseMove(area.viewport(), point_of(area, 60))
        qtbot.mouseMove(area.viewport(), point_of(area, 50))
        qtbot.mouseRelease(area.viewport(), Qt.MouseButton.LeftButton, pos=point_of(area, 50))


def test_that_a_drag_moves_all_plots_and_follow_brings_them_back(panel, qtbot):
    area = panel.cards["reward"].area
    whole = panel.axis.range
    panel.axis.zoom(0.5, 60)
    zoomed = panel.axis.range
    start = point_of(area, 60)
    qtbot.mousePress(area.viewport(), Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(area.viewport(), start - QPoint(60, 0))
    qtbot.mouseMove(area.viewport(), start - QPoint(100, 0))
    qtbot.mouseRelease(area.viewport(), Qt.MouseButton.LeftButton, pos=start - QPoint(100, 0))
    assert panel.axis.range[0] > zoomed[0]
    assert panel.cards["time"].area.getViewBox().viewRange()[0] == pytest.approx(list(panel.axis.range))
    assert not panel.follow.isChecked()
    qtbot.mouseClick(panel.follow, Qt.MouseButton.LeftButton)
    assert panel.axis.range == whole
    assert panel.follow.isChecked()


def test_that_the_wheel_zooms(panel):
    area = panel.cards["reward"].area
    position = QPointF(point_of(area, 60))
    wheel = QWheelEvent(
        position,
        area.viewport().mapToGlobal(position),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    before = panel.axis.range
    QApplication.sendEvent(area.viewport(), wheel)
    assert panel.axis.range[1] - panel.axis.range[0] < before[1] - before[0]


def test_that_the_keys_move_the_crosshair_open_its_step_zoom_and_follow(panel, qtbot):
    area = panel.cards["reward"].area
    qtbot.keyClick(area, Qt.Key.Key_Left)
    qtbot.keyClick(area, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert panel.axis.cursor_step == 109
    qtbot.keyClick(area, Qt.Key.Key_Right)
    with qtbot.waitSignal(panel.step_clicked) as signal:
        qtbot.keyClick(area, Qt.Key.Key_Return)
    assert signal.args == [110]
    qtbot.keyClick(area, Qt.Key.Key_Plus)
    assert not panel.axis.following
    qtbot.keyClick(area, Qt.Key.Key_Home)
    assert panel.axis.following


def test_that_the_axis_can_count_samples_and_time(panel):
    for kind, end in (("samples", 120 * 64), ("time", 120 * 0.09)):
        panel.axis_choice.choose(kind)
        panel.clock.draw_all()
        assert panel.axis.range[1] == pytest.approx(end, rel=0.2)


def test_that_smoothing_changes_the_curve_but_not_the_points(panel):
    values = set()
    for weight in (0.0, 0.88, 0.99):
        panel.set_smoothing(weight)
        panel.clock.draw_all()
        values.add(panel.cards["loss"].header.value.text())
    assert len(values) == 3
    panel.update_words()
    assert panel.points.text() == "120 of 120 points"


def test_that_a_plot_can_be_drawn_on_a_logarithmic_scale(panel):
    card = panel.cards["entropy"]
    linear = card.area.y_range
    card.set_log(True)
    panel.clock.draw_all()
    assert card.is_log
    assert card.area.y_range[1] < 0.5 < linear[1]


def test_that_kl_begins_on_a_logarithmic_scale(panel):
    assert panel.cards["kl"].is_log
    assert panel.cards["kl"].area.y_range[0] < -1


def test_that_values_that_are_not_finite_are_marked_and_counted(panel):
    panel.set_run(synthetic_series(broken=(30, 31, 90)), synthetic_run.CONFIG)
    panel.clock.draw_all()
    legend = [entry.text for entry in panel.cards["loss"].header.legend.entries]
    assert legend == ["3 not finite"]
    panel.axis.set_cursor(30)
    panel.cards["loss"].update_header()
    assert panel.cards["loss"].header.value.text() == "–"


def test_that_one_inner_step_is_explained_in_the_clip_plot(panel):
    card = panel.cards["clip"]
    config = replace(synthetic_run.CONFIG, num_iterations=1)
    panel.set_run(synthetic_series(config=config), config)
    panel.clock.draw_all()
    assert card.note.text() == CLIP_NOTE
    assert card.note.isVisible()
    panel.set_run(synthetic_series(), synthetic_run.CONFIG)
    assert not card.note.isVisible()


def test_that_the_reward_plot_names_each_source(panel):
    legend = [(entry.text, entry.kind) for entry in panel.cards["reward"].header.legend.entries]
    assert legend == [
        ("mean", "line"),
        ("exact", "line"),
        ("format", "dash"),
        ("held-out", "dot"),
        ("spread", "area"),
    ]


def test_that_hidden_plots_leave_their_room_to_the_others(panel, qtbot):
    width = panel.cards["kl"].width()
    panel.set_hidden(frozenset({"clip", "time"}))
    qtbot.waitUntil(lambda: panel.cards["kl"].width() > 1.3 * width)
    assert not panel.cards["time"].isVisible()
    panel.set_hidden(frozenset())
    qtbot.waitUntil(lambda: panel.cards["kl"].width() == width)


def test_that_a_plots_own_menu_hides_it(panel):
    panel.cards["loss"].menu.hide_action.trigger()
    assert panel.grid.hidden == {"loss"}


def test_that_a_narrow_panel_has_two_columns_and_scrolls(panel, qtbot):
    panel.resize(620, 420)
    loss, norm, length = (panel.cards[key] for key in ("loss", "norm", "length"))
    qtbot.waitUntil(lambda: length.y() > norm.y())
    assert panel.grid.verticalScrollBar().maximum() > 0
    assert all(card.height() >= 96 for card in (loss, norm, length))


def test_that_an_empty_run_draws_empty_plots(panel):
    panel.set_run(RunSeries(2), None)
    panel.clock.draw_all()
    panel.update_words()
    assert panel.cards["reward"].header.value.text() == ""
    assert panel.cards["reward"].accessibleDescription() == "Reward: no points yet"
    assert panel.points.text() == ""


def test_that_a_change_of_theme_recolours_the_plots(panel):
    area = panel.cards["reward"].area
    light = picture(area)
    theme.apply("dark")
    panel.clock.draw_all()
    assert picture(area) != light
    theme.apply("light")
    panel.clock.draw_all()
    assert picture(area) == light


def test_that_the_clock_draws_a_grown_run_and_rests_otherwise(panel):
    drawn = []
    for key, card in panel.cards.items():
        original = card.redraw
        card.redraw = lambda key=key, original=original: (drawn.append(key), original())
    for _ in range(len(panel.cards)):
        panel.clock.tick()
    assert drawn == []
    panel.axis.run.version += 1
    for _ in range(2 * len(panel.cards)):
        panel.clock.tick()
    assert sorted(drawn) == sorted(panel.cards)


def test_that_the_clock_leaves_out_what_cannot_be_seen(panel):
    panel.set_hidden(frozenset({"loss"}))
    panel.axis.run.version += 1
    drawn = []
    panel.cards["loss"].redraw = lambda: drawn.append("loss")
    for _ in range(len(panel.cards)):
        panel.clock.tick()
    assert drawn == []


def test_that_the_choices_come_back_in_another_window(qtbot):
    first, second = PlotsPanel(), PlotsPanel()
    for panel in (first, second):
        qtbot.addWidget(panel)
    first.axis_choice.choose("samples")
    first.set_smoothing(0.97)
    first.set_hidden(frozenset({"entropy"}))
    first.cards["kl"].set_log(True)
    second.use_choices(first.choices())
    assert second.choices() == first.choices()
    assert second.axis.kind is AxisKind.SAMPLES
    assert second.smoothing == 0.97
    assert second.cards["entropy"].isHidden()
    assert not second.cards["reward"].isHidden()
    assert second.cards["kl"].is_log


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"axis": "miles", "smoothing": 3, "hidden": ["x"], "log": {"x": true}}']
)
def test_that_choices_of_another_version_change_nothing(qtbot, text):
    panel = PlotsPanel()
    qtbot.addWidget(panel)
    before = panel.choices()
    panel.use_choices(text)
    assert panel.choices() == before
