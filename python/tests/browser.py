"""A browser, driven as a person would, through chromedriver's protocol (https://www.w3.org/TR/webdriver2/)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
]
# How long something may take: only what hangs takes so long.
PATIENCE = 120.0

ENTER, ESCAPE, CONTROL, SHIFT = "\ue007", "\ue00c", "\ue009", "\ue008"
LEFT, RIGHT, HOME, END, TAB = "\ue012", "\ue014", "\ue011", "\ue010", "\ue004"


def missing() -> str | None:
    """Say what is needed and not there."""
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        return "Chromium is not installed"
    return None if shutil.which("chromedriver") else "chromedriver is not installed (Debian: chromium-driver)"


class BrowserError(Exception):
    """What the browser says is wrong."""


class Element:
    """An element of the page: the one at a place among those that fit a selector.

    A page may draw itself anew between two commands. Then another element stands in its place, and is meant.
    """

    def __init__(self, browser: Browser, name: str, selector: str, at: int) -> None:
        self.browser, self.name = browser, name
        self._selector, self._at = selector, at

    def _send(self, method: str, command: str, body: object = None) -> object:
        def sent() -> list[object]:
            try:
                return [self.browser.send(method, f"element/{self.name}/{command}", body)]
            except BrowserError as error:
                # The command has not been carried out.
                if not str(error).startswith("stale element reference"):
                    raise
            found = self.browser.all(self._selector)
            self.name = found[self._at].name if self._at < len(found) else self.name
            return []

        return self.browser.until(sent, f"{self._selector} is there again")[0]

    def click(self) -> None:
        """Click into its middle."""
        self._send("POST", "click", {})

    def type(self, text: str) -> None:
        """Press keys."""
        self._send("POST", "value", {"text": text})

    def clear(self) -> None:
        """Empty a field."""
        self._send("POST", "clear", {})

    @property
    def text(self) -> str:
        """What can be read."""
        return self._send("GET", "text")

    def property(self, name: str) -> object:
        """A property of the DOM."""
        return self._send("GET", f"property/{name}")

    def screenshot(self, path: Path) -> None:
        """Write a picture of it."""
        path.write_bytes(base64.b64decode(self._send("GET", "screenshot")))


class Browser:
    """A headless Chromium with a new profile."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        # The browser may still write when it has ended (Python knows the option since 3.10).
        options = {"ignore_cleanup_errors": True} if sys.version_info >= (3, 10) else {}
        self.profile = tempfile.TemporaryDirectory(prefix="spmdvm-browser-", **options)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        # The driver ends with this process, and its browser with it.
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}", "--log-level=OFF"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.profile.name},
        )
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.session = ""
        try:
            self.until(self._is_ready, "the driver starts")
            options = {
                "args": [*FLAGS, f"--user-data-dir={self.profile.name}/profile", f"--window-size={width},{height}"]
            }
            wanted = {
                "capabilities": {
                    "alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
                }
            }
            self.session = self._request("POST", "/session", wanted)["sessionId"]
        except BaseException:
            self.close()
            raise

    def _is_ready(self) -> bool:
        try:
            return bool(self._request("GET", "/status")["ready"])
        except OSError:
            return False

    def _request(self, method: str, path: str, body: object = None) -> object:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=PATIENCE) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.loads(error.read())["value"]
            raise BrowserError(f"{value['error']}: {value['message']}") from None

    def send(self, method: str, path: str, body: object = None) -> object:
        """Send a command of this session."""
        return self._request(method, f"/session/{self.session}/{path}", body)

    def close(self) -> None:
        """End browser and driver."""
        if self.session:
            self._request("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()
        self.profile.cleanup()

    def open(self, url: str) -> None:
        """Go to an address."""
        self.send("POST", "url", {"url": url})

    def all(self, selector: str) -> list[Element]:
        """Give the elements that fit a selector of CSS."""
        found = self.send("POST", "elements", {"using": "css selector", "value": selector})
        return [Element(self, element[ELEMENT], selector, at) for at, element in enumerate(found)]

    def one(self, selector: str) -> Element:
        """Give the first element, once there is one."""
        return self.until(lambda: next(iter(self.all(selector)), None), f"there is {selector}")

    def text(self, selector: str) -> str:
        """Give the text of all elements that fit, also where it is not in view."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent).join('\\n')", selector
        )

    def run(self, script: str, *arguments: object) -> object:
        """Run JavaScript in the page."""
        return self.send("POST", "execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys: str) -> None:
        """Press keys together, where the focus is."""
        down = [{"type": "keyDown", "value": key} for key in keys]
        up = [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.send("POST", "actions", {"actions": [{"type": "key", "id": "keys", "actions": down + up}]})

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a list."""
        self.one(f'{selector} option[value="{value}"]').click()

    def until(self, condition: Callable[[], object], what: str) -> object:
        """Wait until something holds, and give it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain until {what}")
            time.sleep(0.02)

    def shows(self, selector: str, text: str) -> str:
        """Wait until elements show a text, and give all that they show."""

        def holds() -> bool:
            return text in self.text(selector)

        try:
            self.until(holds, "")
        except AssertionError:
            raise AssertionError(f"{selector} does not show {text!r}, but {self.text(selector)!r}") from None
        return self.text(selector)

    def dark(self, is_dark: bool) -> None:
        """Ask for dark colours, or light ones."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        self.send("POST", "goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}})

    def resize(self, width: int, height: int) -> None:
        """Show the page at this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("POST", "goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": size})

    def complaints(self) -> list[str]:
        """Give what the browser's console has said since it was last asked."""
        return [entry["message"] for entry in self.send("POST", "se/log", {"type": "browser"})]

    def screenshot(self, path: Path) -> None:
        """Write a picture of what is in view."""
        path.write_bytes(base64.b64decode(self.send("GET", "screenshot")))
