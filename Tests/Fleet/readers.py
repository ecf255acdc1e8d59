"""The readers of Tests/Fleet/run, one for each channel."""

import dataclasses
import datetime
import hashlib
import random
import re
import threading
import time
import urllib.error
import urllib.request

from machines import NODES, PORT

PATIENCE = 8.0  # seconds after which a reader gives a request up, as players do
LONG = 8.0  # seconds without new media that the log names
REMEMBERED = 45.0  # seconds within which no media may come twice; the recording is longer, also if it comes late


@dataclasses.dataclass
class Result:
    silence: float = 0.0
    segments: int = 0
    gaps: int = 0
    missed: int = 0  # segments that left the playlist before the reader saw them
    refused: int = 0  # requests that a node answered with an error, or not at all
    violations: list = dataclasses.field(default_factory=list)


class Readers:
    def __init__(self, machines):
        self.machines = machines
        self.lock = threading.Lock()
        self.total = Result()
        # As a load balancer takes them: those that are ready, or else those that answer.
        self.usable = set(NODES)
        threading.Thread(target=self.check, daemon=True).start()
        self.readers = [Reader(self, f"c{number}") for number in range(machines.channels)]
        for reader in self.readers:
            threading.Thread(target=reader.run, daemon=True).start()

    def wait(self):
        """Until each channel has new segments."""
        for _ in range(120):
            if all(reader.number is not None for reader in self.readers):
                return
            time.sleep(1)
        raise SystemExit("not every channel is published: see node1.log")

    def watch(self, seconds):
        time.sleep(seconds)

    def check(self):
        """Health checks, each second."""
        while True:
            answers = {}
            for node in NODES:
                try:
                    address = f"http://{self.machines.address(node)}:{PORT}/readyz"
                    answers[node] = urllib.request.urlopen(address, timeout=1).status
                except urllib.error.HTTPError as error:
                    answers[node] = error.code
                except OSError:
                    pass
            ready = {node for node, status in answers.items() if status == 200}
            self.usable = ready or set(answers) or set(NODES)
            time.sleep(1)

    def busiest(self):
        """The node that runs most channels, or the one that runs the channel with an upstream of its own."""
        owners = {}
        for node in self.usable:
            try:
                text = urllib.request.urlopen(f"http://{self.machines.address(node)}:{PORT}/metrics", timeout=3).read().decode()
            except OSError:
                continue
            for line in text.splitlines():
                found = re.match(r'liverelay_fleet_channel_epoch\{.*node="n(\d+)"', line)
                if not found or self.machines.first_upstream and 'channel="c0"' not in line:
                    continue
                owner = found[1]
                owners[int(owner)] = owners.get(int(owner), 0) + 1
            break
        return max(owners, key=owners.get)

    def begin(self):
        with self.lock:
            self.total = Result()
        for reader in self.readers:
            reader.newest = time.time()

    def result(self):
        with self.lock:
            self.total.silence = max([self.total.silence] + [time.time() - reader.newest for reader in self.readers])
            return self.total

    def refuse(self, reader, error):
        """Counts a request that failed. The log of readers says why."""
        reason = error.headers.get("X-Liverelay-Reason", "") if isinstance(error, urllib.error.HTTPError) else ""
        self.record(refused=1)
        self.log(f"{reader.channel} n{reader.node} {error} {reason}")

    def log(self, what):
        with self.lock, open(self.machines.work / "readers.log", "a") as log:
            print(time.strftime("%H:%M:%S"), what, file=log)

    def record(self, **values):
        with self.lock:
            for name, value in values.items():
                if name == "silence":
                    self.total.silence = max(self.total.silence, value)
                elif name == "violation":
                    self.total.violations.append(value)
                else:
                    setattr(self.total, name, getattr(self.total, name) + value)


class Reader:
    def __init__(self, readers, channel):
        (self.readers, self.channel, self.node) = (readers, channel, None)
        self.number = self.discontinuity = self.date = None
        self.newest = time.time()
        self.names = {}
        self.media = {}

    def run(self):
        while True:
            time.sleep(random.uniform(0.6, 1.0))
            if self.node not in self.readers.usable:
                self.node = random.choice(sorted(self.readers.usable))
            try:
                self.read(self.get("live.m3u8").decode())
            except (OSError, ValueError) as error:
                if self.number is not None:
                    self.readers.refuse(self, error)
                self.node = None

    def get(self, name):
        address = f"http://{self.readers.machines.address(self.node)}:{PORT}/{self.channel}/{name}"
        return urllib.request.urlopen(address, timeout=PATIENCE).read()

    def wrong(self, what):
        self.readers.record(violation=f"{self.channel} at {time.strftime('%H:%M:%S')} from n{self.node}: {what}")

    def read(self, playlist):
        number = int(re.search(r"MEDIA-SEQUENCE:(\d+)", playlist)[1])
        found = re.search(r"DISCONTINUITY-SEQUENCE:(\d+)", playlist)
        discontinuity, date, duration, isGap = int(found[1]) if found else 0, None, 0.0, False
        if self.number is not None and number > self.number + 1:
            self.readers.record(missed=number - self.number - 1)
        for line in playlist.splitlines():
            if line == "#EXT-X-DISCONTINUITY":
                discontinuity += 1
            elif line.startswith("#EXT-X-PROGRAM-DATE-TIME:"):
                date = datetime.datetime.fromisoformat(line[25:]).timestamp()
            elif line.startswith("#EXTINF:"):
                duration = float(line[8:].split(",")[0])
            elif line == "#EXT-X-GAP":
                isGap = True
            elif line and not line.startswith("#"):
                self.entry(number, line, discontinuity, date, isGap)
                number, isGap, date = number + 1, False, date + duration if date else None
        if self.number is not None and number - 1 < self.number:
            self.wrong(f"the newest number went back from {self.number} to {number - 1}")

    def entry(self, number, name, discontinuity, date, isGap):
        known = self.names.setdefault(number, (name, isGap))
        # A gap may stand for media that only another node had.
        if known[0] != name and not isGap and not known[1]:
            self.wrong(f"number {number} has two names")
        if self.number is not None and number <= self.number:
            return
        if self.discontinuity is not None and discontinuity < self.discontinuity:
            self.wrong(f"the discontinuity number of {number} went back from {self.discontinuity} to {discontinuity}")
        if self.date and date and date < self.date - 0.002:
            self.wrong(f"the date of {number} went back by {self.date - date:.3f} s")
        silence = time.time() - self.newest
        if silence > LONG or isGap:
            self.readers.log(f"{self.channel} n{self.node} {number} {'is a gap ' if isGap else ''}after {silence:.1f} s")
        self.readers.record(silence=silence, segments=1, gaps=1 if isGap else 0)
        (self.number, self.discontinuity, self.date) = (number, discontinuity, date)
        if not isGap:
            self.newest = time.time()
            self.fetch(number, name)
        for old in [old for old in self.names if old < number - 60]:
            del self.names[old]

    def fetch(self, number, name):
        try:
            body = self.get(name)
        except urllib.error.HTTPError as error:
            return self.wrong(f"segment {number} is listed and cannot be had ({error.code})")
        except OSError as error:
            return self.readers.refuse(self, error)
        digest = hashlib.sha1(body[body.find(b"mdat"):]).digest()
        if time.time() - self.media.get(digest, (0, 0))[0] < REMEMBERED:
            self.wrong(f"the media of {number} came before, as {self.media[digest][1]}")
        self.media[digest] = (time.time(), number)
