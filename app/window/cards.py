"""Draws the entries of the start screen: a world as a large picture with its name, a model or session as two lines with a status."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QMovie, QPainter, QPainterPath, QPalette, QPen, QPixmap
from PySide6.QtWidgets import QListWidget, QStyle, QStyledItemDelegate, QStyleOptionViewItem

Index = QModelIndex | QPersistentModelIndex
NAME = Qt.ItemDataRole.DisplayRole
ABOUT = Qt.ItemDataRole.UserRole + 1
"""Role of the second line."""
CHIP = Qt.ItemDataRole.UserRole + 2
"""Role of a status: (kind, words), where kind is good, plain or warning."""
PICTURE = Qt.ItemDataRole.UserRole + 3
"""Role of a picture's path, '' for none."""
LOOP = Qt.ItemDataRole.UserRole + 4
"""Role of a moving picture's path, '' for none."""
LEAST_PICTURE = 225
"""Width of a world's picture, pixels, at least; as many as fit share a row."""
ASPECT = 16 / 10
PAD = 10
CHIPS = {"good": QColor("#2f9e5b"), "plain": QColor("#6b7688"), "warning": QColor("#c77c1e")}


class WorldCards(QStyledItemDelegate):
    """Large pictures; the one that is chosen moves."""

    def __init__(self, view: QListWidget, moving: bool = True, least: int = LEAST_PICTURE) -> None:
        """moving: False where a person wants nothing to move by itself. least: width of a picture, pixels."""
        super().__init__(view)
        self._view, self._moving, self._least = view, moving, least
        self._pictures: dict[str, QPixmap] = {}
        self._movie: QMovie | None = None
        view.currentItemChanged.connect(lambda now, before: self._play())

    def cell(self) -> QSize:
        """Of a card: as many as fit beside each other fill the row."""
        width = max(1, self._view.viewport().width() - 2)
        count = max(1, width // (self._least + 2 * PAD))
        card = width // count
        metrics = QFontMetrics(self._view.font())
        return QSize(card, round((card - 2 * PAD) / ASPECT) + 2 * metrics.height() + 3 * PAD)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self.cell()

    def _play(self) -> None:
        if self._movie is not None:
            self._movie.stop()
            self._movie.deleteLater()
            self._movie = None
        item = self._view.currentItem()
        loop = item.data(LOOP) if item is not None else ""
        if self._moving and loop and Path(loop).exists():
            self._movie = QMovie(loop, parent=self)
            self._movie.frameChanged.connect(lambda _: self._view.viewport().update())
            self._movie.start()

    def put(self, file: str, picture: QPixmap) -> None:
        """The picture of a file that is none itself."""
        self._pictures[file] = picture

    def pause(self, on: bool) -> None:
        """While it is not seen nothing moves."""
        if self._movie is not None:
            self._movie.setPaused(on)

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect, palette = option.rect, option.palette
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        picture = QRect(rect.left() + PAD, rect.top() + PAD, rect.width() - 2 * PAD, 0)
        picture.setHeight(round(picture.width() / ASPECT))
        p.save()
        p.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        path = QPainterPath()
        path.addRoundedRect(QRectF(picture), 10, 10)
        p.setClipPath(path)
        image = self._image(index, chosen)
        if image.isNull():
            p.fillRect(picture, palette.color(QPalette.ColorRole.Button))
        else:
            p.drawPixmap(picture, image)
        p.setClipping(False)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if chosen or hovered:
            accent = palette.color(QPalette.ColorRole.Highlight)
            p.setPen(QPen(accent, 3 if chosen else 1.5))
            p.drawRoundedRect(QRectF(picture).adjusted(-2, -2, 2, 2), 11, 11)
        _lines(p, QRect(picture.left() + 2, picture.bottom() + PAD // 2, picture.width() - 4, 10**4), option, index)
        p.restore()

    def _image(self, index: Index, chosen: bool) -> QPixmap:
        if chosen and self._movie is not None and not (frame := self._movie.currentPixmap()).isNull():
            return frame
        file = str(index.data(PICTURE) or "")
        if file not in self._pictures:
            self._pictures[file] = QPixmap(file)
        return self._pictures[file]


class StatusRows(QStyledItemDelegate):
    """Two lines, and a status at the end."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, 2 * option.fontMetrics.height() + 2 * PAD)

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect = option.rect.adjusted(2, 2, -2, -2)
        p.save()
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.Button if chosen else QPalette.ColorRole.Base
        pen = QPen(option.palette.color(QPalette.ColorRole.Highlight), 2) if chosen else QPen(Qt.PenStyle.NoPen)
        p.setPen(pen)
        p.setBrush(option.palette.color(role))
        p.drawRoundedRect(QRectF(rect), 8, 8)
        right = rect.right() - PAD
        if chip := index.data(CHIP):
            right = _chip(p, rect, *chip) - PAD
        _lines(p, QRect(rect.left() + PAD, rect.top() + PAD - 4, right - rect.left() - PAD, 10**4), option, index)
        p.restore()


def _lines(p: QPainter, area: QRect, option: QStyleOptionViewItem, index: Index) -> None:
    """The name, and under it what there is to know."""
    font = QFont(option.font)
    font.setWeight(QFont.Weight.DemiBold)
    p.setFont(font)
    metrics = QFontMetrics(font)
    p.setPen(option.palette.color(QPalette.ColorRole.Text))
    y = area.top() + metrics.ascent() + 2
    elide = Qt.TextElideMode.ElideRight
    p.drawText(area.left(), y, metrics.elidedText(str(index.data(NAME) or ""), elide, area.width()))
    p.setFont(option.font)
    p.setOpacity(0.78)
    about = QFontMetrics(option.font).elidedText(str(index.data(ABOUT) or ""), elide, area.width())
    p.drawText(area.left(), y + metrics.height(), about)


def _chip(p: QPainter, rect: QRect, kind: str, words: str) -> int:
    """At the right end; returns its left edge."""
    metrics = QFontMetrics(p.font())
    width = min(metrics.horizontalAdvance(words) + 22, rect.width() // 2)
    chip = QRectF(rect.right() - PAD - width, rect.center().y() - metrics.height() / 2 - 3, width, metrics.height() + 6)
    p.setPen(Qt.PenStyle.NoPen)
    p.setBrush(QBrush(CHIPS[kind]))
    p.drawRoundedRect(chip, chip.height() / 2, chip.height() / 2)
    p.setPen(QColor("#ffffff"))
    text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, width - 16)
    p.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
    return int(chip.left())
