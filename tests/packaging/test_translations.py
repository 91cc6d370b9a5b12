"""Every text of the program is there in every language that ships, with the same placeholders, and the compiled files are of it."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, QTranslator

from app.language import CONTEXT, LANGUAGES, language_of
from app.window.actions import ACTIONS, MENUS

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))

from translations import FOLDER, ROOT, SOURCE, stale, texts, translations

OTHERS = [language for language in LANGUAGES if language != SOURCE]


def placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\{[^}]*\}", text))


def test_the_files_hold_the_texts_of_the_code() -> None:
    assert stale() == [], "run `python packaging/translations.py`"


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated_with_its_placeholders(language: str) -> None:
    there = translations(language)
    assert [t for t in texts() if t not in there] == []
    assert [t for t in texts() if placeholders(t) != placeholders(there[t])] == []
    assert [t for t in texts() if t.strip() and not there[t].strip()] == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_compiled_file_says_what_the_text_file_says(language: str) -> None:
    translator = QTranslator()
    assert translator.load(f"foreland_{language}", str(FOLDER))
    there = translations(language)
    assert [t for t in texts() if translator.translate(CONTEXT, t) != there[t]] == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_letters_of_a_menu_are_each_used_once(language: str) -> None:
    there = translations(language)
    for titles in (list(MENUS.values()), *([a.title for a in ACTIONS if a.menu == menu] for menu in MENUS)):
        shown = [there[t] for t in titles]
        letters = Counter(m.group(1).lower() for t in shown if (m := re.search(r"&(.)", t)))
        assert [x for x, n in letters.items() if n > 1] == [], (language, shown)


def test_no_text_of_the_window_is_built_from_pieces() -> None:
    """An f-string cannot be translated: it is another text each time."""
    wrong = [
        f"{file.relative_to(ROOT)}:{i}"
        for file in (ROOT / "app").rglob("*.py")
        for i, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if re.search(r"\b(tr|marked)\(f[\"']", line)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("locale", "language"),
    [("de_AT", "de"), ("fr_CA", "fr"), ("zh_TW", "zh_CN"), ("zh_CN", "zh_CN"), ("ja_JP", "ja"), ("pl_PL", "en")],
)
def test_the_language_follows_the_system(locale: str, language: str) -> None:
    assert language_of("system", QLocale(locale)) == language
