"""Loads pages in Chromium and prints what it saw of each, as JSON: probe.py WIDTH:FILE ..."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

try:
    from PySide6.QtCore import QTimer, QUrl
    from PySide6.QtWebEngineCore import (
        QWebEnginePage,
        QWebEngineProfile,
        QWebEngineUrlRequestInfo,
        QWebEngineUrlRequestInterceptor,
    )
    from PySide6.QtWebEngineWidgets import QWebEngineView
    from PySide6.QtWidgets import QApplication
except ImportError as e:
    sys.exit(f"no browser: {e}")

LOOK = Path(__file__).with_name("look.js").read_text()
HEIGHT = 900
# A window that was just resized lays itself out in the next turns of its loop.
SETTLE_MS = 300


class Requests(QWebEngineUrlRequestInterceptor):
    """Writes down whatever a page asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def interceptRequest(self, info: QWebEngineUrlRequestInfo) -> None:
        self.urls.append(info.requestUrl().toString())


class Page(QWebEnginePage):
    """Writes down what goes to the console, of any level."""

    def __init__(self, profile: QWebEngineProfile) -> None:
        super().__init__(profile)
        self.messages: list[str] = []

    def javaScriptConsoleMessage(self, level: Any, message: str, line: int, source: str) -> None:
        self.messages.append(f"{level.name}: {message} (line {line})")


class Probe:
    """Looks at one page after the other, and ends the application."""

    def __init__(self, application: QApplication, places: list[str]) -> None:
        self._application = application
        self._places = places
        self._requests = Requests()
        self._profile = QWebEngineProfile()
        self._profile.setUrlRequestInterceptor(self._requests)
        self._view = QWebEngineView()
        self.seen: dict[str, Any] = {}

    def next(self) -> None:
        if len(self.seen) == len(self._places):
            # Qt wants a page deleted before its profile.
            self._page.destroyed.connect(self._application.quit)
            self._page.deleteLater()
            return
        width, file = self._places[len(self.seen)].split(":", 1)
        self._page = Page(self._profile)
        self._page.loadFinished.connect(self._loaded)
        self._requests.urls.clear()
        self._view.setPage(self._page)
        self._view.resize(int(width), HEIGHT)
        self._view.show()
        self._page.load(QUrl.fromLocalFile(file))

    def _loaded(self, ok: bool) -> None:
        if not ok:
            print(f"{self._places[len(self.seen)]} was not loaded", file=sys.stderr)
            self._application.exit(1)
            return
        QTimer.singleShot(SETTLE_MS, lambda: self._page.runJavaScript(LOOK, self._looked))

    def _looked(self, found: str | None) -> None:
        seen = json.loads(found) if found else {}
        seen |= {"messages": list(self._page.messages), "requests": list(self._requests.urls)}
        self.seen[self._places[len(self.seen)]] = seen
        self.next()


def main() -> None:
    application = QApplication(sys.argv[:1])
    probe = Probe(application, sys.argv[1:])
    QTimer.singleShot(0, probe.next)
    status = application.exec()
    print(json.dumps(probe.seen))
    sys.exit(status)


if __name__ == "__main__":
    main()
