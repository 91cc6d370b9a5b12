"""The middle of the window: the picture fills it, and everything else floats over it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.window import notifications
from app.window.prompt_bar import PromptBar
from app.window.viewport import Viewport

MARGIN = 12
LEAST = QSize(320, 220)
KEYS = 40
"""Height of the held keys, pixels."""


class Stage(QWidget):
    """Places what floats whenever one of them wants another size."""

    def __init__(
        self, viewport: Viewport, prompt: PromptBar, messages: notifications.Notifications, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.viewport, self.prompt, self.messages = viewport, prompt, messages
        self.corner: QWidget | None = None
        """Lies in the upper right corner."""
        self.guide: QWidget | None = None
        """Lies on the left, below the held keys."""
        self.cover: QWidget | None = None
        """Lies over everything while it is shown."""
        self.setMinimumSize(LEAST)
        for widget in (viewport, prompt, messages):
            self.add(widget)

    def add(self, widget: QWidget) -> None:
        """Something that floats; `arrange` says where."""
        widget.setParent(self)
        widget.installEventFilter(self)

    def sizeHint(self) -> QSize:
        return QSize(960, 640)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.arrange()
        super().resizeEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        wanted = (QEvent.Type.LayoutRequest, QEvent.Type.Show, QEvent.Type.Hide)
        if event.type() in wanted and watched is not self.viewport:
            self.arrange()
        return False

    def arrange(self) -> None:
        """Places everything."""
        area = self.rect()
        self.viewport.setGeometry(area)
        inner = area.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        bottom = self._prompt(inner)
        self.viewport.covered = area.bottom() + 1 - bottom if not self.prompt.isHidden() else 0
        self._messages(inner, bottom)
        if self.corner is not None:
            size = self.corner.sizeHint().boundedTo(inner.size())
            self.corner.setGeometry(inner.right() + 1 - size.width(), inner.top(), size.width(), size.height())
        if self.guide is not None:
            width = min(self.guide.sizeHint().width(), inner.width())
            height = min(_height(self.guide, width), inner.height())
            self.guide.setGeometry(inner.left(), inner.top() + KEYS, width, height)
        if self.cover is not None:
            self.cover.setGeometry(area)
            self.cover.raise_()
        self.viewport.update()

    def _prompt(self, inner: QRect) -> int:
        """Along the lower edge; returns the y above which it is free."""
        if self.prompt.isHidden():
            return inner.bottom() + 1
        width = min(inner.width(), self.prompt.wanted_width())
        height = self.prompt.sizeHint().height()
        top = inner.bottom() + 1 - height
        self.prompt.setGeometry(inner.center().x() - width // 2, top, width, height)
        return top - MARGIN

    def _messages(self, inner: QRect, bottom: int) -> None:
        """Along the upper edge, in the middle, below the corner."""
        width = min(inner.width(), notifications.WIDTH)
        top = inner.top()
        if self.corner is not None and not self.corner.isHidden():
            top += self.corner.sizeHint().height() + MARGIN
        height = min(_height(self.messages, width), max(0, bottom - top))
        self.messages.setGeometry(inner.center().x() - width // 2, top, width, height)
        self.messages.raise_()


def _height(widget: QWidget, width: int) -> int:
    layout = widget.layout()
    if layout is not None and layout.hasHeightForWidth():
        return layout.totalHeightForWidth(width)
    return widget.sizeHint().height()
