"""Stress test: the real window under random legal and illegal input, with the figures that must hold.

    foreland soak --minutes 60 --speed real --json report.json

What is done, by a seed: keys held, mashed and left down across focus losses; prompts edited, flooded and made too long; the window
resized; pauses; films begun and ended; the sound device pulled out; K, steps and commitment changed, also to what is impossible; the
world left, gone back into, and begun anew. Everything is measured from outside, and at the end the log is replayed.
"""

from __future__ import annotations

import gc
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from app.audio_output import NullStream, SoundOut
from app.options import Choice
from app.window.main_window import MainWindow
from engine.control.events import Commit
from engine.measure.timing import memory_mb
from engine.playback.audio import DeviceClock
from engine.runtime.clock import SystemClock
from engine.runtime.engine import Engine
from engine.runtime.metrics import percentile
from engine.runtime.replay import replay
from engine.runtime.settings import Settings
from engine.runtime.view import UpdateKind, UpdatePhase

SETTLE_MINUTES = 5.0
"""Memory and latency are compared with what they were then."""
STRETCH_SECONDS = 10.0
"""Of playback without a hold, over which the clocks are compared."""
LAST_PROMPT = "green hills at dawn"
PROMPTS = (
    "snowy mountains at noon",
    "desert at dusk",
    "green hills at dawn",
    "volcanic land at night",
    "tropical islands, midday",
    "autumn forest at sunset",
    "purple crystal planet at dawn",
    "city of skyscrapers in fog",
    "asdf",
    "snow and desert",
    "night",
)
KEYS = (
    Qt.Key.Key_W,
    Qt.Key.Key_A,
    Qt.Key.Key_S,
    Qt.Key.Key_D,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Space,
    Qt.Key.Key_C,
    Qt.Key.Key_X,
    Qt.Key.Key_9,
)
LEAST_PAUSE, MOST_PAUSE = 300, 4000
"""Milliseconds between two deeds at real speed: 1 to 3 updates in ten seconds reach the engine."""


@dataclass
class Minute:
    """What was seen at the end of a minute."""

    minute: float
    memory_mb: float
    l50: float | None
    stall_seconds: float
    threads: int
    latents_mb: float


@dataclass
class Figures:
    """Everything that is judged; `judge` says by which aim."""

    minutes: list[Minute] = field(default_factory=list)
    drift_ms: float = 0.0
    late: list[float] = field(default_factory=list)
    deeds: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


class RandomInput:
    """Does to a window what a person can do, and what one should not, drawn by a seed."""

    def __init__(self, window: MainWindow, seed: int, streams: list[NullStream], figures: Figures) -> None:
        self.window, self.streams, self.figures = window, streams, figures
        self.dice = random.Random(seed)
        self.deeds: list[tuple[int, Callable[[], None]]] = [
            (40, self.press),
            (34, self.release),
            (8, self.mash),
            (10, self.prompt),
            (2, self.flood),
            (4, self.resize),
            (4, self.lose_focus),
            (3, self.pause),
            (3, self.record),
            (1, self.pull_device),
            (4, self.configure),
            (1, self.impossible),
            (2, self.back),
            (1, self.anew),
            (2, self.transition),
            (1, self.screenshot),
            (2, self.overlay),
        ]

    def act(self) -> None:
        """One deed."""
        deed = self.dice.choices([d for _, d in self.deeds], [w for w, _ in self.deeds])[0]
        self.figures.deeds[deed.__name__] = self.figures.deeds.get(deed.__name__, 0) + 1
        deed()

    def _key(self, kind: QEvent.Type, key: Qt.Key) -> None:
        QApplication.sendEvent(self.window.viewport, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier))

    def press(self) -> None:
        self.window.viewport.setFocus()
        self._key(QEvent.Type.KeyPress, self.dice.choice(KEYS))

    def release(self) -> None:
        for key in KEYS:
            self._key(QEvent.Type.KeyRelease, key)

    def mash(self) -> None:
        for _ in range(30):
            key = self.dice.choice(KEYS)
            self._key(QEvent.Type.KeyPress, key)
            if self.dice.random() < 0.7:
                self._key(QEvent.Type.KeyRelease, key)

    def prompt(self) -> None:
        self.window.prompt.edit.setText(self.dice.choice(PROMPTS))
        self.window.prompt.edit.returnPressed.emit()

    def flood(self) -> None:
        for _ in range(12):
            self.prompt()
        self.window.prompt.edit.setText("desert " * 200)
        self.window.prompt.edit.returnPressed.emit()
        self.window.prompt.edit.setText("")
        self.window.prompt.edit.returnPressed.emit()

    def transition(self) -> None:
        self.window.engine.set_prompt(self.dice.choice(PROMPTS), seconds=self.dice.choice((0.5, 2.0, 6.0)))

    def resize(self) -> None:
        self.window.resize(self.dice.randint(420, 1240), self.dice.randint(360, 780))

    def lose_focus(self) -> None:
        self.press()
        self.window.prompt.focus_text()
        QTimer.singleShot(400, self.window.viewport.setFocus)

    def pause(self) -> None:
        self.window.world.toggle_pause()
        if self.window.engine.player.paused:
            QTimer.singleShot(self.dice.randint(200, 5000), self._go_on)

    def _go_on(self) -> None:
        if self.window.engine.player.paused:
            self.window.world.toggle_pause()

    def record(self) -> None:
        on = not self.window.menus["world.record"].isChecked()
        self.window.menus["world.record"].setChecked(on)
        if on:
            QTimer.singleShot(
                self.dice.randint(1000, 20000), lambda: self.window.menus["world.record"].setChecked(False)
            )

    def pull_device(self) -> None:
        if self.streams:
            self.streams[-1].unplug()

    def configure(self) -> None:
        changes: dict[str, Any] = self.dice.choice(
            [
                {"window": 7},
                {"window": 14},
                {"window": 3},
                {"commit": Commit.SPECULATIVE},
                {"commit": Commit.CHUNK},
                {"steps": 4},
            ]
        )
        self.window.engine.configure(**changes)
        if changes.get("commit") is Commit.CHUNK:
            QTimer.singleShot(8000, lambda: self.window.engine.configure(commit=Commit.SPECULATIVE))
        if changes.get("window") == 3:
            QTimer.singleShot(5000, lambda: self.window.engine.configure(window=7))

    def impossible(self) -> None:
        self.window.engine.configure(window=self.dice.choice((0, 99, -3)))
        self.window.engine.rewind(self.dice.randint(0, 9), 10**6)

    def back(self) -> None:
        takes = self.window.engine.takes
        path = takes.path(takes.current)
        if len(path) > 12:
            self.window.engine.rewind(takes.current, self.dice.choice(path[:-6]).position)

    def anew(self) -> None:
        self.window.world.new_world(self.window.prompt.text, self.dice.randint(0, 1000))

    def screenshot(self) -> None:
        self.window.capture.screenshot()

    def overlay(self) -> None:
        self.window.menus["view.overlay"].setChecked(not self.window.menus["view.overlay"].isChecked())


class Watch:
    """Measures the window from outside: memory, latency, pacing, clocks."""

    def __init__(self, window: MainWindow, figures: Figures) -> None:
        self.window, self.figures = window, figures
        self.began = time.monotonic()
        self.latencies: deque[tuple[float, float]] = deque()
        self._seen: set[tuple[int, int]] = set()
        self._k = 0
        """Of the session's beginning: latencies under another K are not compared."""
        self._stretch: tuple[float, float, int, float] | None = None

    def look(self) -> None:
        """Many times a second."""
        now, screen, view = time.monotonic(), self.window.engine.player, self.window.engine.view
        late = list(self.window.viewport.lateness)
        self.figures.late += late
        self.window.viewport.lateness.clear()
        self._k = self._k or view.window
        for u in view.updates:
            key = (screen.epoch, u.version)
            if (
                u.phase is UpdatePhase.LIVE
                and u.kind is not UpdateKind.START
                and key not in self._seen
                and view.commit is Commit.SPECULATIVE
            ):
                self._seen.add(key)
                if view.window == self._k:
                    self.latencies.append((now, u.L))
        self._clocks()
        if self.window.engine.error is not None and not self.figures.errors:
            self.figures.errors.append(self.window.engine.error)

    def _clocks(self) -> None:
        """Media time against the machine's clock, over stretches in which nothing held it."""
        screen = self.window.engine.player
        clock = self.window.engine.clock
        before = time.monotonic()
        media = screen.sample_due(clock.now())
        after = time.monotonic()
        state = (screen.epoch, screen.stall_seconds(clock.now()))
        if media is None or after - before > 0.002:
            if media is None:
                self._stretch = None
            return
        seconds = media / screen.rate
        if self._stretch is None or self._stretch[2] != state[0] or self._stretch[3] != state[1]:
            self._stretch = (before, seconds, *state)
        elif before - self._stretch[0] > STRETCH_SECONDS:
            drift = abs((before - self._stretch[0]) - (seconds - self._stretch[1]))
            self.figures.drift_ms = max(self.figures.drift_ms, 1000 * drift)
            self._stretch = (before, seconds, *state)

    def minute(self) -> Minute:
        """Once a minute."""
        gc.collect()
        now = time.monotonic()
        recent = [v for t, v in self.latencies if t > now - 300]
        engine = self.window.engine
        m = Minute(
            round((now - self.began) / 60, 2),
            round(memory_mb(), 1),
            percentile(recent, 0.5),
            round(engine.player.stall_seconds(engine.clock.now()), 3),
            threading.active_count(),
            round(engine.takes.nbytes / 2**20, 1),
        )
        self.figures.minutes.append(m)
        return m


def judge(figures: Figures, summary: dict[str, Any], difference: str, played: float) -> dict[str, Any]:
    """Every figure beside its aim. Pure."""
    minutes = figures.minutes
    settled = next((m for m in minutes if m.minute >= SETTLE_MINUTES), minutes[0])
    last = minutes[-1]
    third = max(1, len(minutes) // 3)
    early = [m.l50 for m in minutes[:third] if m.l50 is not None]
    late = [m.l50 for m in minutes[-third:] if m.l50 is not None]
    grown = (last.memory_mb - last.latents_mb) / max(1.0, settled.memory_mb - settled.latents_mb) - 1
    l50 = sum(late) / len(late) / (sum(early) / len(early)) - 1 if early and late else 0.0
    g = summary["groups"]
    stall = summary["stall_seconds"] / max(played, 1e-9)
    lateness = 1000 * (percentile(figures.late, 0.95) or 0.0)
    rows = [
        ("memory", round(grown, 4), "at most 5 % over minute 5, the kept latents aside", grown <= 0.05),
        ("l50_change", round(l50, 4), "L50, at one K, within 10 % of the first third's, or better", l50 <= 0.10),
        ("late_p95_ms", round(lateness, 2), "at most 8", lateness <= 8),
        ("stall_share", round(stall, 5), "at most 0.005", stall <= 0.005),
        ("drift_ms", round(figures.drift_ms, 2), "at most 20", figures.drift_ms <= 20),
        ("log_replays", difference or "the same", "the same", not difference),
        (
            "groups_conserved",
            g["predicted"] - g["delivered"] - g["revoked"] - g["cached"],
            "0",
            g["predicted"] == g["delivered"] + g["revoked"] + g["cached"],
        ),
        (
            "threads",
            last.threads - settled.threads,
            "no more than at minute 5, but for a film",
            last.threads <= settled.threads + 2,
        ),
        ("errors", len(figures.errors), "0", not figures.errors),
    ]
    out: dict[str, Any] = {"ok": all(good for *_, good in rows)}
    for name, value, aim, good in rows:
        out[name] = {"value": value, "aim": aim, "ok": bool(good)}
    return out


def soak(
    choice: Choice, minutes: float, rude: float, seed: int, home: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Runs it and returns the report. rude: how many times as fast as a person. Raises RuntimeError when the engine stops."""
    app = QApplication.instance() or QApplication(["foreland"])
    assert isinstance(app, QApplication)
    figures = Figures()
    streams: list[NullStream] = []

    def device(rate: int, fill: Any, name: str) -> NullStream:
        streams[:-1] = []
        streams.append(NullStream(rate, fill, name))
        return streams[-1]

    clock = DeviceClock()
    settings = Settings(prompt=LAST_PROMPT, seed=seed)
    session = home / "sessions" / "soak"
    engine = Engine(choice.load, choice.spec, settings, session, SystemClock(clock))
    window = MainWindow(engine, settings, choice.spec, home=home, sound=SoundOut(device, clock))
    window.resize(1060, 720)
    window.show()
    engine.start()
    while not engine.ready.wait(0.02):  # the minutes are of play, not of loading
        app.processEvents()
    person, watch = RandomInput(window, seed, streams, figures), Watch(window, figures)
    end = time.monotonic() + 60 * minutes
    due = {"deed": 0.0, "minute": time.monotonic() + 60}

    def tick() -> None:
        now = time.monotonic()
        watch.look()
        if now >= due["minute"]:
            m = watch.minute()
            due["minute"] += 60
            latency = "-" if m.l50 is None else f"{m.l50:.2f} s"
            say(f"minute {m.minute:.0f}: {m.memory_mb:.0f} MB, L50 {latency}, stalled {m.stall_seconds:.2f} s in all")
            for film in sorted((home / "films").glob("*.mp4"), key=lambda f: f.stat().st_mtime)[:-3]:
                film.unlink()  # the films are not what is looked at
        if now >= due["deed"] and now < end - 5:
            due["deed"] = now + person.dice.uniform(LEAST_PAUSE, MOST_PAUSE) / 1000 / rude
            try:
                person.act()
            except Exception as e:
                figures.errors.append(f"{type(e).__name__}: {e}")
        if now >= end or engine.error is not None:
            app.exit()  # closes no window, as `quit` would

    timer = QTimer()
    timer.timeout.connect(tick)
    timer.start(50)
    app.exec()
    watch.minute()
    played = engine.player.total_shown / choice.spec.fps
    window.close()
    if engine.summary is None:
        raise RuntimeError(engine.error or "the engine stopped")
    difference = replay(session).difference
    report = judge(figures, engine.summary, difference, played)
    report["played_seconds"] = round(played, 1)
    report["updates"] = len(engine.summary["updates"])
    report["L50"] = engine.summary["L50"]
    report["L95"] = engine.summary.get("L95")
    report["revoked_share"] = engine.summary["discarded_share"]
    report["device_losses"] = figures.deeds.get("pull_device", 0)
    report["deeds"] = figures.deeds
    report["error_lines"] = figures.errors[:10]
    report["minutes"] = [asdict(m) for m in figures.minutes]
    report["model"], report["seed"], report["speed"] = choice.spec.name, seed, rude
    return report
