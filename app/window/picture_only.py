"""Full screen: the picture and nothing else. The pointer brings the controls, and they go again when it rests."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QMainWindow, QWidget

from app.window.side_bar import SideBar
from app.window.stage import Stage

REST_MS = 2500
"""After which a resting pointer, and what it brought, are hidden."""


class PictureOnly(QObject):
    """Shows and hides what lies around the picture of one window."""

    def __init__(self, window: QMainWindow, stage: Stage, side: SideBar, corner: QWidget) -> None:
        super().__init__(window)
        self._window, self._stage, self._side, self._corner = window, stage, side, corner
        self._page = ""
        self.on = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REST_MS)
        self._timer.timeout.connect(self._rest)
        for widget in (stage, stage.viewport, stage.prompt, corner):
            widget.installEventFilter(self)
        stage.prompt.editingFinished.connect(self._rest)

    def switch(self, on: bool) -> None:
        """Enters or leaves it; what was open before is open again afterwards."""
        if on == self.on:
            return
        self.on = on
        if on:
            self._page = self._side.page
            self._side.show_page("")
            self._window.menuBar().hide()
            self._window.showFullScreen()
            self._rest()
        else:
            self._timer.stop()
            self._window.menuBar().show()
            self._window.showNormal()
            self._corner.hide()
            self._stage.prompt.show()
            self._stage.viewport.unsetCursor()
            self._side.show_page(self._page)
        self._stage.viewport.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.on and event.type() in (QEvent.Type.MouseMove, QEvent.Type.HoverMove, QEvent.Type.Enter):
            self.wake()
        return False

    def wake(self) -> None:
        """The controls are seen, for some seconds."""
        self._corner.show()
        self._stage.prompt.show()
        self._stage.viewport.unsetCursor()
        self._timer.start()

    def _rest(self) -> None:
        if not self.on:
            return
        if not self._stage.prompt.resting or self._corner.underMouse():
            self._timer.start()
            return
        self._corner.hide()
        self._stage.prompt.hide()
        self._stage.viewport.setCursor(Qt.CursorShape.BlankCursor)
