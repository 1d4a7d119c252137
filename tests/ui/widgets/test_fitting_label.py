from grpo_gui.ui.widgets.fitting_label import FittingLabel


def test_that_the_longest_wording_that_fits_is_shown(qtbot):
    label = FittingLabel()
    qtbot.addWidget(label)
    words = ("+0.06 in 50 steps (likely +0.03 to +0.09)", "+0.06 in 50 steps (+0.03 to +0.09)", "+0.06")
    label.set_wordings(*words)
    width = label.fontMetrics().horizontalAdvance
    for room, expected in ((width(words[0]) + 2, 0), (width(words[0]) - 1, 1), (width(words[1]) - 1, 2), (5, 2)):
        label.resize(room, 20)
        with qtbot.waitExposed(label):
            label.show()
        assert label.text() == words[expected]


def test_that_a_screen_reader_gets_the_longest_wording(qtbot):
    label = FittingLabel()
    qtbot.addWidget(label)
    label.set_wordings("all of it", "less")
    assert label.accessibleName() == "all of it"
