"""Buttons over the picture's upper right corner: the menus, pause, side bar, and the way out of full screen.

In a window they are hidden, since the menu bar is there. In full screen they come with the pointer and go when it rests.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QWidget

from app.language import tr
from engine.assets import FOLDER


class HoverBar(QFrame):
    """Made of actions that exist already."""

    def __init__(self, menus: Iterable[QMenu], actions: Iterable[tuple[str, QAction]], parent: QWidget) -> None:
        """menus: in one menu behind the first button; actions: each a button with the icon of this name."""
        super().__init__(parent)
        self.setObjectName("hover")
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 6, 6, 6)
        row.setSpacing(6)
        self.menu = QMenu(self)
        for menu in menus:
            self.menu.addMenu(menu)
        first = self._button("menu", tr("Menus"))
        first.setMenu(self.menu)
        first.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        first.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        row.addWidget(first)
        for icon, action in actions:
            button = self._button(icon, action.text().replace("&", ""))
            button.clicked.connect(action.trigger)
            row.addWidget(button)
        self.hide()

    def _button(self, icon: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(QIcon(str(FOLDER / "style" / f"{icon}.svg")))
        button.setToolTip(name)
        button.setAccessibleName(name)
        return button
