"""A viewer that keeps everything it has read and compares it with everything it reads later."""

import hashlib
import http.client

import media
import playlists


class Unreachable(Exception):
    """The relay does not answer: it is dead, or not listening yet."""


class Violation(Exception):
    """A rule of RFC 8216 or a promise of the relay is violated."""


class Viewer:
    def __init__(self):
        self.playlists = {}  # the newest version of each, by name
        self.entries = {}  # by media sequence number
        self.dates = {}
        self.hashes = {}  # of each file, by name
        self.defaults = {}  # of each init section's tracks, by name
        self.ends = {}  # start and end of each segment's tracks, by media sequence number
        self.compared, self.clocks = -1, {}  # last segment compared, and the end of each track in it
        self.versions = self.fetched = 0
        self.pending = []  # files to fetch again from this process
        self.connection = None

    def connect(self, port):
        """Connects to a restarted relay, and schedules all listed files to be fetched again."""
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self.pending = None

    def check(self):
        """Checks all playlists, and every listed file that was not fetched from this process.

        Returns the media sequence number after the last segment, or None if nothing is published yet.
        """
        names = [name for name in ("live.m3u8", "dvr.m3u8") if self.reload(name)]
        names += [name for name in self.subtitles() if self.reload(name)] if names else []
        if not names:
            return None
        if self.pending is None:
            self.pending = sorted({uri for name in names for uri in self.files(self.playlists[name])})
        for name in names:
            for uri in self.files(self.playlists[name]):
                if uri not in self.hashes:
                    self.fetch(uri)
        self.compare_clocks()
        while self.pending:
            self.fetch(self.pending.pop())
        return self.playlists["dvr.m3u8"].end

    def subtitles(self):
        status, master = self.get("master.m3u8")
        renditions = [line for line in master.decode().splitlines() if line.startswith("#EXT-X-MEDIA:")]
        live = [line.split('URI="')[1].split('"')[0] for line in renditions if status == 200 and 'URI="' in line]
        return live + [f"dvr-{name}" for name in live]

    def reload(self, name):
        status, body = self.get(name)
        if status in (404, 503):
            if name in self.playlists and self.playlists[name] and status == 404:
                raise Violation(f"{name} is gone")
            return False
        if status != 200:
            raise Violation(f"{name}: HTTP {status}")
        new, old = playlists.parse(body.decode()), self.playlists.get(name)
        # Live subtitles are published after the video, whose window slides.
        if found := playlists.violations(old, new, may_skip=name.startswith("subs-")) if old else []:
            raise Violation(f"{name}: {'; '.join(found)}")
        self.versions += old is None or old != new
        self.playlists[name] = new
        if name in ("live.m3u8", "dvr.m3u8"):
            self.remember(name, new)
        return True

    def remember(self, name, playlist):
        for number, entry in playlist.numbered():
            if self.entries.setdefault(number, entry) != entry:
                raise Violation(f"{name}: segment {number} was {self.entries[number]} and is {entry}")
        for number, date in playlist.dates.items():
            if self.dates.setdefault(number, date) != date:
                raise Violation(f"{name}: segment {number} had the date {self.dates[number]} and has {date}")
            before = max((n for n in self.dates if n < number), default=None)
            if before is not None and self.dates[before] >= date:
                raise Violation(f"{name}: segment {number} has the date {date}, and {before} had {self.dates[before]}")

    @staticmethod
    def files(playlist):
        for entry in playlist.entries:
            if not entry.gap:
                yield from filter(None, (entry.map, entry.uri))

    def fetch(self, uri):
        """Fetches a file, which must have the same bytes as before."""
        status, body = self.get(uri)
        if status != 200:
            raise Violation(f"{uri} is listed: HTTP {status}")
        self.fetched += 1
        digest = hashlib.sha256(body).digest()
        if self.hashes.setdefault(uri, digest) != digest:
            raise Violation(f"{uri} has other bytes than before")
        if uri.startswith("init-"):
            self.defaults[uri] = media.default_durations(body)
        elif uri.startswith("seg-"):
            number = int(uri.split("-")[1])
            if number not in self.ends:
                self.ends[number] = media.times(body, self.defaults[self.entries[number].map])

    def compare_clocks(self):
        """Checks that no track's clock goes back from one segment to the next."""
        for number in sorted(number for number in self.ends if number > self.compared):
            for track, start, end in self.ends[number]:
                ended = self.clocks.get(track, 0)
                if start < ended:
                    raise Violation(f"segment {number}: track {track} begins at {start}, after its end at {ended}")
                self.clocks[track] = end
            self.compared = number

    def get(self, path):
        """Returns status and body. `http.client` rejects a body that is shorter than its Content-Length."""
        try:
            self.connection.request("GET", f"/{path}")
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Unreachable(f"{path}: {error!r}") from error
