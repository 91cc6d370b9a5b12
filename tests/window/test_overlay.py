"""The overlay by itself: nothing is cut, both forms, the legend, the story of an update, and pictures of it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window import overlay
from app.window.explain import Explanation
from app.window.overlay_export import export_overlay
from app.window.overlay_figures import GAP, figures, rows
from app.window.overlay_ribbon import Ribbon
from app.window.story import Moment, Story
from engine.control.controller import State
from engine.runtime.view import Fate, FlightMark, GroupMark, UpdateKind, UpdateMark, UpdatePhase, View

KEY = UpdateMark(1, UpdateKind.KEY, "", 1.0, 32, UpdatePhase.LIVE, 0.1, 0.6, 0.3)
GROUPS = tuple(
    GroupMark(i, 4 * i, 4, 0, Fate.DELIVERED if i < 4 else Fate.LOCKED if i < 6 else Fate.CACHED) for i in range(11)
)
BUSY = View(
    state=State.PRODUCE,
    groups=GROUPS,
    revoked=(GroupMark(11, 44, 4, 0, Fate.REVOKED, at=1.0),),
    flight=FlightMark(3, 11, 7, 44, 1, 2, 4),
    updates=(KEY,),
    last=KEY,
    L50=1.0,
    cached=7,
    cached_seconds=1.75,
    window=7,
    C=0.6,
    discarded=0.12,
    stalls=120,
    stall_seconds=438.55,
)


def pixels(view: View, width: int, form: overlay.Form, now: float = 1.1) -> tuple[np.ndarray, QRectF]:
    image = QImage(width, 400, QImage.Format.Format_RGB888)
    image.fill(Qt.GlobalColor.white)
    p = QPainter(image)
    panel = overlay.paint(p, QRectF(image.rect()), view, 1.0, now, form)
    p.end()
    data = np.frombuffer(image.constBits(), np.uint8).reshape(400, -1)[:, : width * 3].reshape(400, width, 3)
    return data.copy(), panel


@pytest.mark.parametrize("width", [300, 540, 960, 1920, 3840])
def test_every_figure_is_whole_at_every_width(qapp: QApplication, width: int) -> None:
    metrics = QFontMetricsF(overlay._font(width, qapp.font()))
    placed = rows(metrics, width - 2 * overlay.MARGIN, figures(BUSY))
    assert [f for row in placed for f in row] == figures(BUSY)
    for row in placed:
        taken = sum(max(metrics.horizontalAdvance(t) for t in f) + GAP for f in row) - GAP
        assert taken <= width - 2 * overlay.MARGIN or len(row) == 1
    assert "revoked" in dict(figures(BUSY))


@pytest.mark.parametrize("form", [overlay.Form(), overlay.Form(legend=True), overlay.Form(full=False)])
def test_it_is_drawn_inside_its_panel_and_nowhere_else(qapp: QApplication, form: overlay.Form) -> None:
    image, panel = pixels(BUSY, 960, form)
    assert (image[: int(panel.top())] == 255).all()
    assert (image[int(panel.top()) + 2 :] < 255).any()


def test_the_compact_form_is_smaller_and_the_legend_needs_room(qapp: QApplication) -> None:
    heights = [pixels(BUSY, 960, overlay.Form(*f))[1].height() for f in ((False,), (True,), (True, True))]
    assert heights == sorted(heights) and heights[0] < 0.7 * heights[1] < heights[2]


def test_what_was_revoked_falls_away_or_only_fades(qapp: QApplication) -> None:
    def lowest_red(still: bool) -> int:
        view = View(revoked=(GroupMark(1, 20, 4, 0, Fate.REVOKED, at=0.0),))
        image, _ = pixels(view, 960, overlay.Form(full=False, still=still), now=1.6)
        red = (image[..., 0].astype(int) > image[..., 1].astype(int) + 60).any(axis=1)
        return int(np.flatnonzero(red).max())

    assert lowest_red(still=False) > lowest_red(still=True) + 8


def test_a_key_is_joined_to_the_call_that_will_obey_it_and_then_to_its_first_group(qapp: QApplication) -> None:
    view = View(groups=GROUPS, flight=BUSY.flight, updates=(replace(KEY, frame=-1, phase=UpdatePhase.GENERATING),))
    x = Ribbon(QRectF(14, 0, 932, 20), view, 1.0, 1.1).x_of
    below = slice(-6, None)
    waiting, _ = pixels(view, 960, overlay.Form(full=False))
    done, _ = pixels(replace(view, updates=(KEY,)), 960, overlay.Form(full=False))
    colour = overlay.version_colour(1).getRgb()[:3]

    def reach(image: np.ndarray) -> int:
        return int(np.flatnonzero((np.abs(image[below].astype(int) - colour).sum(axis=2) < 90).any(axis=0)).max())

    assert abs(reach(done) - x(32)) < 4
    assert abs(reach(waiting) - x(44)) < 6


def story_of_a_key() -> Story:
    story = Story()
    before = View(groups=GROUPS, flight=None, fps=16.0)
    received = replace(KEY, frame=-1, phase=UpdatePhase.RECEIVED)
    gone = (GroupMark(11, 44, 4, 0, Fate.REVOKED, at=1.0),)
    views = [
        (0.8, before),
        (1.0, replace(before, updates=(received,), revoked=gone)),
        (1.2, replace(before, updates=(received,), revoked=gone, flight=BUSY.flight)),
        (1.6, replace(before, updates=(KEY,), last=KEY)),
        (2.1, replace(before, updates=(KEY,), last=KEY)),
        (2.9, replace(before, updates=(KEY,), last=KEY)),
    ]
    for at, view in views:
        story.add(view, at, at)
    return story


def test_the_story_of_a_key_is_told_in_its_order() -> None:
    tale = story_of_a_key().last()
    assert tale is not None and tale.update == KEY
    words = [tale.words(i) for i in range(len(tale.moments))]
    assert "sampled already" in words[0]
    assert "1 groups" in words[1] and "as soon as the sampler is free" in words[1]
    assert "step 2 of 4" in words[2]
    assert "first changed group is there" in words[3]
    assert "1.00 s" in words[4] and "0.60 s of sampling" in words[4]


def test_a_world_that_begins_anew_has_no_story(qapp: QApplication) -> None:
    story = story_of_a_key()
    story.add(View(), 0.0, 5.0)
    assert story.last() is None


def test_it_plays_slowly_and_stops_at_its_end(qtbot: QtBot) -> None:
    tale = story_of_a_key().last()
    assert tale is not None
    dialog = Explanation(tale)
    qtbot.addWidget(dialog)
    assert dialog.play_button.text() == "Pause"
    dialog.seek(1.2)
    assert "step 2 of 4" in dialog.words.text()
    dialog.seek(9.0)
    assert dialog.slider.value() == dialog.slider.maximum() and dialog.play_button.text() == "Play"
    dialog.picture.grab()


def test_it_is_saved_as_svg_and_png(qapp: QApplication, tmp_path: Path) -> None:
    vector, raster = export_overlay(Moment(BUSY, 1.0, 1.1), tmp_path / "a.svg")
    root = ET.parse(vector).getroot()
    words = " ".join("".join(x.itertext()) for x in root.iter() if x.tag.endswith("text"))
    assert "revoked" in words and "1.00 = 0.10 + 0.60 + 0.30 s" in words
    image = QImage(str(raster))
    assert image.width() == 2560 and image.height() > 200
    with pytest.raises(OSError, match="cannot be written"):
        export_overlay(Moment(BUSY, 1.0, 1.1), tmp_path / "none" / "a.svg")
