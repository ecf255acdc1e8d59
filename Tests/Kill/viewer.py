"""A viewer who never forgets: what was told once has to hold for ever, whichever process says it."""

import hashlib
import http.client

import lists
import media


class Gone(Exception):
    """Nobody answers: the relay is dead, or it does not listen yet."""


class Broken(Exception):
    """A promise is not kept."""


class Viewer:
    def __init__(self):
        self.playlists = {}  # the newest version of each, by name
        self.entries = {}  # by media sequence number
        self.dates = {}
        self.hashes = {}  # of each file, by name
        self.defaults = {}  # of each init section's tracks, by name
        self.ends = {}  # where each segment's tracks begin and end, by media sequence number
        self.measured, self.clocks = -1, {}  # up to which segment it was compared, and where each track stood there
        self.versions = self.fetched = 0
        self.owed = []  # files to look at once more in this life
        self.connection = None

    def meet(self, port):
        """A relay that has just been started: all that is listed is looked at again."""
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self.owed = None

    def look(self):
        """All lists as they are now, and every file that they name and that was not seen in this life.

        Returns the media sequence number behind the last segment, None when nothing is published yet.
        """
        names = [name for name in ("live.m3u8", "dvr.m3u8") if self.reload(name)]
        names += [name for name in self.subtitles() if self.reload(name)] if names else []
        if not names:
            return None
        if self.owed is None:
            self.owed = sorted({uri for name in names for uri in self.files(self.playlists[name])})
        for name in names:
            for uri in self.files(self.playlists[name]):
                if uri not in self.hashes:
                    self.examine(uri)
        self.measure()
        while self.owed:
            self.examine(self.owed.pop())
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
                raise Broken(f"{name} is gone")
            return False
        if status != 200:
            raise Broken(f"{name}: HTTP {status}")
        new, old = lists.parse(body.decode()), self.playlists.get(name)
        # Live subtitles come behind their pictures, whose window slides.
        if found := lists.broken(old, new, may_skip=name.startswith("subs-")) if old else []:
            raise Broken(f"{name}: {'; '.join(found)}")
        self.versions += old is None or old != new
        self.playlists[name] = new
        if name in ("live.m3u8", "dvr.m3u8"):
            self.remember(name, new)
        return True

    def remember(self, name, playlist):
        for number, entry in playlist.numbered():
            if self.entries.setdefault(number, entry) != entry:
                raise Broken(f"{name}: segment {number} was {self.entries[number]} and is {entry}")
        for number, date in playlist.dates.items():
            if self.dates.setdefault(number, date) != date:
                raise Broken(f"{name}: segment {number} was of {self.dates[number]} and is of {date}")
            before = max((n for n in self.dates if n < number), default=None)
            if before is not None and self.dates[before] >= date:
                raise Broken(f"{name}: segment {number} is of {date}, and {before} was of {self.dates[before]}")

    @staticmethod
    def files(playlist):
        for entry in playlist.entries:
            if not entry.gap:
                yield from filter(None, (entry.map, entry.uri))

    def examine(self, uri):
        """Fetches a file whole; it has to be what it was."""
        status, body = self.get(uri)
        if status != 200:
            raise Broken(f"{uri} is listed: HTTP {status}")
        self.fetched += 1
        digest = hashlib.sha256(body).digest()
        if self.hashes.setdefault(uri, digest) != digest:
            raise Broken(f"{uri} has other bytes than before")
        if uri.startswith("init-"):
            self.defaults[uri] = media.default_durations(body)
        elif uri.startswith("seg-"):
            number = int(uri.split("-")[1])
            if number not in self.ends:
                self.ends[number] = media.times(body, self.defaults[self.entries[number].map])

    def measure(self):
        """No track's clock goes back from one segment to the next."""
        for number in sorted(number for number in self.ends if number > self.measured):
            for track, begins, end in self.ends[number]:
                ended = self.clocks.get(track, 0)
                if begins < ended:
                    raise Broken(f"segment {number}: track {track} begins at {begins}, it had ended at {ended}")
                self.clocks[track] = end
            self.measured = number

    def get(self, path):
        """Status and whole body. `http.client` refuses one that is shorter than it was said to be."""
        try:
            self.connection.request("GET", f"/{path}")
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Gone(f"{path}: {error!r}") from error
