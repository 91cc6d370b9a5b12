"""Help: what the overlay shows, with screenshots of the program itself, the keys, and an about box with licences."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QDialog, QTextBrowser, QVBoxLayout, QWidget

from app.language import tr
from app.window.key_help import key_table
from engine.assets import FOLDER

PACKAGES = (
    "PySide6-Essentials",
    "torch",
    "diffusers",
    "transformers",
    "accelerate",
    "xfuser",
    "yunchang",
    "huggingface_hub",
    "safetensors",
    "tokenizers",
    "wordllama",
    "av",
    "sounddevice",
    "pynput",
    "pygame-ce",
    "pyqtgraph",
    "numpy",
    "pillow",
    "matplotlib",
)


def help_page() -> str:
    """The page, as Markdown."""
    return (FOLDER / "help" / "help.md").read_text("utf-8")


def keys_page(keymap: Mapping[str, str]) -> str:
    """The keys as they are now, as Markdown."""
    return (
        f"# {tr('Keys')}\n\n{key_table(keymap)}\n\n{tr('Keys > Edit and Keys > Layout change those of the camera.')}\n"
    )


def licences() -> list[tuple[str, str, str]]:
    """Name, version and licence of what is installed here."""
    out = []
    for name in PACKAGES:
        try:
            found = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        licence = found["License-Expression"] or ""
        if not licence:
            classes = [c.split(" :: ")[-1] for c in found.get_all("Classifier") or [] if c.startswith("License ::")]
            text = (found["License"] or "").splitlines()
            licence = ", ".join(classes) or (text[0][:60] if text else tr("see its files"))
        out.append((name, metadata.version(name), licence))
    return out


def about_page() -> str:
    """Versions and licences, as Markdown."""
    try:
        version = metadata.version("foreland")
    except metadata.PackageNotFoundError:
        version = tr("from a checkout")
    lines = [
        f"# Foreland {version}",
        tr(
            "Explore worlds that a video diffusion model generates as you move. It implements "
            "*Speculative Sampling in Interactive Video Generation* (Huang et al., 2026)."
        ),
        tr(
            "The pocket world is sampled by a small network that this project trained on a world that it renders itself."
        ),
        tr("Models that you download have licences of their own, which are shown before a download."),
        "## " + tr("Made with"),
        tr("| package | version | licence |"),
        "| --- | --- | --- |",
        *(f"| {n} | {v} | {x} |" for n, v, x in licences()),
    ]
    return "\n\n".join(lines[:5]) + "\n\n" + "\n".join(lines[5:])


class HelpDialog(QDialog):
    """A page of help."""

    def __init__(self, title: str, markdown: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(760, 620)
        self.text = QTextBrowser(self)
        self.text.setOpenExternalLinks(True)
        self.text.setSearchPaths([str(Path(str(FOLDER / "help")))])
        self.text.document().setBaseUrl(QUrl.fromLocalFile(str(FOLDER / "help") + "/"))
        self.text.setMarkdown(markdown)
        self.text.setAccessibleName(title)
        column = QVBoxLayout(self)
        column.addWidget(self.text)
