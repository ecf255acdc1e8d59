"""What an upstream says of its segments, reload by reload, and the directory a capture is kept in."""

import dataclasses
import datetime
import json
import pathlib
import shutil
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
HOST = "http://channel.example/"
FIRST_DATE = datetime.datetime(2026, 1, 1, 12, 0, 0, tzinfo=datetime.timezone.utc)
WINDOW = 6  # entries of a sliding window playlist
PLAYLIST = {"Content-Type": "application/vnd.apple.mpegurl"}


@dataclasses.dataclass
class Entry:
    """One segment as the playlist names it: the lines above its URI, and what it is a part of."""

    name: str
    seconds: Fraction
    discontinuity: bool = False
    tags: tuple = ()
    date: datetime.datetime = None
    part_of: str = None  # the resource, when the segment is a range of it
    offset: int = 0
    length: int = 0


@dataclasses.dataclass(frozen=True)
class Manner:
    """How an upstream lists its segments."""

    sequence: int = 1
    first_window: int = 3
    window: int = WINDOW
    dates: str = "none"  # or "all", or "first"
    version: int = 3
    # EXT-X-DISCONTINUITY-SEQUENCE from the number of tags that have left the list; None leaves the tag out.
    numbered: object = lambda gone: gone
    # A tag is listed this many reloads after its segment.
    tags_late: int = 0
    # (first, past, seconds): these entries appear so much later than they are due, and none after them before them.
    lags: tuple = ()

    def appearances(self, entries):
        """When each entry is listed first, in seconds since the beginning."""
        due, times = Fraction(0), []
        for index, entry in enumerate(entries):
            if index >= self.first_window:
                due += entry.seconds
            lag = sum(seconds for first, past, seconds in self.lags if first <= index < past)
            times.append(max([due + lag, *times[-1:]]))
        return times


def entries_of(segments, begins=FIRST_DATE, discontinuity=False, tags=()):
    entries = []
    for index, segment in enumerate(segments):
        entries.append(Entry(segment.body.name, segment.seconds, discontinuity and index == 0, tuple(tags), begins))
        begins += datetime.timedelta(seconds=float(segment.seconds))
    return entries


def seconds_text(seconds):
    return f"{float(seconds):.{3 if 1000 % seconds.denominator == 0 else 6}f}"


def media_playlist(entries, first, past, manner, ended):
    """`entries[first..<past]` as the upstream lists them."""
    target = max(int(entry.seconds + Fraction(1, 2)) for entry in entries)
    lines = [
        "#EXTM3U", f"#EXT-X-VERSION:{manner.version}", f"#EXT-X-TARGETDURATION:{target}",
        f"#EXT-X-MEDIA-SEQUENCE:{manner.sequence + first}"]
    gone = manner.numbered(sum(entry.discontinuity for entry in entries[:first]))
    if any(entry.discontinuity for entry in entries) and gone is not None:
        lines.append(f"#EXT-X-DISCONTINUITY-SEQUENCE:{gone}")
    key = None
    for index, entry in enumerate(entries[first:past], first):
        if entry.discontinuity and index < past - manner.tags_late:
            lines.append("#EXT-X-DISCONTINUITY")
        if entry.tags != key:
            lines += entry.tags
            key = entry.tags
        if manner.dates == "all" or manner.dates == "first" and index == first:
            date = entry.date.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            lines.append(f"#EXT-X-PROGRAM-DATE-TIME:{date}")
        lines.append(f"#EXTINF:{seconds_text(entry.seconds)},")
        if entry.part_of:
            lines.append(f"#EXT-X-BYTERANGE:{entry.length}@{entry.offset}")
        lines.append(entry.part_of or entry.name)
    if ended:
        lines.append("#EXT-X-ENDLIST")
    return "\n".join(lines) + "\n"


def reloads(url, entries, manner):
    """The same playlist again each time a segment is added: one exchange each, ENDLIST on the last."""
    times, exchanges = manner.appearances(entries), []
    for past in range(manner.first_window, len(entries) + 1):
        text = media_playlist(entries, max(0, past - manner.window), past, manner, past == len(entries))
        exchanges.append({
            "at": round(float(times[past - 1]), 3), "url": HOST + url, "status": 200, "headers": PLAYLIST,
            "text": text})
    return exchanges


def media_answers(entries, manner, kind="video/mp2t"):
    """Each segment once, from the moment a playlist names it."""
    exchanges = []
    for entry, appears in zip(entries, manner.appearances(entries)):
        exchange = {"at": round(float(appears), 3), "url": HOST + (entry.part_of or entry.name)}
        if entry.part_of:
            exchange["range"] = [entry.offset, entry.length]
        exchange |= {
            "status": 206 if entry.part_of else 200, "headers": {"Content-Type": kind}, "body": f"body/{entry.name}"}
        exchanges.append(exchange)
    return exchanges


def rendition(url, entries, manner, kind="video/mp2t"):
    return reloads(url, entries, manner) + media_answers(entries, manner, kind)


def write_index(capture, upstream, about, exchanges, backups=(), **more):
    ordered = sorted(exchanges, key=lambda exchange: exchange["at"])
    index = {"upstream": upstream if "://" in upstream else HOST + upstream, "about": about, "exchanges": ordered}
    if backups:
        index["backups"] = list(backups)
    index |= more
    (capture / "index.json").write_text(json.dumps(index, indent=1, ensure_ascii=False) + "\n")


def empty(name):
    """`name`'s directory with its README.md and expected/ kept, and everything that is built removed."""
    capture = HERE / name
    body = capture / "body"
    body.unlink() if body.is_symlink() else shutil.rmtree(body, ignore_errors=True)
    capture.mkdir(exist_ok=True)
    return capture


def keep(segments, capture):
    (capture / "body").mkdir(exist_ok=True)
    for segment in segments:
        shutil.copyfile(segment.body, capture / "body" / segment.body.name)
