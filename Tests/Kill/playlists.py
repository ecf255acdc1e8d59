"""Parses media playlists and compares consecutive versions (RFC 8216 §6.2)."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Entry:
    """A listed segment, which must be the same in all playlists."""

    uri: str
    duration: str
    map: str | None
    gap: bool
    tagged: bool  # EXT-X-DISCONTINUITY precedes it
    discontinuity: int  # its discontinuity sequence number


@dataclasses.dataclass
class Playlist:
    target: int
    media_sequence: int
    discontinuity_sequence: int
    entries: list[Entry]
    dates: dict[int, str]  # EXT-X-PROGRAM-DATE-TIME by media sequence number

    @property
    def end(self):
        """The media sequence number after the last one."""
        return self.media_sequence + len(self.entries)

    def numbered(self):
        return enumerate(self.entries, self.media_sequence)


def parse(text):
    head = {"EXT-X-MEDIA-SEQUENCE": 0, "EXT-X-DISCONTINUITY-SEQUENCE": 0, "EXT-X-TARGETDURATION": None}
    playlist = Playlist(0, 0, 0, [], {})
    duration, tagged, gap, date, initialization, discontinuities = None, False, False, None, None, 0
    lines = text.splitlines()
    if lines[:1] != ["#EXTM3U"]:
        raise ValueError("no playlist")
    for line in lines:
        name, _, value = line.removeprefix("#").partition(":")
        if name in head:
            head[name] = int(value)
        elif name == "EXTINF":
            duration = value.rstrip(",")
        elif name == "EXT-X-DISCONTINUITY":
            tagged, discontinuities = True, discontinuities + 1
        elif name == "EXT-X-GAP":
            gap = True
        elif name == "EXT-X-PROGRAM-DATE-TIME":
            date = value
        elif name == "EXT-X-MAP":
            initialization = value.split('URI="')[1].split('"')[0]
        elif line and not line.startswith("#"):
            if duration is None:
                raise ValueError(f"{line} has no EXTINF")
            number = head["EXT-X-MEDIA-SEQUENCE"] + len(playlist.entries)
            first = head["EXT-X-DISCONTINUITY-SEQUENCE"]
            playlist.entries.append(Entry(line, duration, initialization, gap, tagged, first + discontinuities))
            if date:
                playlist.dates[number] = date
            duration, tagged, gap, date = None, False, False, None
    playlist.target = head["EXT-X-TARGETDURATION"]
    playlist.media_sequence = head["EXT-X-MEDIA-SEQUENCE"]
    playlist.discontinuity_sequence = head["EXT-X-DISCONTINUITY-SEQUENCE"]
    return playlist


def violations(old, new, may_skip=False):
    """Describes the changes from `old` to `new` that RFC 8216 forbids. A lagging playlist may skip segments."""
    found = []
    if new.media_sequence < old.media_sequence:
        found.append(f"EXT-X-MEDIA-SEQUENCE went back from {old.media_sequence} to {new.media_sequence}")
    if new.discontinuity_sequence < old.discontinuity_sequence:
        change = f"from {old.discontinuity_sequence} to {new.discontinuity_sequence}"
        found.append(f"EXT-X-DISCONTINUITY-SEQUENCE went back {change}")
    if new.end < old.end:
        found.append(f"the playlist ended with segment {old.end - 1} and ends with {new.end - 1} now")
    if new.media_sequence > old.end and not may_skip:
        found.append(f"segments {old.end} to {new.media_sequence - 1} were never listed")
    if new.target != old.target:
        found.append(f"EXT-X-TARGETDURATION went from {old.target} to {new.target}")
    known = dict(old.numbered())
    for number, entry in new.numbered():
        if number in known and known[number] != entry:
            found.append(f"segment {number} was {known[number]} and is {entry}")
    return found
