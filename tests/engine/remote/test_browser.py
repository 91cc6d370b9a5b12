"""The page in a real browser, which decodes, paints and takes keys; skipped where there is no Chromium."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.remote.lobby import Lobby
from tests.engine.remote.browser import Browser, program
from tests.engine.remote.test_page import TOKEN, served

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(program() is None, reason="there is no Chromium here: install chromium-headless-shell"),
]
PIXELS = """(() => {
  const c = document.getElementById("picture"), p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  return [...p];
})()"""
PAINTED = """(() => {
  const c = document.getElementById("ribbon"), p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  return new Set(Array.from({length: p.length / 4}, (_, i) => p.slice(4 * i, 4 * i + 4).join())).size;
})()"""
HOOK = """(() => {  // what the page tells the server
  window.told = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    const message = JSON.parse(new TextDecoder().decode(new Uint8Array(data).subarray(4)));
    if (!["ping", "got", "hello"].includes(message.kind)) window.told.push(message);
    return send.call(this, data);
  };
})()"""


@pytest.fixture
def guarded() -> Iterator[tuple[int, Lobby]]:
    yield from served(TOKEN)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path / "browser") as it:
        it.call("Page.enable")
        it.call("Page.addScriptToEvaluateOnNewDocument", source=HOOK)
        yield it


def said(browser: Browser) -> str:
    return str(browser.run("document.getElementById('said').textContent"))


def pixels(browser: Browser) -> list[int]:
    return list(browser.run(PIXELS))


def differ(one: list[int], other: list[int]) -> float:
    """Mean difference, 0 to 255."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one)


def picture_comes(browser: Browser) -> list[int]:
    browser.until(lambda: browser.run("document.getElementById('loading').hidden"), "the end of loading")
    browser.until(lambda: max(pixels(browser)[:3000:4]) > 0, "a picture")
    return pixels(browser)


def write(browser: Browser, text: str) -> None:
    """Puts a prompt into its field and confirms it, as a person does."""
    browser.run("document.getElementById('prompt').focus(); document.getElementById('prompt').select()")
    browser.call("Input.insertText", text=text)
    browser.call(
        "Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13
    )
    browser.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)


def test_a_world_is_played_in_a_browser(browser: Browser, guarded: tuple[int, Lobby]) -> None:
    port, lobby = guarded
    browser.go(f"http://localhost:{port}/#token={TOKEN}")
    assert TOKEN not in browser.run("location.href")
    first = picture_comes(browser)
    browser.until(lambda: differ(first, pixels(browser)) > 1, "another picture")
    browser.until(lambda: browser.run(PAINTED) > 3, "the ribbon")
    browser.key("KeyW", "w", True)
    browser.until(lambda: "L50" in said(browser), "the key's answer")
    browser.key("KeyW", "w", False)
    write(browser, "b")
    browser.until(lambda: browser.run("document.activeElement.id") == "picture", "the keys are the world's again")
    told = browser.run("told")
    assert [m["kind"] for m in told] == ["begin", "held", "held", "prompt"]
    assert [m["keys"] for m in told[1:3]] == [["forward"], []] and told[3]["text"] == "b"
    browser.until(lambda: browser.run("document.getElementById('prompt').value") == "b", "the prompt")
    browser.run("document.getElementById('pause').click()")
    browser.until(lambda: "paused" in said(browser), "the pause")
    assert "error" not in said(browser)
    browser.go("about:blank")
    browser.go(f"http://localhost:{port}/#watch={lobby.watch_key}")
    browser.until(lambda: "paused" in said(browser), "what who looks on is told")
    assert browser.run("getComputedStyle(document.getElementById('form')).display") == "none"
    browser.key("KeyW", "w", True)
    assert browser.run("told") == []


@pytest.mark.slow
def test_the_pocket_world_is_played_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--token-file", str(tmp_path / "token")]
    env = {**os.environ, "FORELAND_HOME": str(tmp_path / "home"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([*command, "--threads", "1"], stdout=subprocess.PIPE, text=True, env=env) as server:
        assert server.stdout is not None
        try:
            server.stdout.readline()
            page = server.stdout.readline().split("in a browser: ")[1].split()[0]
            browser.go(f"{page}#token={(tmp_path / 'token').read_text().strip()}")
            first = picture_comes(browser)
            assert browser.run("document.getElementById('prompt').value") == "snowy mountains at noon"
            browser.key("ArrowLeft", "ArrowLeft", True)
            browser.until(lambda: "L50" in said(browser), "the key's answer")
            browser.until(lambda: differ(first, pixels(browser)) > 12, "a picture from elsewhere")
            browser.key("ArrowLeft", "ArrowLeft", False)
            assert browser.run(PAINTED) > 3
            write(browser, "desert at dusk")
            blue = sum(first[2::4]) / sum(first[0::4])
            browser.until(lambda: sum((p := pixels(browser))[2::4]) / sum(p[0::4]) < 0.8 * blue, "a desert")
        finally:
            server.terminate()
