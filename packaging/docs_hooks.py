"""Hooks of mkdocs: the files at the root of the repository are pages of the site as well."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "licence.md",
    "NOTICE": "notice.md",
    "CITATION.cff": "citation.md",
}
"""File at the root, and its page."""
LINK = re.compile(r"(\]\()(?:\.\./)?(?:docs/)?([^)#:\s]+)")


def as_page(name: str) -> str:
    """The text of a file at the root, as a page in docs/."""
    text = (ROOT / name).read_text("utf-8")
    return with_links(text) if name.endswith(".md") else f"# {name}\n\n```text\n{text}\n```\n"


def with_links(text: str) -> str:
    """With links as they are in the site: docs/ is its root, and files at the repository's root have names of their own."""
    return LINK.sub(lambda m: m[1] + PAGES.get(m[2], m[2]), text)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=as_page(name)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    return with_links(markdown)
