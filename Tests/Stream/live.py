"""A looping live channel on loopback and a relay of it, for the scripts of this directory and of Benchmarks."""

import http.client
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_LIMIT = 30  # seconds


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LiveChannel:
    """`liverelay replay CAPTURE --live --loop`."""

    def __init__(self, program, capture):
        self.process = subprocess.Popen(
            [program, "replay", str(ROOT / "Captures" / capture), "--live", "--loop", "--log-level", "info"],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"https?://\S+\.m3u8", line):
                self.url = found.group()
                break
        else:
            raise SystemExit(f"{capture} cannot be served")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Relay:
    """A relay with a server. `output`: where its standard output goes."""

    def __init__(self, program, url, *options, output=subprocess.DEVNULL):
        self.port = free_port()
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self.process = subprocess.Popen(
            [program, url, "--port", str(self.port), "--log-level", "notice", *options], stdout=output,
            stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=10) as answer:
            return answer.read()

    def wait_until_ready(self):
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline:
            try:
                self.get("readyz")
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise SystemExit("the relay is not ready in time")

    @property
    def status(self):
        return json.loads(self.get("status.json"))

    @property
    def cpu(self):
        """Seconds of CPU so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    @property
    def memory(self):
        """Resident KiB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))


def serve(answer):
    """Answers GET of a path with the status, the body and the type that `answer` returns. Returns the server's URL."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            status, body, kind = answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    # Clients close their connections as they like.
    http.server.ThreadingHTTPServer.handle_error = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def serve_page(relay, page, script):
    """Serves a page, its /hls.js, and everything else of the relay. Returns the URL of the page."""
    def answer(path):
        if path.partition("?")[0] == "/":
            return 200, page.encode(), "text/html"
        if path == "/hls.js":
            return 200, script, "text/javascript"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{relay.port}{path}", timeout=30) as answer:
                return 200, answer.read(), answer.headers["Content-Type"]
        except urllib.error.HTTPError as error:
            return error.code, b"", "text/javascript"

    return serve(answer) + "/"


RIG = pathlib.Path(os.environ.get("LIVERELAY_RIG", ""))


def enter_rig():
    """Runs this script again by the rig's Python, which has the packages of its verifier. Returns the verifier."""
    home = pathlib.Path(os.environ.get("LIVERELAY_RIG_HOME") or pathlib.Path.home() / ".cache/liverelay-rig")
    python = home / "venv/bin/python"
    if pathlib.Path(sys.prefix) != home / "venv" and python.exists():
        os.execv(python, [str(python), *sys.argv])
    sys.path.insert(0, str(RIG))
    import verify
    return verify


def read(relay, file, is_over):
    """Appends what /live.ts sends to `file`, over one connection once there is one."""
    while not is_over():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{relay.port}/live.ts", timeout=20) as answer:
                with open(file, "ab") as output:
                    while chunk := answer.read1(1 << 16):
                        output.write(chunk)
            return
        except http.client.HTTPException:
            return  # the relay has ended
        except OSError:
            time.sleep(0.05)
