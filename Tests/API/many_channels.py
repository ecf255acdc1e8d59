"""A replayed capture as the upstream of many channels, a liverelay that serves them, and viewers."""
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request

TOKEN = "a-token-for-this-test-alone"


class Process:
    """A program that says its URL on standard output or standard error, and ends with this process."""

    def __init__(self, arguments, pattern, log):
        self.log = open(log, "w+")
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=subprocess.STDOUT)
        deadline = time.time() + 60
        while True:
            found = re.search(pattern, open(log).read())
            if found:
                self.url = found.group(1)
                return
            if time.time() > deadline or self.process.poll() is not None:
                raise SystemExit(f"{arguments[0]} did not start:\n{open(log).read()}")
            time.sleep(0.05)

    def end(self):
        self.process.terminate()
        self.process.wait(20)


class Scene:
    """One upstream, and a liverelay with `count` channels of it that always run, and more channels and arguments."""

    def __init__(self, program, capture, count, more="", arguments=()):
        self.program, self.count, self.more = program, count, more
        self.directory = tempfile.mkdtemp(prefix="liverelay-many-")
        self.origin = self.replay(capture)
        self.options = {}
        self.urls = {}
        self.write()
        self.relay = Process(
            [program, "serve", self.path("channels.yaml"), "--port", "0", "--api-token", TOKEN, "--log-level", "info",
             *arguments],
            r"at (http://[^/]+)/playlist\.m3u", self.path("serve.log"))
        self.address = self.relay.url.split("//")[1]

    def path(self, name):
        return os.path.join(self.directory, name)

    def replay(self, capture):
        name = f"origin-{os.path.basename(capture)}.log"
        return Process([self.program, "replay", capture, "--live", "--loop", "--port", "0"],
                       r"(http://127\.0\.0\.1:\d+/\S+)", self.path(name))

    def write(self):
        """Writes the configuration: of each channel its URL and further keys."""
        lines = ["defaults: {always: true, give-up: 0}", "channels:"]
        for number in range(self.count):
            url = self.urls.get(number, self.origin.url)
            lines.append(f"  c{number}: {{url: \"{url}\"{self.options.get(number, '')}}}")
        with open(self.path("channels.yaml"), "w") as file:
            file.write("\n".join(lines) + "\n" + self.more)

    def api(self, method, path):
        request = urllib.request.Request(f"{self.relay.url}/api/{path}", method=method,
                                         headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def status(self):
        with urllib.request.urlopen(f"{self.relay.url}/status.json", timeout=60) as answer:
            return json.load(answer)

    def wait_until_running(self, seconds=120):
        deadline = time.time() + seconds
        while time.time() < deadline:
            running = sum(channel["state"] == "running" for channel in self.api("GET", "channels")["channels"])
            if running == self.count:
                return
            time.sleep(0.5)
        raise SystemExit(f"{running} of {self.count} channels run")

    def end(self):
        self.relay.end()
        self.origin.end()
        shutil.rmtree(self.directory, ignore_errors=True)


class Connection:
    """A connection that is kept."""

    def __init__(self, address):
        self.address = address
        self.connection = http.client.HTTPConnection(address, timeout=30)

    def get(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise ValueError(f"{path}: {answer.status}")
        return body


def entries(playlist):
    """The segments of a media playlist: number, discontinuity before it, map, duration, URI."""
    number, after, section, duration, found = 0, False, "", 0.0, []
    for line in playlist.decode().splitlines():
        if line.startswith("#EXT-X-MEDIA-SEQUENCE:"):
            number = int(line.split(":")[1])
        elif line.startswith("#EXT-X-MAP:"):
            section = re.search(r'URI="([^"]*)"', line).group(1)
        elif line == "#EXT-X-DISCONTINUITY":
            after = True
        elif line.startswith("#EXTINF:"):
            duration = float(line[8:].split(",")[0])
        elif line and not line.startswith("#"):
            found.append((number, after, section, duration, line))
            number, after = number + 1, False
    return found
