"""A page of headless Firefox, driven by WebDriver BiDi over the WebSocket of devtools.py."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Stream"))
from devtools import Browser, Failure, WebSocket
from live import free_port

PREFERENCES = {"media.autoplay.default": 0, "media.volume_scale": "0.0", "app.update.enabled": False,
               "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False}


class Firefox:
    """Has what Browser has for reading and pressing: open, evaluate, wait, click."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory()
        (pathlib.Path(self.profile.name) / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()))
        port = free_port()
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--profile", self.profile.name, f"--remote-debugging-port={port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.socket = WebSocket(f"ws://127.0.0.1:{port}/session")
                break
            except (OSError, AttributeError):
                if time.monotonic() > deadline:
                    raise Failure("Firefox does not start")
                time.sleep(0.3)
        self.count = 0
        self.call("session.new", capabilities={})
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.profile._rmtree(self.profile.name, ignore_errors=True)

    def call(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.count:
                if answer.get("type") == "error":
                    raise Failure(f"{method}: {answer['message']}")
                return answer["result"]

    def open(self, url):
        self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, expression):
        result = self.call("script.evaluate", target={"context": self.context}, awaitPromise=True, userActivation=True,
                           expression=f"Promise.resolve({expression}).then(v => JSON.stringify(v) ?? 'null')")
        if result["type"] == "exception":
            raise Failure(f"{expression}: {result['exceptionDetails']['text']}")
        return json.loads(result["result"]["value"])

    wait = Browser.wait

    def click(self, selector):
        self.evaluate(f"document.querySelector({selector!r}).click()")
