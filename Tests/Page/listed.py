"""A liverelay that serves a list of channels with a guide, an API and recordings."""

import json
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Stream"))
from devtools import Failure
from live import free_port

API, VIEWER = "token-of-the-api-0123", "token-of-viewers-0123"
NAMES = ["News One", "Weather", "Sport Arena", "Cinema Classics", "Kids & Co", "Documentary HD", "Música", "ČT sport",
         "<img src=x onerror=alert(1)>", "Regional North and Far Beyond the Long Name Hills", "Radio Jazz", "Shopping"]
DEAD = 4  # the channel that cannot be opened
TITLES = ["Morning Show", "The Quiet River", "News", "Question Time", "Antiques on the Road", "Late Film", "Tomorrow's Weather"]
LENGTHS = [1800, 3600, 900, 2700]  # seconds
GROUPS = ["News", "Sport", "Films"]


def write(folder, count, url):
    """A list of channels with 25 programs each, the first of which began an hour ago."""
    names = (NAMES + [f"Channel {i}" for i in range(len(NAMES) + 1, count + 1)])[:count]
    lines, guide = ["#EXTM3U"], ["<tv>"]
    stamp = lambda date: time.strftime("%Y%m%d%H%M%S +0000", time.gmtime(date))
    for number, name in enumerate(names, 1):
        source = "http://127.0.0.1:9/gone.m3u8" if number == DEAD else url
        lines += [f'#EXTINF:-1 tvg-chno="{number}" tvg-id="c{number}" group-title="{GROUPS[number % 3]}",{name}', source]
        guide.append(f"<channel id='c{number}'><display-name>{number}</display-name></channel>")
        date = int(time.time()) // 1800 * 1800 - 3600 - number % 3 * 600
        for index in range(25):
            end = date + LENGTHS[(number + index) % 4]
            guide.append(f"<programme channel='c{number}' start='{stamp(date)}' stop='{stamp(end)}'><title>{TITLES[(number + index) % 7]}</title></programme>")
            date = end
    (folder / "list.m3u").write_text("\n".join(lines) + "\n")
    (folder / "guide.xml").write_text("\n".join([*guide, "</tv>"]))


class Server:
    def __init__(self, program, folder, count, url, *options):
        folder.mkdir()
        write(folder, count, url)
        self.port = free_port()
        self.arguments = [program, "serve", str(folder / "list.m3u"), "--port", str(self.port), "--idle", "10m", "--log-level", "error",
                          "--epg", str(folder / "guide.xml"), "--api-token", API, "--recordings", f"{folder}/rec/{{title}}.mp4", *options]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stderr=subprocess.DEVNULL)
        self.wait("healthz")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wait(self, path, seconds=40):
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.get(path)
            except OSError:
                if time.monotonic() > deadline:
                    raise Failure(f"{path} is not there")
                time.sleep(0.3)

    def get(self, path, token=None, body=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(self.url + path, data, headers | ({"Content-Type": "application/json"} if body else {}))
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def open_channels(self, *slugs):
        """Starts channels, as a player does; one that cannot be opened fails."""
        for slug in slugs:
            try:
                self.get(f"{slug}/live.m3u8")
            except urllib.error.HTTPError:
                pass

    def record(self, **body):
        return json.loads(self.get("api/recordings", API, body))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


text = lambda selector: f"document.querySelector({selector!r}).innerText"
there = lambda selector: f"document.querySelector({selector!r}) !== null"
