"""Buttons over the picture's upper right corner: the menus, pause, side bar, and the way out of full screen.

In a window they are hidden, since the menu bar is there. In full screen they come with the pointer and go when it rests.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QWidget

from app.language import tr


class HoverBar(QFrame):
    """Made of actions that exist already."""

    def __init__(self, menus: Iterable[QMenu], actions: Iterable[tuple[str, QAction]], parent: QWidget) -> None:
        """menus: in one menu behind the first button; actions: each a button with this sign."""
        super().__init__(parent)
        self.setObjectName("hover")
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 6, 6, 6)
        row.setSpacing(6)
        self.menu = QMenu(self)
        for menu in menus:
            self.menu.addMenu(menu)
        first = self._button("\N{TRIGRAM FOR HEAVEN}", tr("Menus"))
        first.setMenu(self.menu)
        first.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        first.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        row.addWidget(first)
        for sign, action in actions:
            button = self._button(sign, action.text().replace("&", ""))
            button.clicked.connect(action.trigger)
            row.addWidget(button)
        self.hide()

    def _button(self, sign: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(sign)
        button.setToolTip(name)
        button.setAccessibleName(name)
        return button
