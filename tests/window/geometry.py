"""Opens every scene of a window on a toy world at the given sizes and looks whether anything is cut or lies outside.

`python tests/window/geometry.py 960x540 ...` prints each size that is good and fails at the first that is not.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollArea,
    QTabBar,
    QWidget,
)

from app.language import use_language
from app.window.main_window import MainWindow
from engine.runtime.engine import Engine
from engine.runtime.settings import Settings
from tests.toy import SPEC, toy

LONG = "a very long message that says what happened, what was kept and what to do now, in a folder/with/a/long/name.png"
PROMPT = "an alpine lake between snowy firs in the fog at dawn, with a long description that goes on and on"


def scenes(window: MainWindow) -> Iterator[str]:
    """Brings the window into each scene in turn."""
    yield "bare"
    window.start.open()
    screen = window.start.screen
    assert screen is not None
    for tab in range(screen.tabs.count()):
        screen.tabs.setCurrentIndex(tab)
        yield f"start screen, tab {tab}"
    window.start.close()
    window.preferences.coached = False
    yield "first steps"
    window.preferences.coached = True
    window.coach.hide()
    window.menus["view.overlay"].setChecked(True)
    window.notifications.post(LONG)
    window.notifications.post("saved a.png")
    yield "overlay and messages"
    for page in window.side.pages:
        window.side.show_page(page)
        yield page
    window.side.show_page("")
    window.prompt.edit.setText(PROMPT)
    window.prompt.focus_text()
    window.activateWindow()
    yield "prompt"
    window.viewport.setFocus()
    window.appearance.scale_text(2.0)
    window.prompt.focus_text()
    yield "text of twice the size"
    for page in window.side.pages:
        window.side.show_page(page)
        yield f"{page}, text of twice the size"
    window.start.open()
    yield "start screen, text of twice the size"
    window.start.close()
    window.side.show_page("")
    window.appearance.scale_text(1.0)
    window.viewport.setFocus()
    window.menus["view.full_screen"].setChecked(True)
    window.picture_only.wake()
    yield "full screen"
    window.menus["view.full_screen"].setChecked(False)


def scrolled(widget: QWidget) -> bool:
    """Whether it lies in something that scrolls, so that it can be reached wherever it lies."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            return True
        parent = parent.parentWidget()
    return False


def place(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, widget.rect().topLeft()), widget.size())


def faults(window: QWidget) -> list[str]:
    """What is cut or outside."""
    out = []
    for widget in window.findChildren(QWidget):
        inner = isinstance(widget.parent(), (QComboBox, QTabBar)) or widget.objectName().startswith("qt_")
        if not widget.isVisible() or widget.window() is not window or inner:
            continue
        name = f"{type(widget).__name__} {widget.objectName()!r} {widget.accessibleName()!r}"
        here = place(widget, window)
        if isinstance(widget, (QAbstractButton, QLineEdit, QComboBox, QLabel)):
            parent = widget.parentWidget()
            assert parent is not None
            if not parent.rect().contains(widget.geometry()):
                out.append(f"{name}: {widget.geometry()} lies outside its {type(parent).__name__} {parent.rect()}")
            if not scrolled(widget) and not window.rect().contains(here):
                out.append(f"{name}: {here} lies outside the window {window.rect()}")
        if isinstance(widget, QAbstractButton) and widget.width() < widget.minimumSizeHint().width():
            out.append(f"{name}: its words {widget.text()!r} are cut: {widget.width()} px")
        if isinstance(widget, QLabel) and widget.text() and not widget.wordWrap() and not widget.pixmap():
            need = widget.fontMetrics().horizontalAdvance(widget.text())
            if "<" not in widget.text() and widget.width() < need and not widget.property("elided"):
                out.append(f"{name}: {widget.text()!r} is cut: {widget.width()} of {need} px")
        if isinstance(widget, QLabel) and widget.wordWrap() and widget.height() < widget.heightForWidth(widget.width()):
            out.append(f"{name}: {widget.text()[:40]!r} is cut: {widget.height()} px high")
        if isinstance(widget, QLineEdit) and widget.width() < 8 * widget.fontMetrics().averageCharWidth():
            out.append(f"{name}: too narrow to read: {widget.width()} px")
    return out


def look(window: MainWindow, settle: Callable[[], None], wanted: QSize) -> None:
    """Raises AssertionError with what is wrong."""
    window.resize(wanted)
    for scene in scenes(window):
        settle()
        size = window.size()
        if scene != "full screen":
            wanted = wanted.expandedTo(window.minimumSize())
            assert size == wanted, f"{scene}: the window is {size}, not {wanted}"
        wrong = faults(window)
        assert not wrong, f"{wanted.width()}x{wanted.height()}, {scene}:\n" + "\n".join(wrong)


def main() -> None:
    app = QApplication(["foreland"])
    use_language(app, os.environ.get("FORELAND_TEST_LANGUAGE", "en"))
    if os.environ.get("FORELAND_TEST_MIRRORED"):
        app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    settings = Settings(prompt="green hills at dawn")
    engine = Engine(toy(), SPEC, settings, None)
    window = MainWindow(engine, settings, SPEC)
    window.show()
    engine.start()

    def settle() -> None:
        for _ in range(4):
            window.refresh()
            app.processEvents()

    deadline = time.monotonic() + 30
    while not window.viewport.painted and time.monotonic() < deadline:
        app.processEvents()
        time.sleep(0.005)
    window.world.toggle_pause()
    window.setUpdatesEnabled(False)  # geometry needs no painting, which is most of the time at this size
    for size in sys.argv[1:]:
        width, height = map(int, size.split("x"))
        window.notifications.clear_posted()
        look(window, settle, QSize(width, height))
        print(size, flush=True)
    window.close()


if __name__ == "__main__":
    main()
