"""A Chromium without a window, driven by its DevTools protocol (https://chromedevtools.github.io/devtools-protocol)."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from websockets.sync.client import connect

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SECONDS = 60.0
"""For whatever is waited for."""


def program() -> str | None:
    """Chromium on this machine, where there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of it. A context manager, which ends it."""

    def __init__(self, folder: Path, size: tuple[int, int] = (900, 760)) -> None:
        """folder: for its profile. size: of the page, CSS pixels. Raises RuntimeError when it does not start."""
        chromium = program()
        assert chromium is not None
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--mute-audio", "--no-first-run"]
        command += ["--remote-debugging-port=0", f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}"]
        # Debian's is a script that starts the browser: both are ended, by their group
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            port = folder / "DevToolsActivePort"
            self.until(lambda: port.exists() and len(port.read_text().splitlines()) == 2, "its port")
            number, path = port.read_text().splitlines()
            address = f"ws://127.0.0.1:{number}{path}"
            self._socket = connect(address, max_size=None, proxy=None, compression=None, legacy=True)
            self._number, self._session = 0, ""
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._socket.close()
        finally:
            self._end()

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol and its result. Raises RuntimeError where Chromium refuses it."""
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters, **session}))
        while True:
            answer = json.loads(self._socket.recv(timeout=SECONDS))
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript on the page, awaited. Raises RuntimeError with what it threw."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    def go(self, address: str) -> None:
        """Opens a page, and waits until it is there."""
        self.call("Page.navigate", url=address)
        self.until(lambda: self.run("location.href + document.readyState").endswith("complete"), address)

    def key(self, code: str, key: str, down: bool) -> None:
        """A key of the keyboard, as a person presses it."""
        self.call("Input.dispatchKeyEvent", type="rawKeyDown" if down else "keyUp", code=code, key=key)

    def picture(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    @staticmethod
    def until(condition: Callable[[], object], what: str) -> None:
        """Waits for something. Raises AssertionError when it does not come."""
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, f"waited in vain for {what}"
            time.sleep(0.02)
