"""Opens the dialogs of the window. None of them stops the world; held keys are released before each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from app.input.input_manager import InputManager
from app.language import tr
from app.logs import log_file, newest_lines
from app.storage.preferences import Preferences
from app.storage.world_archive import SUFFIX
from app.window.explain import Explanation
from app.window.help import HelpDialog, about_page, help_page, keys_page
from app.window.keymap_editor import KeymapEditor
from app.window.models_dialog import ModelsDialog
from app.window.story import Story
from engine.models.media_files import FILMS, PICTURES


class Dialogs(QObject):
    """Keeps the dialog of each kind that was opened last."""

    modelSelected = Signal(str)
    messagePosted = Signal(str)

    def __init__(
        self,
        inputs: InputManager,
        preferences: Preferences,
        home: Path | None,
        model: Callable[[], str],
        story: Story,
        window: QWidget,
    ) -> None:
        """home: where worlds and sessions are kept. model: the name of the one in play."""
        super().__init__(window)
        self._inputs, self._preferences, self._home = inputs, preferences, home
        self._model, self._story, self._window = model, story, window
        self.explanation: Explanation | None = None
        self.models: ModelsDialog | None = None
        self.help: HelpDialog | None = None
        self.keymap_editor: KeymapEditor | None = None

    def show_models(self) -> None:
        self._prepare(self.models)
        self.models = ModelsDialog(self._model(), self._window)
        self.models.modelSelected.connect(self.modelSelected)
        self.models.show()

    def edit_keys(self) -> None:
        """The key map that is accepted becomes the person's own."""
        self._prepare(self.keymap_editor)
        self.keymap_editor = KeymapEditor(self._inputs.keys.keymap, self._window)
        self.keymap_editor.keymapAccepted.connect(self._inputs.use_own_keymap)
        self.keymap_editor.show()

    def explain(self) -> None:
        """The story of the last change that was seen."""
        tale = self._story.last()
        if tale is None:
            self.messagePosted.emit(
                tr("Nothing to explain yet: hold a key or change the prompt, and wait until it is seen")
            )
            return
        self._prepare(self.explanation)
        self.explanation = Explanation(tale, self._window)
        self.explanation.show()

    def show_help(self) -> None:
        self._show(tr("What the overlay shows"), help_page())

    def show_keys(self) -> None:
        self._show(tr("Keys"), keys_page(self._inputs.keys.keymap))

    def show_log(self) -> None:
        """The end of the newest log."""
        self._show(tr("Log: {file}", file=log_file()), "")
        assert self.help is not None
        self.help.text.setPlainText(newest_lines())
        self.help.text.moveCursor(QTextCursor.MoveOperation.End)

    def show_about(self) -> None:
        self._show(tr("About Foreland"), about_page())

    def _show(self, title: str, page: str) -> None:
        self._prepare(self.help)
        self.help = HelpDialog(title, page, self._window)
        self.help.show()

    def _prepare(self, before: QDialog | None) -> None:
        """Releases the keys; `before`, the last dialog of the kind, is deleted."""
        self._inputs.keys.clear()
        if before is not None:
            before.deleteLater()

    def start_file(self) -> Path | None:
        """An image or video to start from, None where the person thinks better of it."""
        self._inputs.keys.clear()
        kinds = " ".join(f"*{s}" for s in (*PICTURES, *FILMS))
        file, _ = QFileDialog.getOpenFileName(
            self._window, tr("Start from an image or video"), "", tr("Images and videos ({kinds})", kinds=kinds)
        )
        return Path(file) if file else None

    def shared_file(self) -> Path | None:
        """Where a world to be sent is written to, None where the person thinks better of it."""
        self._inputs.keys.clear()
        file, _ = QFileDialog.getSaveFileName(self._window, tr("Share this world"), f"world{SUFFIX}", f"*{SUFFIX}")
        return Path(file if file.endswith(SUFFIX) else file + SUFFIX) if file else None
