"""Collects the texts of the program into assets/languages and makes of them what Qt loads: `python packaging/translations.py`.

Texts are what `app.language.tr` and `marked` are given, and the tables of actions and key maps. A translation that is there is kept, a
text that is gone goes, a new one is there without a translation. `--check` writes nothing and says whether something would change.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import PySide6

from app.language import CONTEXT, LANGUAGES
from app.storage.preferences import OWN_KEYS
from app.window.actions import ACTIONS, MENUS
from engine.runtime.keymap import presets

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "assets" / "languages"
SOURCE = "en"


def in_code(file: Path) -> Iterator[str]:
    """The texts that a file gives to `tr` and `marked`."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tr", "marked"):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


@cache
def texts() -> tuple[str, ...]:
    """All, each once, in the order of the files and then of the tables."""
    found: dict[str, None] = {}
    for file in sorted((ROOT / "app").rglob("*.py")):
        found.update(dict.fromkeys(in_code(file)))
    found.update(dict.fromkeys(MENUS.values()))
    for action in ACTIONS:
        found.update(dict.fromkeys(x for x in (action.title, action.help) if x))
    found.update(dict.fromkeys([*presets(), OWN_KEYS]))
    return tuple(found)


def translations(language: str) -> dict[str, str]:
    """Text to translation, those that are there."""
    file = FOLDER / f"foreland_{language}.ts"
    if not file.exists():
        return {}
    out = {}
    for message in ET.parse(file).iter("message"):
        source, translated = message.findtext("source") or "", message.find("translation")
        if translated is not None and translated.text and translated.get("type") != "unfinished":
            out[source] = translated.text
    return out


def document(language: str) -> str:
    """The .ts file as it should be."""
    there = translations(language)
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage=SOURCE)
    context = ET.SubElement(root, "context")
    ET.SubElement(context, "name").text = CONTEXT
    for text in texts():
        message = ET.SubElement(context, "message")
        ET.SubElement(message, "source").text = text
        translated = ET.SubElement(message, "translation")
        if text in there:
            translated.text = there[text]
        else:
            translated.set("type", "unfinished")
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n' + ET.tostring(root, "unicode") + "\n"


def stale() -> list[str]:
    """Languages whose .ts file is not what it should be."""
    return [
        language
        for language in LANGUAGES
        if language != SOURCE
        and (not (file := FOLDER / f"foreland_{language}.ts").exists() or file.read_text("utf-8") != document(language))
    ]


def release(file: Path) -> Path:
    """The .qm file beside a .ts file. Raises CalledProcessError."""
    compiled = file.with_suffix(".qm")
    tool = Path(PySide6.__file__).parent / ("lrelease.exe" if sys.platform == "win32" else "lrelease")
    subprocess.run([str(tool), "-silent", str(file), "-qm", str(compiled)], check=True)
    return compiled


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        for language in (old := stale()):
            print(f"{language}: run `python packaging/translations.py`")
        return 1 if old else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES:
        if language == SOURCE:
            continue
        file = FOLDER / f"foreland_{language}.ts"
        file.write_text(document(language), "utf-8")
        release(file)
        missing = len(texts()) - len(set(translations(language)) & set(texts()))
        print(f"{file.name}: {missing} texts without a translation" if missing else file.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
