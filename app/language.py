"""The language of the program: every text that a person reads goes through `tr`.

`python packaging/translations.py` collects the texts of `tr` and `marked` into assets/languages/*.ts and makes the .qm files that
are loaded here. A text may hold placeholders as `str.format` has them; they stay as they are in a translation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from engine.assets import FOLDER

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

CONTEXT = "Foreland"
"""One for all texts: the same words are translated once."""
SYSTEM = "system"
LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "ja": "日本語",
    "zh_CN": "简体中文",
}
"""Those that ship, each by its own name. English is the language of the texts in the code."""


def tr(text: str, **values: object) -> str:
    """A text in the language of the person, with its placeholders filled in."""
    translated = QCoreApplication.translate(CONTEXT, text)
    return translated.format(**values) if values else translated


def marked(text: str) -> str:
    """The same text: it is collected here and translated later, where a table or a constant holds it."""
    return text


def language_of(name: str, locale: QLocale | None = None) -> str:
    """The language that a preference means: its own, or for `system` the first of the system's that ships."""
    if name in LANGUAGES:
        return name
    for wanted in (locale or QLocale.system()).uiLanguages():
        code = wanted.replace("-", "_")
        if code in LANGUAGES:
            return code
        if (short := code.partition("_")[0]) == "zh":
            return "zh_CN"
        elif short in LANGUAGES:
            return short
    return "en"


def use_language(app: QCoreApplication, name: str) -> str:
    """Loads the texts of a language, and Qt's own for its dialogs; widgets that are made afterwards have them. Returns the language."""
    language = language_of(name)
    for before in app.findChildren(QTranslator, "language"):
        app.removeTranslator(before)
        before.deleteLater()
    if language != "en":
        _install(app, f"foreland_{language}", str(FOLDER / "languages"))
        _install(app, f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    return language


def _install(app: QObject, name: str, folder: str) -> None:
    translator = QTranslator(app)
    translator.setObjectName("language")
    if translator.load(name, folder):
        QCoreApplication.installTranslator(translator)
