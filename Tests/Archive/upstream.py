"""An upstream that loops a capture, and whose past is published faster than time passes."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Stream"))
from live import ROOT, serve

WINDOW = 200  # segments that are listed


class FastUpstream:
    """A live playlist that begins `past` seconds ago and reaches now at `speed` times the speed of the clock.

    The capture has playlists with EXTINF, EXT-X-DISCONTINUITY and URIs of files in its folder.
    """

    def __init__(self, capture, past, speed):
        self.folder = ROOT / "Captures" / capture
        self.segments = self.read(json.loads((self.folder / "index.json").read_text())["exchanges"])
        self.length = sum(duration for _, duration, _ in self.segments)
        self.speed, self.begun = speed, time.time()
        self.first = self.begun - past
        self.url = serve(self.answer) + "/main.m3u8"

    def answer(self, path):
        name = path.rpartition("/")[2]
        if name == "main.m3u8":
            return 200, self.playlist().encode(), "application/vnd.apple.mpegurl"
        return 200, (self.folder / "body" / name).read_bytes(), "video/mp2t"

    @staticmethod
    def read(exchanges):
        """(file, seconds, whether a discontinuity is before it) of each segment that the capture's playlists list."""
        found = {}
        for exchange in exchanges:
            duration, is_discontinuous = 0.0, False
            for line in exchange.get("text", "").splitlines():
                if line.startswith("#EXTINF:"):
                    duration = float(line[8:].split(",")[0])
                elif line == "#EXT-X-DISCONTINUITY":
                    is_discontinuous = True
                elif line.endswith(".ts"):
                    # A window that begins at a splice does not list it.
                    _, _, before = found.get(line, (line, duration, False))
                    found[line], is_discontinuous = (line, duration, before or is_discontinuous), False
        return list(found.values())

    @property
    def published(self):
        """Seconds of media by now."""
        passed = time.time() - self.begun
        return min(passed * self.speed, time.time() - self.first)

    def playlist(self):
        loops, rest = divmod(self.published, self.length)
        count = int(loops) * len(self.segments)
        for _, duration, _ in self.segments:
            if (rest := rest - duration) < 0:
                break
            count += 1
        first = max(0, count - WINDOW)
        numbers = range(first, count)
        lines = ["#EXTM3U", "#EXT-X-VERSION:3", f"#EXT-X-TARGETDURATION:{round(max(one[1] for one in self.segments))}",
                 f"#EXT-X-MEDIA-SEQUENCE:{first}", f"#EXT-X-DISCONTINUITY-SEQUENCE:{self.splices(first)}"]
        for number in numbers:
            name, duration, _ = self.segments[number % len(self.segments)]
            if self.is_discontinuous(number) and number > first:
                lines.append("#EXT-X-DISCONTINUITY")
            date = self.first + self.start(number)
            lines.append(f"#EXT-X-PROGRAM-DATE-TIME:{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(date))}.{int(date % 1 * 1000):03}Z")
            lines += [f"#EXTINF:{duration:.3f},", f"{number // len(self.segments)}/{name}"]
        return "\n".join(lines) + "\n"

    def is_discontinuous(self, number):
        """Each loop but the first begins with one."""
        index = number % len(self.segments)
        return number > 0 and (index == 0 or self.segments[index][2])

    def splices(self, number):
        """The discontinuities before a segment, and its own."""
        return sum(self.is_discontinuous(n) for n in range(number + 1))

    def start(self, number):
        loops, rest = divmod(number, len(self.segments))
        return loops * self.length + sum(duration for _, duration, _ in self.segments[:rest])
