"""README and docs: links lead somewhere, figures are those of their files, what is made from the program is up to date."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
MEASURED = re.compile(r"<!-- measured: (.+?) -->", re.S)
"""Behind a paragraph or in a row: `FIGURE = FILE WAY [FACTOR]; ...`. FIGURE stands in the text before; FILE lies in docs/measured, WAY
leads to the value in it, which is multiplied by FACTOR."""
BEFORE = 700
"""Characters before a comment in which its figures stand."""


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("foreland_docs", ROOT / "packaging/docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def headings(file: Path) -> set[str]:
    """The anchors of a page, as GitHub and mkdocs make them."""
    text = re.sub(r"^```.*?^```", "", file.read_text("utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", t.replace("`", "")).strip().lower().replace(" ", "-") for t in titles}


def broken_links(file: Path, text: str) -> list[str]:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if path.startswith(("http://", "https://")):
            continue
        target = (file.parent / path).resolve() if path else file
        if not target.exists() or (anchor and anchor not in headings(target)):
            broken.append(link)
    return broken


def value_at(value: Any, way: str) -> float:
    for part in way.split("/"):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return float(value)


def figures(text: str) -> list[tuple[str, str, str, float, str]]:
    """(figure as shown, file, way, factor, text before) of all comments."""
    out = []
    for comment in MEASURED.finditer(text):
        before = text[max(0, comment.start() - BEFORE) : comment.start()]
        for part in comment[1].split(";"):
            shown, _, where = (x.strip() for x in part.partition("="))
            file, way, *factor = where.split()
            out.append((shown, file, way, float(factor[0]) if factor else 1.0, before))
    return out


def wrong_figures(text: str) -> list[str]:
    """Figures that are not what their file says at the digits shown, or that do not stand in the text."""
    wrong = []
    for shown, file, way, factor, before in figures(text):
        value = value_at(json.loads((ROOT / "docs/measured" / file).read_text("utf-8")), way) * factor
        digits = len(shown.partition(".")[2])
        if f"{value:.{digits}f}" != shown:
            wrong.append(f"{shown} is {value:.{digits}f} in {file} {way}")
        if not re.search(rf"(?<![\d.]){re.escape(shown)}(?![\d]|\.\d)", before):
            wrong.append(f"{shown} does not stand before its comment")
    return wrong


@pytest.mark.parametrize("file", TEXTS, ids=lambda f: f.name)
def test_links_lead_somewhere(file: Path) -> None:
    assert broken_links(file, file.read_text("utf-8")) == []


@pytest.mark.parametrize("file", TEXTS, ids=lambda f: f.name)
def test_figures_are_those_of_their_files(file: Path) -> None:
    text = file.read_text("utf-8")
    assert wrong_figures(text) == []
    assert len(MEASURED.findall(text)) == text.count("<!-- measured")


def test_readme_has_figures_and_wrong_ones_are_found() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(figures(text)) >= 6
    shown = figures(text)[0][0]
    assert wrong_figures(text.replace(shown, "9" + shown)), "both changed: not what the file says"
    comment = text.index("<!-- measured")
    assert wrong_figures(text[:comment].replace(shown, "x") + text[comment:]), "it does not stand in the text"
    assert broken_links(
        ROOT / "README.md", "[a](docs/nothing.md) [b](docs/guide.md#nothing) [c](docs/guide.md#keys)"
    ) == [
        "docs/nothing.md",
        "docs/guide.md#nothing",
    ]


def test_pages_that_are_made_are_up_to_date(tmp_path: Path) -> None:
    """In a process of its own: click keeps the help option of a command's first use."""
    subprocess.run([sys.executable, "packaging/docs.py", "pages", str(tmp_path)], cwd=ROOT, check=True, timeout=120)
    for made in tmp_path.iterdir():
        assert made.read_text("utf-8") == (ROOT / "docs" / made.name).read_text("utf-8"), (
            "run: python packaging/docs.py pages"
        )


def test_the_site_builds_without_a_warning(docs: ModuleType, tmp_path: Path) -> None:
    assert docs.build_site(tmp_path) == 0
    front = (tmp_path / "index.html").read_text("utf-8")
    assert 'href="guide.html"' in front and 'href="architecture.html"' in front
    assert (tmp_path / "search/search_index.json").exists() or list(tmp_path.rglob("search_index.js*"))
    assert re.findall(r'(?:src|href)="(https?://[^"]+)"', front) == [], "nothing is loaded from elsewhere"
