"""A page with one video element on loopback, the browsers that open it, and what it reports."""

import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--mute-audio",
            "--autoplay-policy=no-user-gesture-required"]
FIREFOX = {"media.autoplay.default": 0, "media.autoplay.blocking_policy": 0, "datareporting.policy.dataSubmissionEnabled": "false",
           "browser.shell.checkDefaultBrowser": "false"}


def command(browser, profile, url):
    """The command line that opens `url` in a browser without a window."""
    if "firefox" not in browser:
        return [browser, *CHROMIUM, f"--user-data-dir={profile}", url]
    preferences = "".join(f'user_pref("{name}", {value});\n' for name, value in FIREFOX.items())
    (pathlib.Path(profile) / "user.js").write_text(preferences)
    return [browser, "--headless", "--no-remote", "--profile", str(profile), url]


def hls_script(wheel):
    """hls.js from the wheel of gradio, whose module does not export the class."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if re.search(r"/frontend/assets/hls-[^/]*\.js$", name))
        script = archive.read(name).decode()
    defined = re.search(r"([\w$]+)=class [\w$]*\{static get version\(\)", script).group(1)
    return f"{script}\n;globalThis.Hls = {defined};".encode()


class Site:
    """page.html, `files` by their paths, and what the page reports last."""

    def __init__(self, files):
        site, self.files, self.reports = self, {"/": (HERE / "page.html").read_bytes()} | files, {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = urllib.parse.urlsplit(self.path).path
                body = site.files.get(path, b"")
                self.send_response(200)
                kind = "text/html" if path == "/" else "video/mp4" if path.endswith(".mp4") else "text/javascript"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                site.reports[urllib.parse.urlsplit(self.path).query] = json.loads(body)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        # Browsers close their connections as they like.
        http.server.ThreadingHTTPServer.handle_error = lambda *_: None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def play(self, browser, player, url, seconds):
        """Returns the page's report at the end of the video, or after `seconds`."""
        query = urllib.parse.urlencode({"player": player, "url": url, "play": time.monotonic_ns()})
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            process = subprocess.Popen(command(browser, profile, f"{self.url}/?{query}"), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                deadline = time.monotonic() + seconds
                while time.monotonic() < deadline and not self.reports.get(query, {}).get("ended"):
                    time.sleep(0.5)
                return dict(self.reports.get(query, {}))
            finally:
                # The command may be a script that starts the browser.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
