"""MPEG-2 transport streams (ISO/IEC 13818-1) as lists of frames: read from one multiplex, written into another.

What ffmpeg's multiplexer would never make is made here: clocks of any kind, decoding times after presentation times,
sound a second away from its picture, programme tables that change in mid-segment.
"""

import dataclasses
from fractions import Fraction

TICKS = 90000
WRAP = 1 << 33
PACKET = 188

# stream_type (table 2-34, and ATSC A/53 for 0x81 and 0x87) and descriptors of what the captures hold.
STREAM_TYPES = {
    "h264": (0x1B, b""), "hevc": (0x24, b""), "aac": (0x0F, b""), "mp2": (0x03, b""), "mp3": (0x03, b""),
    "ac3": (0x81, b"\x05\x04AC-3"), "eac3": (0x87, b"\x05\x04EAC3"),
}


@dataclasses.dataclass(frozen=True)
class Frame:
    """One access unit or audio frame; times in ticks of 90 kHz, not wrapped."""

    kind: str  # "v" or "a"
    pts: int
    dts: int
    key: bool
    payload: bytes

    def moved(self, ticks, dts_ahead=0):
        return dataclasses.replace(self, pts=self.pts + ticks, dts=self.dts + ticks + dts_ahead)


# --------------------------------------------------------------------------------------------------------------- reading


def packets_of_stream(data, pid):
    """(payload_unit_start, random_access, payload) of each packet of `pid`."""
    for at in range(0, len(data), PACKET):
        packet = data[at:at + PACKET]
        if int.from_bytes(packet[1:3], "big") & 0x1FFF != pid:
            continue
        start, has_adaptation, has_payload = packet[1] & 0x40, packet[3] & 0x20, packet[3] & 0x10
        body = 5 + packet[4] if has_adaptation else 4
        random_access = bool(has_adaptation and packet[4] and packet[5] & 0x40)
        if has_payload:
            yield bool(start), random_access, packet[body:]


def pes_of_stream(data, pid):
    """(pts, dts, random_access, payload) of each PES packet of `pid`."""
    units = []
    for start, random_access, payload in packets_of_stream(data, pid):
        if start:
            units.append([random_access, bytearray()])
        units[-1][1].extend(payload)
    for random_access, pes in units:
        pts = timestamp(pes[9:14])
        dts = timestamp(pes[14:19]) if pes[7] & 0x40 else pts
        yield pts, dts, random_access, bytes(pes[9 + pes[8]:])


def timestamp(field):
    return (field[0] >> 1 & 7) << 30 | field[1] << 22 | field[2] >> 1 << 15 | field[3] << 7 | field[4] >> 1


def video_frames(data, pid):
    """Every PES packet is one access unit, as ffmpeg's multiplexer writes them."""
    return [Frame("v", pts, dts, key, payload) for pts, dts, key, payload in pes_of_stream(data, pid)]


def audio_frames(data, pid, codec):
    """The frames of the elementary stream, timed by counting their samples from the first PES packet's time on."""
    units = list(pes_of_stream(data, pid))
    stream, frames, samples_before = b"".join(unit[3] for unit in units), [], 0
    while stream:
        size, samples, rate = audio_header(stream, codec)
        pts = units[0][0] + round(Fraction(samples_before * TICKS, rate))
        frames.append(Frame("a", pts, pts, True, stream[:size]))
        stream, samples_before = stream[size:], samples_before + samples
    return frames


def audio_header(data, codec):
    """(bytes, samples, rate) of the frame that `data` begins with."""
    if codec == "aac":
        rates = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
        return (data[3] & 3) << 11 | data[4] << 3 | data[5] >> 5, 1024, rates[data[2] >> 2 & 15]
    rate = (48000, 44100, 32000)[data[4] >> 6] if codec in ("ac3", "eac3") else (44100, 48000, 32000)[data[2] >> 2 & 3]
    if codec == "ac3":
        rates = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640)
        if rate != 48000:
            raise SystemExit("AC-3 of another rate than 48 kHz is not read here")
        return rates[(data[4] & 63) >> 1] * 4, 1536, rate
    if codec == "eac3":
        return ((data[2] & 7) << 8 | data[3]) * 2 + 2, 256 * (1, 2, 3, 6)[data[4] >> 4 & 3], rate
    layer3 = data[1] >> 1 & 3 == 1
    rates = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320) if layer3 else (
        32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384)
    return 144 * rates[(data[2] >> 4) - 1] * 1000 // rate + (data[2] >> 1 & 1), 1152, rate


# --------------------------------------------------------------------------------------------------------------- writing


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where a programme stands in a multiplex; a codec is None where there is no such stream."""

    video: str = "h264"
    audio: str = "aac"
    program: int = 1
    pmt: int = 0x1000
    video_pid: int = 0x100
    audio_pid: int = 0x101


class Multiplexer:
    """Writes segments of one multiplex: its continuity counters run on from one to the next."""

    PCR_LEAD = TICKS // 2
    FRAMES_PER_PES = 4

    def __init__(self):
        self.counters = {}
        self.bounds_video = False  # whether PES packets of video have a length, in 16 bits

    def segment(self, frames, layout, audio_later=0):
        """PAT, PMT and `frames` in order of decoding time.

        `audio_later`: ticks by which sound is sent after (negative: before) the picture of its time.
        """
        out = bytearray(self.tables(layout))
        bundles = [[frame] for frame in frames if frame.kind == "v"]
        sound = [frame for frame in frames if frame.kind == "a"]
        bundles += [sound[at:at + self.FRAMES_PER_PES] for at in range(0, len(sound), self.FRAMES_PER_PES)]
        bundles.sort(key=lambda bundle: bundle[0].dts + (audio_later if bundle[0].kind == "a" else 0))
        for bundle in bundles:
            out += self.pes(bundle, layout)
        return bytes(out)

    def pes(self, bundle, layout):
        first = bundle[0]
        is_video = first.kind == "v"
        codec = layout.video if is_video else layout.audio
        stream_id = 0xE0 if is_video else 0xBD if codec in ("ac3", "eac3") else 0xC0
        payload = b"".join(frame.payload for frame in bundle)
        times = stamp(2, first.pts) if first.dts == first.pts else stamp(3, first.pts) + stamp(1, first.dts)
        header = bytes([0x84, 0x80 if first.dts == first.pts else 0xC0, len(times)]) + times
        length = 0 if is_video and not self.bounds_video else (len(header) + len(payload)) & 0xFFFF
        data = b"\0\0\1" + bytes([stream_id]) + length.to_bytes(2, "big") + header + payload
        carries_clock = is_video or layout.video is None
        return self.packets(
            layout.video_pid if is_video else layout.audio_pid, data,
            clock=min(first.dts, first.pts) - self.PCR_LEAD if carries_clock else None, random_access=first.key)

    def tables(self, layout):
        association = section(0, 1, layout.program.to_bytes(2, "big") + (0xE000 | layout.pmt).to_bytes(2, "big"))
        clock_pid = layout.video_pid if layout.video else layout.audio_pid
        streams = (0xE000 | clock_pid).to_bytes(2, "big") + b"\xF0\0"
        for codec, pid in ((layout.video, layout.video_pid), (layout.audio, layout.audio_pid)):
            if codec:
                kind, descriptors = STREAM_TYPES[codec]
                streams += bytes([kind]) + (0xE000 | pid).to_bytes(2, "big")
                streams += (0xF000 | len(descriptors)).to_bytes(2, "big") + descriptors
        return self.psi(0, association) + self.psi(layout.pmt, section(2, layout.program, streams))

    def psi(self, pid, section_bytes):
        return self.packets(pid, b"\0" + section_bytes + b"\xFF" * (183 - len(section_bytes)))

    def packets(self, pid, data, clock=None, random_access=False):
        out, at = bytearray(), 0
        while at < len(data):
            adaptation = b""
            if at == 0 and clock is not None:
                base = clock % WRAP
                adaptation = bytes([0x50 if random_access else 0x10])
                adaptation += (base << 15 | 0x7E00).to_bytes(6, "big")
            elif at == 0 and random_access:
                adaptation = b"\x40"
            taken = min(len(data) - at, 184 - (1 + len(adaptation) if adaptation else 0))
            adaptation = stuffed(adaptation, 184 - taken)
            counter = self.counters[pid] = (self.counters.get(pid, 15) + 1) & 15
            out += bytes([0x47, (0 if at else 0x40) | pid >> 8, pid & 0xFF, (0x30 if adaptation else 0x10) | counter])
            out += adaptation + data[at:at + taken]
            at += taken
        return bytes(out)


def stuffed(adaptation, room):
    """The adaptation field with its length in front, `room` bytes in all."""
    if room == 0:
        return b""
    field = adaptation or (b"\0" if room > 1 else b"")
    return bytes([room - 1]) + field + b"\xFF" * (room - 1 - len(field))


def stamp(marker, time):
    time %= WRAP
    parts = (marker << 4 | time >> 29 & 0xE | 1, time >> 22, time >> 14 & 0xFE | 1, time >> 7, time << 1 & 0xFE | 1)
    return bytes(part & 0xFF for part in parts)


def section(table, identifier, content):
    body = identifier.to_bytes(2, "big") + b"\xC1\0\0" + content
    data = bytes([table]) + (0xB000 | len(body) + 4).to_bytes(2, "big") + body
    return data + checksum(data).to_bytes(4, "big")


def checksum(data):
    """CRC_32 of annex A."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte << 24
        for _ in range(8):
            register = (register << 1 ^ (0x04C11DB7 if register & 0x80000000 else 0)) & 0xFFFFFFFF
    return register
