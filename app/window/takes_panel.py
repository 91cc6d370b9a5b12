"""The takes panel: the tree of what was played, a slider to look back with, and ways on from there."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSlider,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.window.clips import ClipView, SideBySide
from app.window.decode_jobs import DecodeJob, DecodeJobs
from engine.models.interface import ModelSpec
from engine.runtime.engine import Engine
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
        self._engine: Engine | None = None
        self._spec: ModelSpec | None = None
        self._path: list[Kept] = []
        self._marks: tuple[TakeMark, ...] = ()
        self.jobs = DecodeJobs(self)
        self._preview_job: DecodeJob | None = None
        self._pair_jobs: list[DecodeJob] = []
        self.pair: SideBySide | None = None
        self.tree = QTreeWidget(self)
        self.tree.setAccessibleName("Takes")
        self.tree.setHeaderLabels(["take", "from", "to", "prompt"])
        self.tree.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.preview = ClipView("Preview of the chosen instant", self)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName("Instant of the take")
        self.when = QLabel("", self)
        self.go_button = self._button("Go on from here", "Branch: the world goes on from the chosen group, another way")
        self.compare_button = self._button("Compare with current take", "Both, from where they part")
        self.what_if_button = self._button("What if", "The suffix that was revoked last, beside what came instead")
        self.minutes = QSpinBox(self)
        self.minutes.setRange(1, 120)
        self.minutes.setSuffix(" min")
        self.minutes.setAccessibleName("Minutes to export")
        self.export_button = self._button(
            "Export last minutes", "An mp4 of what was played, made from the kept latents"
        )
        self.clip_button = self._button("Clip", f"A looping WebP of the {CLIP_SECONDS:g} s before the chosen instant")
        column = QVBoxLayout(self)
        column.addWidget(self.tree, 2)
        column.addWidget(self.preview, 2)
        column.addWidget(self.slider)
        column.addWidget(self.when)
        for widgets in (
            (self.go_button, self.compare_button),
            (self.what_if_button, self.clip_button),
            (self.export_button, self.minutes),
        ):
            row = QHBoxLayout()
            for w in widgets:
                row.addWidget(w)
            column.addLayout(row)
        self.tree.currentItemChanged.connect(lambda now, before: self._chosen())
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

    def set_engine(self, engine: Engine, spec: ModelSpec) -> None:
        """Another engine from now on."""
        self._engine, self._spec = engine, spec
        self._marks, self._path = (), []
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
        fps = self._spec.fps
        current = self._engine.takes.current
        if [m.id for m in marks] != [m.id for m in self._marks]:
            chosen = self.chosen_take()
            self.tree.blockSignals(True)
            self.tree.clear()
            items: dict[int, QTreeWidgetItem] = {}
            for m in marks:
                parent = items.get(m.parent) if m.parent is not None else None
                items[m.id] = QTreeWidgetItem(parent) if parent is not None else QTreeWidgetItem(self.tree)
                items[m.id].setData(0, Qt.ItemDataRole.UserRole, m.id)
            self.tree.expandAll()
            wanted = items.get(
                current if chosen is None or chosen not in items or len(marks) > len(self._marks) else chosen
            )
            if wanted is not None:
                self.tree.setCurrentItem(wanted)
            self.tree.blockSignals(False)
        by_id = {m.id: m for m in marks}
        for item in self._items():
            m = by_id[item.data(0, Qt.ItemDataRole.UserRole)]
            name = f"{m.id + 1}" + (" (current)" if m.id == current else "")
            for column, text in enumerate(
                (name, f"{max(0, m.start) / fps:.1f} s", f"{max(0, m.end) / fps:.1f} s", m.prompt)
            ):
                item.setText(column, text)
        self._marks = marks
        self._chosen()

    def _items(self) -> list[QTreeWidgetItem]:
        out: list[QTreeWidgetItem] = []
        todo = [self.tree.topLevelItem(i) for i in range(self.tree.topLevelItemCount())]
        while todo:
            item = todo.pop()
            if item is not None:
                out.append(item)
                todo += [item.child(i) for i in range(item.childCount())]
        return out

    def chosen_take(self) -> int | None:
        item = self.tree.currentItem()
        return None if item is None else int(item.data(0, Qt.ItemDataRole.UserRole))

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

    def _label(self) -> None:
        kept = self.chosen()
        if kept is not None and self._spec is not None:
            self.when.setText(f"group {kept.position}, {kept.start / self._spec.fps:.2f} s: {kept.prompt}")

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
            self.messagePosted.emit("choose another take than the current one to see both")
            return
        same = 0
        while same < min(len(here), len(there)) and here[same].group is there[same].group:
            same += 1
        self._beside(
            "Two takes", f"take {take + 1}", f"take {takes.current + 1} (current)", here, there, max(0, same - 2)
        )

    def what_if(self) -> None:
        """The suffix that was revoked last, beside what was played instead."""
        if self._engine is None:
            return
        takes = self._engine.takes
        found = [s for s in takes.suffixes() if takes.instead_of(s)]
        if not found:
            self.messagePosted.emit("nothing was revoked yet: press a key or change the prompt while the cache is deep")
            return
        s = found[-1]
        past = [k for k in takes.path(s.take) if k.position < s.position]
        self._beside(
            "What if",
            "revoked",
            "played instead",
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
        self.messagePosted.emit(f"saved {file}")

    def _not_saved(self, reason: str) -> None:
        self.messagePosted.emit(f"{reason}; nothing was written")
