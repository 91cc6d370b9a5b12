"""The side bar: panels as tabs of one place beside the picture. Each scrolls, so none makes the window larger."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QTabWidget, QVBoxLayout, QWidget

from app.language import tr

WIDTH = 350
LEAST_WIDTH = 230


class SideBar(QWidget):
    """Closed, or open at one of its pages."""

    pageShown = Signal(str)
    """The name of the page that is seen now, '' for none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(LEAST_WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.tabBar().setAccessibleName(tr("Panels"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs)
        self._names: list[str] = []
        self.tabs.currentChanged.connect(lambda _: self._tell())
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 400)

    def add_page(self, name: str, title: str, page: QWidget) -> None:
        """A page at the end."""
        area = QScrollArea(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(page)
        page.setObjectName("page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._names.append(name)
        self.tabs.addTab(area, title)

    def replace_page(self, name: str, page: QWidget) -> None:
        """Another widget in the place of a page's; the one before is deleted."""
        area = self._area(name)
        before = area.takeWidget()
        page.setObjectName("page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        area.setWidget(page)
        if before is not None:
            before.deleteLater()

    def _area(self, name: str) -> QScrollArea:
        area = self.tabs.widget(self._names.index(name))
        assert isinstance(area, QScrollArea)
        return area

    @property
    def page(self) -> str:
        """The name of the page that is seen, '' while the bar is closed."""
        return "" if self.isHidden() else self._names[self.tabs.currentIndex()]

    @property
    def pages(self) -> tuple[str, ...]:
        """All names, in their order."""
        return tuple(self._names)

    def show_page(self, name: str) -> None:
        """Opens the bar at a page; '' closes it."""
        if name:
            self.tabs.setCurrentIndex(self._names.index(name))
        self.setVisible(bool(name))
        self._tell()

    def toggle(self, name: str) -> None:
        """Shows a page, or closes the bar where that page is seen."""
        self.show_page("" if self.page == name else name)

    def _tell(self) -> None:
        self.pageShown.emit(self.page)
