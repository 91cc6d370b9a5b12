"""A row of widgets that becomes several rows where it is too long: buttons are never cut, in any language and size of text."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

SPACING = 8


class Flow(QLayout):
    """From left to right (from right to left where the language does), then downwards."""

    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self.setContentsMargins(0, 0, 0, 0)
        self._items: list[QLayoutItem] = []
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem:
        return self._items[index] if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def takeAt(self, index: int) -> QLayoutItem:
        return self._items.pop(index) if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        sizes = [i.sizeHint() for i in self._items if not i.isEmpty()]
        width = sum(s.width() for s in sizes) + SPACING * max(0, len(sizes) - 1)
        return QSize(width, max((s.height() for s in sizes), default=0))

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, move: bool) -> int:
        """Returns the height that it takes at this width."""
        x, y, row = 0, 0, 0
        widget = self.parentWidget()
        mirrored = widget is not None and widget.layoutDirection() == Qt.LayoutDirection.RightToLeft
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if x and x + size.width() > rect.width():
                x, y, row = 0, y + row + SPACING, 0
            size.setWidth(min(size.width(), rect.width()))
            if move:
                left = rect.right() + 1 - x - size.width() if mirrored else rect.left() + x
                item.setGeometry(QRect(QPoint(left, rect.top() + y), size))
            x, row = x + size.width() + SPACING, max(row, size.height())
        return y + row
