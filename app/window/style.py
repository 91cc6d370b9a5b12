"""The style sheet of the program, and its look on every platform: Qt's Fusion style under our own palette."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from app.window.palette import Palette
from engine.assets import FOLDER

SHEET = """
QWidget {{ color: {text}; }}
QMainWindow, QDialog {{ background: {ground}; }}
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {line}; padding: 6px 8px; }}

QMenuBar {{ background: {ground}; padding: 2px 6px; }}
QMenuBar::item {{ padding: 5px 10px; border-radius: 5px; background: transparent; }}
QMenuBar::item:selected {{ background: {hover}; }}
QMenu {{ background: {surface}; border: 1px solid {line}; padding: 5px; }}
QMenu::item {{ padding: 6px 28px 6px 26px; border-radius: 5px; }}
QMenu::item:selected {{ background: {accent}; color: {on_accent}; }}
QMenu::separator {{ height: 1px; background: {line}; margin: 5px 8px; }}

QPushButton, QToolButton, QComboBox, QSpinBox, QDoubleSpinBox, QLineEdit {{
    background: {raised}; border: 1px solid {line}; border-radius: 7px; padding: 6px 10px;
    selection-background-color: {accent}; selection-color: {on_accent};
}}
QToolButton {{ padding: 6px 8px; }}
QSpinBox, QDoubleSpinBox {{ padding-right: 20px; }}
QSpinBox::up-button, QDoubleSpinBox::up-button {{ subcontrol-position: top right; width: 18px; border: none; }}
QSpinBox::down-button, QDoubleSpinBox::down-button {{ subcontrol-position: bottom right; width: 18px; border: none; }}
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {{ image: url({folder}/up.svg); width: 9px; height: 6px; }}
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow, QComboBox::down-arrow {{ image: url({folder}/down.svg); width: 9px; height: 6px; }}
QComboBox::drop-down {{ width: 22px; border: none; }}
QPushButton:hover, QToolButton:hover, QComboBox:hover {{ background: {hover}; }}
QPushButton:disabled, QToolButton:disabled, QComboBox:disabled, QLineEdit:disabled {{ color: {dim}; border-style: dashed; }}
QPushButton:checked, QToolButton:checked, QPushButton:default {{ background: {accent}; color: {on_accent}; border-color: {accent}; }}
QPushButton:focus, QToolButton:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QLineEdit:focus {{
    border: 2px solid {accent}; padding: 5px 9px;
}}
QPushButton:default:focus, QPushButton:checked:focus, QToolButton:checked:focus {{ border: 2px solid {text}; }}
QToolButton:focus {{ padding: 5px 7px; }}
QComboBox QAbstractItemView {{ background: {surface}; border: 1px solid {line}; selection-background-color: {accent};
    selection-color: {on_accent}; }}
QCheckBox:focus, QRadioButton:focus, QLabel:focus {{ outline: 2px solid {accent}; }}

QTabWidget::pane {{ border: none; }}
QTabBar {{ background: {ground}; }}
QTabBar::tab {{ padding: 9px 11px; color: {dim}; border-bottom: 3px solid transparent; background: transparent; }}
QTabBar::tab:selected {{ color: {text}; border-bottom-color: {accent}; }}
QTabBar::tab:hover {{ color: {text}; }}
QTabBar:focus {{ border: 1px solid {accent}; }}

QTreeView, QTableView, QListView, QTextBrowser {{
    background: {surface}; alternate-background-color: {ground}; border: 1px solid {line}; border-radius: 7px; gridline-color: {line};
    selection-background-color: {accent}; selection-color: {on_accent}; outline: none;
}}
QTreeView:focus, QTableView:focus, QListView:focus, QTextBrowser:focus {{ border: 2px solid {accent}; }}
QHeaderView::section {{ background: {ground}; color: {dim}; border: none; border-bottom: 1px solid {line}; padding: 5px 8px; }}
QTableCornerButton::section {{ background: {ground}; border: none; }}

QScrollArea {{ border: none; background: {ground}; }}
QScrollBar:vertical {{ background: transparent; width: 11px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 11px; margin: 0; }}
QScrollBar::handle {{ background: {line}; border-radius: 4px; min-height: 28px; min-width: 28px; margin: 2px; }}
QScrollBar::handle:hover {{ background: {dim}; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{ background: none; height: 0; width: 0; }}
QSlider::groove:horizontal {{ height: 4px; background: {line}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 16px; margin: -6px 0; border-radius: 8px; background: {accent}; border: 2px solid {ground}; }}
QSlider::handle:horizontal:focus {{ border-color: {text}; }}
QProgressBar {{ background: {raised}; border: 1px solid {line}; border-radius: 5px; text-align: center; max-height: 10px; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 4px; }}
QSplitter::handle {{ background: {line}; }}
QSplitter::handle:hover {{ background: {accent}; }}

#side {{ background: {ground}; }}
#side QTabWidget, #page {{ background: {ground}; }}
QLabel[role="dim"] {{ color: {dim}; }}
QLabel[role="title"] {{ font-weight: 600; }}
QLabel[role="good"] {{ color: {good}; }}
QLabel[role="warning"] {{ color: {warning}; }}

#prompt, #toast, #hover, #coach {{ background: {glass}; border: 1px solid {glass_line}; border-radius: 12px; }}
#prompt QLabel, #toast QLabel, #coach QLabel {{ color: {glass_text}; background: transparent; }}
#prompt QLabel[role="dim"], #toast QLabel[role="dim"], #coach QLabel[role="dim"] {{ color: {glass_dim}; }}
#prompt QLineEdit, #prompt QComboBox, #prompt QToolButton, #prompt QDoubleSpinBox, #toast QToolButton, #hover QToolButton,
#coach QPushButton {{
    background: rgba(255, 255, 255, 0.09); border: 1px solid {glass_line}; color: {glass_text};
    selection-background-color: {glass_accent}; selection-color: #0a1424;
}}
#prompt QLineEdit:focus, #prompt QComboBox:focus, #prompt QToolButton:focus, #prompt QDoubleSpinBox:focus,
#toast QToolButton:focus, #hover QToolButton:focus, #coach QPushButton:focus {{ border: 2px solid {glass_accent}; }}
#prompt QToolButton:hover, #toast QToolButton:hover, #hover QToolButton:hover, #coach QPushButton:hover {{
    background: rgba(255, 255, 255, 0.2);
}}
#prompt QToolButton:checked, #hover QToolButton:checked {{ color: #ffd36b; background: rgba(255, 255, 255, 0.09); }}
#prompt[resting="true"] {{ background: rgba(13, 15, 20, 0.6); }}
#prompt[resting="true"] QLineEdit {{ background: transparent; border-color: transparent; }}
#toast QToolButton {{ padding: 2px 7px; border: none; background: transparent; }}
#toast[kind="lasting"] {{ border-color: #ffc06b; }}

#start {{ background: {ground}; }}
#start QListWidget {{ background: {ground}; border: none; }}
#start QListWidget:focus {{ border: none; }}
#start QListWidget::item {{ border-radius: 10px; padding: 6px; }}
"""
"""Over the picture the colours are those of glass."""


def sheet(palette: Palette) -> str:
    """The style sheet in these colours."""
    return SHEET.format(**vars(palette), folder=(FOLDER / "style").as_posix())


def qt_palette(palette: Palette) -> QPalette:
    """The same colours where Qt draws by its palette."""
    out = QPalette()
    role = QPalette.ColorRole
    for where, colour in (
        (role.Window, palette.ground),
        (role.WindowText, palette.text),
        (role.Base, palette.surface),
        (role.AlternateBase, palette.ground),
        (role.Text, palette.text),
        (role.Button, palette.raised),
        (role.ButtonText, palette.text),
        (role.ToolTipBase, palette.raised),
        (role.ToolTipText, palette.text),
        (role.Highlight, palette.accent),
        (role.HighlightedText, palette.on_accent),
        (role.Link, palette.accent),
        (role.LinkVisited, palette.accent),
        (role.PlaceholderText, palette.dim),
        (role.Mid, palette.line),
        (role.Accent, palette.accent),
    ):
        out.setColor(where, QColor(colour))
    for where in (role.Text, role.ButtonText, role.WindowText):
        out.setColor(QPalette.ColorGroup.Disabled, where, QColor(palette.dim))
    return out


def apply_style(app: QApplication, palette: Palette) -> None:
    """Everywhere the same: no platform's own style is asked."""
    if app.style().objectName().lower() != "fusion":
        app.setStyle("Fusion")
    app.setPalette(qt_palette(palette))
    app.setStyleSheet(sheet(palette))
