"""Makes the menus of a window from the table of actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.language import tr
from app.window.actions import ACTIONS, MENUS, Action

Choice = tuple[str, bool, Callable[[], object]]
"""A title, whether it is the one in force, and what choosing it does."""


class Menus:
    """The actions of one window by their ids, and its menus by theirs."""

    def __init__(self, window: QMainWindow, refocus: Callable[[], object]) -> None:
        """refocus: called after actions that give the keyboard back to the viewport."""
        self._window, self._refocus = window, refocus
        self._menus = {name: window.menuBar().addMenu(tr(title)) for name, title in MENUS.items()}
        self._actions: dict[str, QAction] = {}
        for action in ACTIONS:
            menu = self._menus[action.menu]
            if action.separated:
                menu.addSeparator()
            made = self._made(action)
            made.setShortcut(QKeySequence(action.shortcut))
            if action.help:
                made.setToolTip(tr(action.help))
            menu.addAction(made)
            window.addAction(made)  # its shortcut works while the menu bar is hidden
            self._actions[action.id] = made

    def __getitem__(self, action_id: str) -> QAction:
        return self._actions[action_id]

    @property
    def all(self) -> list[QMenu]:
        """In their order."""
        return list(self._menus.values())

    def show_panel(self, name: str) -> None:
        """Ticks the action of the panel that is seen, '' for none."""
        for action in ACTIONS:
            if action.panel:
                made = self._actions[action.id]
                made.blockSignals(True)
                made.setChecked(action.id == f"view.{name}")
                made.blockSignals(False)

    def _made(self, action: Action) -> QAction:
        made = QAction(tr(action.title), self._window, checkable=action.checkable or action.panel)

        def call(on: bool = False) -> None:
            handler = attrgetter(action.handler)(self._window)
            if action.panel:
                handler(action.id.partition(".")[2] if on else "")
            elif action.checkable:
                handler(on)
            else:
                handler()
            if action.refocus:
                self._refocus()

        (made.toggled if action.checkable or action.panel else made.triggered).connect(call)
        return made

    def add_choices(self, menu: str, title: str, choices: Callable[[], Iterable[Choice]]) -> None:
        """A submenu of which one entry is in force. choices: asked whenever it is opened."""
        submenu = self._menus[menu].addMenu(title)

        def fill() -> None:
            submenu.clear()
            group = QActionGroup(submenu)
            for name, chosen, choose in choices():
                action = QAction(name, submenu, checkable=True, checked=chosen)
                action.triggered.connect(lambda checked=False, choose=choose: self._choose(choose))
                group.addAction(action)
                submenu.addAction(action)

        submenu.aboutToShow.connect(fill)

    def _choose(self, choose: Callable[[], object]) -> None:
        choose()
        self._refocus()
