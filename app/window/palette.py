"""The colours of the program, dark and light. Every colour that a widget has is named here, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours as CSS has them. What lies over the picture is glass: dark in both themes, as pictures are of any brightness."""

    ground: str
    """Behind panels."""
    surface: str
    """Of panels, menus and dialogs."""
    raised: str
    """Of buttons and boxes."""
    hover: str
    line: str
    """Borders."""
    text: str
    dim: str
    """Text that says less."""
    accent: str
    """What is chosen, and the focus."""
    on_accent: str
    """Text on it."""
    good: str
    warning: str
    bad: str
    glass: str = "rgba(13, 15, 20, 0.82)"
    glass_line: str = "rgba(255, 255, 255, 0.16)"
    glass_text: str = "#f2f4f8"
    glass_dim: str = "#b9c0cc"
    glass_accent: str = "#8ec1ff"


DARK = Palette(
    ground="#0f1116",
    surface="#161920",
    raised="#222730",
    hover="#2c323d",
    line="#3a414e",
    text="#eceef3",
    dim="#a4acba",
    accent="#8ec1ff",
    on_accent="#0a1424",
    good="#6fd58a",
    warning="#ffc06b",
    bad="#ff8585",
)
LIGHT = Palette(
    ground="#eef0f4",
    surface="#fafbfc",
    raised="#ffffff",
    hover="#e6eaf1",
    line="#b4bcc9",
    text="#14171d",
    dim="#4d5766",
    accent="#1d57c4",
    on_accent="#ffffff",
    good="#11683f",
    warning="#8a4b00",
    bad="#b01f1f",
)


def luminance(colour: str) -> float:
    """Relative luminance of a #rrggbb colour, as WCAG 2.2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)
