"""The takes panel: a map of what was played, a slider to look back with, and ways on from there."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider, QSpinBox, QVBoxLayout, QWidget

from app.language import tr
from app.window.clips import ClipView, SideBySide
from app.window.decode_jobs import DecodeJob, DecodeJobs
from app.window.flow import Flow
from app.window.frame_image import image_of
from app.window.take_map import TakeMap, lanes
from engine.models.interface import ModelSpec
from engine.playback.player import Frame
from engine.runtime.live_engine import LiveEngine
from engine.runtime.takes import Kept, TakeMark

COMPARED_SECONDS = 12.0
"""Of a take that are decoded to be looked at beside another."""
CLIP_SECONDS = 6.0


class TakesPanel(QWidget):
    """Reads the engine's takes."""

    messagePosted = Signal(str)
    editingFinished = Signal()
    """The viewport should have the keyboard back."""

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        """folder: videos and clips go to folders in it."""
        super().__init__(parent)
        self._folder = folder
        self._engine: LiveEngine | None = None
        self._spec: ModelSpec | None = None
        self._path: list[Kept] = []
        self._marks: tuple[TakeMark, ...] = ()
        self.jobs = DecodeJobs(self)
        self._preview_job: DecodeJob | None = None
        self._pair_jobs: list[DecodeJob] = []
        self.pair: SideBySide | None = None
        self._pictured: set[int] = set()
        self.map = TakeMap(self)
        self.preview = ClipView(tr("Preview of the chosen instant"), self)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(tr("Instant of the take"))
        self.when = QLabel("", self)
        self.when.setWordWrap(True)
        self.go_button = self._button(
            tr("Go on from here"), tr("Branch: the world goes on from the chosen group, another way")
        )
        self.compare_button = self._button(tr("Compare with current take"), tr("Both, from where they part"))
        self.what_if_button = self._button(
            tr("What if"), tr("The suffix that was revoked last, beside what came instead")
        )
        self.minutes = QSpinBox(self)
        self.minutes.setRange(1, 120)
        self.minutes.setSuffix(" min")
        self.minutes.setAccessibleName(tr("Minutes to export"))
        self.export_button = self._button(
            tr("Export last minutes"), tr("An mp4 of what was played, made from the kept latents")
        )
        self.clip_button = self._button(
            tr("Clip"), tr("A looping WebP of the {n:g} s before the chosen instant", n=CLIP_SECONDS)
        )
        column = QVBoxLayout(self)
        column.addWidget(self.map)
        column.addWidget(self.preview, 1)
        column.addWidget(self.slider)
        column.addWidget(self.when)
        column.addLayout(Flow(self.go_button, self.compare_button, self.what_if_button, self.clip_button))
        export = QHBoxLayout()
        export.addWidget(self.export_button, 1)
        export.addWidget(self.minutes)
        column.addLayout(export)
        self.map.takeChosen.connect(lambda take: self._chosen())
        self.map.instantChosen.connect(self._seek)
        self.slider.valueChanged.connect(self._look)
        self.go_button.clicked.connect(self.go_on)
        self.compare_button.clicked.connect(self.compare)
        self.what_if_button.clicked.connect(self.what_if)
        self.export_button.clicked.connect(self.export)
        self.clip_button.clicked.connect(self.clip)

    def _button(self, text: str, tip: str) -> QPushButton:
        b = QPushButton(text, self)
        b.setToolTip(tip)
        b.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return b

    def set_engine(self, engine: LiveEngine, spec: ModelSpec) -> None:
        """Another engine from now on."""
        self._engine, self._spec = engine, spec
        self._marks, self._path = (), []
        self._pictured.clear()
        self.map.forget()
        self._cancel_preview()
        self._close_pair()
        self.refresh()

    @property
    def path(self) -> list[Kept]:
        """The groups of the chosen take, from the beginning of the world."""
        return self._path

    def refresh(self) -> None:
        """Takes in what was delivered since; call it now and then while the panel is seen."""
        if self._engine is None or self._spec is None:
            return
        marks = self._engine.takes.marks()
        if marks == self._marks:
            return
        current = self._engine.takes.current
        if len(marks) < len(self._marks):  # another world
            self._pictured.clear()
            self.map.forget()
        elif len(marks) > len(self._marks):
            self.map.chosen = current
        self._marks = marks
        self.map.show_lanes(lanes(marks, current, self._spec))
        self._picture(marks)
        self._chosen()

    def _picture(self, marks: tuple[TakeMark, ...]) -> None:
        """Each take gets a picture of its beginning, once."""
        assert self._engine is not None
        for mark in marks:
            if mark.id in self._pictured or not mark.groups:
                continue
            path = self._engine.takes.path(mark.id)
            own = [k for k in path if k.position >= mark.first]
            if own:
                self._pictured.add(mark.id)
                before = [k for k in path if k.position < own[0].position]
                self.jobs.frames(
                    self._engine, own[:1], before, partial(self._put_picture, mark.id), lambda reason: None
                )

    def _put_picture(self, take: int, frames: list[Frame]) -> None:
        self.map.put_picture(take, QPixmap.fromImage(image_of(frames[-1]).copy()))

    def chosen_take(self) -> int | None:
        return self.map.chosen

    def _seek(self, seconds: float) -> None:
        """The slider goes to the group that plays at an instant of the chosen take."""
        assert self._spec is not None
        frame = seconds * self._spec.fps
        self.slider.setValue(max((i for i, k in enumerate(self._path) if k.start <= frame), default=0))

    def _chosen(self) -> None:
        take = self.chosen_take()
        if self._engine is None or take is None:
            return
        at_end = self.slider.value() == self.slider.maximum()
        self._path = self._engine.takes.path(take)
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(self._path) - 1))
        if at_end:
            self.slider.setValue(self.slider.maximum())
        self.slider.blockSignals(False)
        self._label()
        if not self.preview.frames and self._preview_job is None:
            self._look(self.slider.value())

    def _label(self) -> None:
        kept = self.chosen()
        if kept is not None and self._spec is not None:
            seconds = kept.start / self._spec.fps
            self.map.instant = seconds
            self.map.update()
            self.when.setText(
                tr("group {n}, {seconds} s: {prompt}", n=kept.position, seconds=f"{seconds:.2f}", prompt=kept.prompt)
            )

    def chosen(self) -> Kept | None:
        """The group under the slider."""
        return self._path[self.slider.value()] if self.slider.value() < len(self._path) else None

    def _look(self, value: int) -> None:
        self._label()
        kept = self.chosen()
        if kept is not None and self._engine is not None:
            self._cancel_preview()
            self._preview_job = self.jobs.frames(
                self._engine, [kept], self._path[:value], self.preview.show_frames, self.preview.show_message
            )

    def _cancel_preview(self) -> None:
        if self._preview_job is not None:
            self._preview_job.cancel()

    # -- what a person does --------------------------------------------------------------------------------------------

    def go_on(self) -> None:
        """Another way on from the group under the slider."""
        kept, take = self.chosen(), self.chosen_take()
        if kept is not None and take is not None and self._engine is not None:
            self._engine.rewind(take, kept.position)
        self.editingFinished.emit()

    def compare(self) -> None:
        """The chosen take and the current one, from where they part."""
        take = self.chosen_take()
        if self._engine is None or take is None:
            return
        takes = self._engine.takes
        here, there = takes.path(take), takes.path(takes.current)
        if take == takes.current:
            self.messagePosted.emit(tr("choose another take than the current one to see both"))
            return
        same = 0
        while same < min(len(here), len(there)) and here[same].group is there[same].group:
            same += 1
        self._beside(
            tr("Two takes"),
            tr("take {n}", n=take + 1),
            tr("take {n}", n=takes.current + 1) + " " + tr("(current)"),
            here,
            there,
            max(0, same - 2),
        )

    def what_if(self) -> None:
        """The suffix that was revoked last, beside what was played instead."""
        if self._engine is None:
            return
        takes = self._engine.takes
        found = [s for s in takes.suffixes() if takes.instead_of(s)]
        if not found:
            self.messagePosted.emit(
                tr("nothing was revoked yet: press a key or change the prompt while the cache is deep")
            )
            return
        s = found[-1]
        past = [k for k in takes.path(s.take) if k.position < s.position]
        self._beside(
            tr("What if"),
            tr("revoked"),
            tr("played instead"),
            past + list(s.groups),
            past + takes.instead_of(s),
            max(0, len(past) - 2),
        )

    def _beside(self, title: str, left: str, right: str, a: list[Kept], b: list[Kept], at: int) -> None:
        assert self._engine is not None and self._spec is not None
        self._close_pair()
        self.pair = SideBySide(title, left, right, self._spec.fps, self)
        count = max(1, round(COMPARED_SECONDS * self._spec.fps / self._spec.spans[1]))
        self._pair_jobs = [
            self.jobs.frames(self._engine, path[at : at + count], path[:at], clip.show_frames, clip.show_message)
            for clip, path in zip(self.pair.clips, (a, b), strict=True)
        ]
        self.pair.show()

    def _close_pair(self) -> None:
        for job in self._pair_jobs:
            job.cancel()
        self._pair_jobs = []
        if self.pair is not None:
            self.pair.close()
            self.pair.deleteLater()
            self.pair = None

    def export(self) -> None:
        """A video of the last minutes of the current take, from the kept latents."""
        if self._engine is None or self._spec is None:
            return
        path = self._engine.takes.path(self._engine.takes.current)
        frames = self.minutes.value() * 60 * self._spec.fps
        first = (
            next((i for i, k in enumerate(path) if k.start >= path[-1].start + path[-1].span - frames), 0)
            if path
            else 0
        )
        file = self._folder / "films" / time.strftime(f"{self._spec.name.replace('/', '-')}-last-%Y-%m-%d-%H%M%S.mp4")
        self.jobs.video(self._engine, self._spec, path[first:], path[:first], file, self._saved, self._not_saved)
        self.editingFinished.emit()

    def clip(self) -> None:
        """A short looping clip that ends at the chosen instant."""
        if self._engine is None or self._spec is None:
            return
        at = self.slider.value() + 1
        first = max(0, at - round(CLIP_SECONDS * self._spec.fps / self._spec.spans[1]))
        file = self._folder / "pictures" / time.strftime("%Y-%m-%d-%H%M%S.webp")
        self.jobs.clip(
            self._engine, self._spec, self._path[first:at], self._path[:first], file, self._saved, self._not_saved
        )
        self.editingFinished.emit()

    def _saved(self, file: Path) -> None:
        self.messagePosted.emit(tr("saved {file}", file=file))

    def _not_saved(self, reason: str) -> None:
        self.messagePosted.emit(tr("{reason}; nothing was written", reason=reason))
