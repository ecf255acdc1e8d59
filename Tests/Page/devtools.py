"""A page of headless Chromium, driven by the DevTools protocol over a WebSocket of our own."""

import base64
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import tempfile
import time


class Failure(Exception):
    pass


class WebSocket:
    def __init__(self, url):
        host, port, path = re.match(r"ws://([^:/]+):(\d+)(/.*)", url).groups()
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.reader = self.socket.makefile("rb")
        while self.reader.readline() not in (b"\r\n", b""):
            pass

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = struct.pack("!BB", 0x81, 0x80 | size) if size < 126 else (
            struct.pack("!BBH", 0x81, 0xFE, size) if size < 65536 else struct.pack("!BBQ", 0x81, 0xFF, size))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        text = b""
        while True:
            first, size = self.reader.read(2)
            size &= 0x7F
            if size > 125:
                size = int.from_bytes(self.reader.read(2 if size == 126 else 8), "big")
            text += self.reader.read(size)
            if first & 0x80:
                return text.decode()


class Browser:
    """Chromium with a profile of its own. `errors` has every error of every page's console."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio", "--hide-scrollbars",
             "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = pathlib.Path(self.profile.name) / "DevToolsActivePort"
        deadline = time.monotonic() + 30
        while not (port_file.exists() and port_file.read_text().count("\n") >= 1):
            if time.monotonic() > deadline:
                raise Failure("Chromium does not start")
            time.sleep(0.1)
        port, path = port_file.read_text().split("\n")[:2]
        self.socket = WebSocket(f"ws://127.0.0.1:{port}{path}")
        self.count, self.errors, self.bytes = 0, [], {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        time.sleep(0.3)
        self.profile._rmtree(self.profile.name, ignore_errors=True)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if getattr(self, "session", None) and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            self.record(answer)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def record(self, event):
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description") or details["text"])
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.errors.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            case "Network.dataReceived":
                size = self.bytes.get(parameters["requestId"], 0)
                self.bytes[parameters["requestId"]] = size + parameters["dataLength"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failure(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def open(self, url, width=1280, height=800, dark=False, mobile=False, forced=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "forced-colors", "value": "active" if forced else "none"}])
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'", "the page loads")

    def wait(self, condition, what, seconds=20):
        """Waits until an expression is true, and returns how long it took."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            if self.evaluate(condition):
                return time.monotonic() - began
            time.sleep(0.1)
        raise Failure(f"{what}: not within {seconds} s ({condition})")

    def key(self, key, code=None, text=None):
        codes = {"Enter": 13, " ": 32, "Tab": 9, "ArrowLeft": 37, "ArrowRight": 39, "PageUp": 33, "PageDown": 34,
                 "Home": 36, "End": 35}
        common = {"key": key, "code": code or ("Space" if key == " " else key), "windowsVirtualKeyCode": codes.get(key, 0)}
        typed = text or {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": typed} if typed else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector, share=0.5):
        """Clicks into an element, at a share of its width."""
        where = {**self.hover(selector, share), "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **where)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **where)

    def hover(self, selector, share=0.5):
        """Moves the pointer into an element, to a share of its width."""
        self.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{ block: 'center' }})")
        box = self.evaluate(
            f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect();"
            "return [b.x, b.y, b.width, b.height]; })()")
        where = {"x": box[0] + box[2] * share, "y": box[1] + box[3] / 2}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **where)
        return where

    def screenshot(self, path, full=False):
        options = {}
        if full:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options = {"captureBeyondViewport": True,
                       "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))
