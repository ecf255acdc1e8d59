"""Parses the boxes of fragmented MP4 that show whether a file is complete and when it plays (ISO/IEC 14496-12)."""

import struct

CONTAINERS = {b"moov", b"trak", b"mdia", b"mvex", b"moof", b"traf"}


def boxes(data, start=0, end=None):
    """Yields type, start and end of each box's payload. Raises ValueError if the boxes do not fill the data."""
    at, end = start, len(data) if end is None else end
    while at < end:
        if at + 8 > end:
            raise ValueError(f"an incomplete box at byte {at}")
        size, kind = struct.unpack_from(">I4s", data, at)
        if size < 8 or at + size > end:
            raise ValueError(f"a {kind!r} of {size} bytes at byte {at} of {end}")
        yield kind, at + 8, at + size
        at += size


def walk(data, start=0, end=None):
    """Like `boxes`, including the boxes inside containers."""
    for kind, begin, stop in boxes(data, start, end):
        yield kind, begin, stop
        if kind in CONTAINERS:
            yield from walk(data, begin, stop)


def default_durations(initialization):
    """Returns the default sample durations by track_ID (trex)."""
    found = {}
    for kind, begin, _ in walk(initialization):
        if kind == b"trex":
            track, _, duration = struct.unpack_from(">III", initialization, begin + 4)
            found[track] = duration
    if not found:
        raise ValueError("an init section without a track")
    return found


def times(segment, defaults):
    """Returns (track_ID, tfdt, end) of each track, in its timescale."""
    if not {b"moof", b"mdat"} <= {kind for kind, _, _ in boxes(segment)}:
        raise ValueError("no moof and mdat")
    found = []
    for kind, begin, end in walk(segment):
        if kind == b"traf":
            found.append(_times(segment, begin, end, defaults))
    return found


def _times(data, start, end, defaults):
    track, default, start_time, total = None, None, None, 0
    for kind, at, _ in boxes(data, start, end):
        flags = int.from_bytes(data[at + 1 : at + 4], "big")
        if kind == b"tfhd":
            track = struct.unpack_from(">I", data, at + 4)[0]
            skipped = 8 * bool(flags & 1) + 4 * bool(flags & 2)
            default = struct.unpack_from(">I", data, at + 8 + skipped)[0] if flags & 8 else defaults[track]
        elif kind == b"tfdt":
            start_time = struct.unpack_from(">Q" if data[at] == 1 else ">I", data, at + 4)[0]
        elif kind == b"trun":
            total += _duration(data, at, flags, default)
    return track, start_time, start_time + total


def _duration(data, at, flags, default):
    count = struct.unpack_from(">I", data, at + 4)[0]
    if not flags & 0x100:
        return count * default
    first = at + 8 + 4 * bool(flags & 1) + 4 * bool(flags & 4)
    width = 4 * sum(bool(flags & bit) for bit in (0x100, 0x200, 0x400, 0x800))
    return sum(struct.unpack_from(">I", data, first + n * width)[0] for n in range(count))
