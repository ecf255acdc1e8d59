"""Captures of containers and codecs: fragmented MP4, byte ranges, packed audio, sound alone, sound of broadcasting."""

import dataclasses
import math
import pathlib
import tempfile
from fractions import Fraction

from channel import Channel, Rendition, at
from playlists import HOST, Manner
from programmes import Footage, Programme, encoding, run
from splices import AD, AD_LAYOUT, MAIN, publish, publish_apart
from transport import WRAP, Layout


def fragmented(programme, clock, timescale=None, streams="av"):
    """(init section, segments of a second each) as ffmpeg's HLS muxer writes them; `clock` in seconds."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        options = ["-hls_segment_options", f"video_track_timescale={timescale}"] if timescale else []
        tag = ["-tag:v", "hvc1"] if programme.codec == "hevc" else []
        run(*encoding(programme, streams), *tag, "-output_ts_offset", str(clock), "-f", "hls", "-hls_time", "1",
            "-hls_list_size", "0", "-hls_segment_type", "fmp4", *options,
            "-hls_segment_filename", str(folder / "%02d.m4s"), str(folder / "list.m3u8"))
        return (folder / "init.mp4").read_bytes(), [file.read_bytes() for file in sorted(folder.glob("*.m4s"))]


class FragmentedProgramme:
    """A programme as init section and fragments of a second each; the former is named as EXT-X-MAP."""

    def __init__(self, programme, clock, timescale=None):
        self.programme = programme
        self.name = f"init-{programme.name}.mp4"
        self.initialization, self.fragments = fragmented(programme, clock, timescale)
        if len(self.fragments) != -(-programme.frame_count // programme.pictures_per_group):
            raise SystemExit(f"{programme.name}: {len(self.fragments)} fragments")

    def play(self, main, first=0, past=None, tagged=False, messages={}):
        """`messages`: (type of the box, bytes) for each segment by its index, to stand in front of the first such box."""
        main.channel.body.joinpath(self.name).write_bytes(self.initialization)
        per_group = self.programme.pictures_per_group
        for index, fragment in list(enumerate(self.fragments))[first:past]:
            for kind, message in messages.get(index, ()):
                fragment = in_front_of(kind, message, fragment)
            pictures = min(per_group, self.programme.frame_count - index * per_group)
            main.add(
                self.programme.name, fragment, pictures / Fraction(self.programme.rate), tagged and index == first,
                suffix=".m4s", tags=(f'#EXT-X-MAP:URI="{self.name}"',))
            main.channel.show(self.programme, range(index * per_group, index * per_group + pictures))

    @property
    def answer(self):
        return {
            "at": 0.0, "url": HOST + self.name, "status": 200, "headers": {"Content-Type": "video/mp4"},
            "body": f"body/{self.name}"}


def in_front_of(kind, message, fragment):
    """`message` put in front of the first box of type `kind` at the top level."""
    at = 0
    while fragment[at + 4:at + 8] != kind:
        at += int.from_bytes(fragment[at:at + 4], "big")
    return fragment[:at] + message + fragment[at:]


def event_message(version, timescale, time, number, scheme, value, data, duration=0xFFFFFFFF):
    """An emsg (ISO/IEC 23009-1 section 5.10.3.3); `time` is a delta in version 0."""
    names = scheme.encode() + b"\0" + value.encode() + b"\0"
    times = timescale.to_bytes(4, "big") + time.to_bytes(8 if version else 4, "big")
    fields = times + duration.to_bytes(4, "big") + number.to_bytes(4, "big")
    body = bytes([version, 0, 0, 0]) + (fields + names if version else names + fields) + data
    return (8 + len(body)).to_bytes(4, "big") + b"emsg" + body


def splice_section(event, is_out, ticks=0):
    """A splice_info_section with a splice_insert (SCTE 35 section 9.7.3) that names no time."""
    duration = (0xFE << 32 | ticks).to_bytes(5, "big") if is_out else b""  # auto_return
    command = event.to_bytes(4, "big") + bytes([0x7F, 0xFF if is_out else 0x5F]) + duration + bytes([0, 1, 0, 0])
    body = bytes(6) + bytes([0xFF]) + (0xFFF000 | len(command)).to_bytes(3, "big") + b"\5" + command + bytes(2)
    section = b"\xfc" + (0x3000 | len(body) + 4).to_bytes(2, "big") + body
    crc = 0xFFFFFFFF
    for byte in section:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc >> 31 else 0)) & 0xFFFFFFFF
    return section + crc.to_bytes(4, "big")


def title(text):
    """An ID3 tag with one text frame."""
    content = b"\3" + text.encode()
    frame = b"TIT2" + len(content).to_bytes(4, "big") + b"\0\0" + content
    return b"ID3\4\0\0" + bytes([0, 0, 0, len(frame)]) + frame


def event_messages():
    """Each message is of one picture, and numbered by it: programme, then picture in four digits."""
    channel = Channel("event_messages")
    main = Rendition(channel)
    programme = FragmentedProgramme(dataclasses.replace(MAIN, seconds=Fraction(7)), 3600)
    ad = FragmentedProgramme(
        dataclasses.replace(AD, rate="30000/1001", seconds=Fraction(2002, 1000)), 0, timescale=30000)
    tag, splice, track = "https://aomedia.org/emsg/ID3", "urn:scte:scte35:2013:bin", "urn:example:tracking"

    def at(picture, scheme, value, data):
        return event_message(1, 1000, 3600_000 + 40 * picture, 10000 + picture, scheme, value, data)

    def behind(first, picture, data):
        return event_message(0, 30000, 1001 * (picture - first), 20000 + picture, track, "ad", data, 15015)

    out, back = splice_section(7, True, 180180), splice_section(7, False)
    programme.play(main, 0, 3, messages={
        0: [(b"styp", at(75, splice, "", out))],
        1: [(b"styp", at(30, tag, "", title("30"))), (b"moof", at(60, tag, "", title("60"))),
            (b"styp", at(75, splice, "", out))],
        2: [(b"sidx", at(75, splice, "", out))]})
    ad.play(main, tagged=True, messages={
        0: [(b"styp", behind(0, 10, b"first")), (b"styp", behind(0, 40, b"half"))],
        1: [(b"moof", behind(30, 40, b"half")), (b"moof", behind(30, 59, b"last"))]})
    programme.play(main, 5, 7, tagged=True, messages={
        5: [(b"styp", at(125, splice, "", back)), (b"styp", at(140, tag, "", title("140")))],
        6: [(b"styp", at(140, tag, "", title("140"))), (b"styp", at(174, tag, "", title("174")))]})
    publish(
        channel, main, "Event messages of both versions beside fragmented MP4, over a splice: ID3, SCTE-35, an ad's own.",
        Manner(version=7), [programme.answer, ad.answer])


def fmp4_maps():
    channel = Channel("fmp4_maps")
    main = Rendition(channel)
    programme = FragmentedProgramme(dataclasses.replace(MAIN, seconds=Fraction(7)), 3600)
    ad = FragmentedProgramme(
        dataclasses.replace(AD, rate="30000/1001", seconds=Fraction(2002, 1000)), 0, timescale=30000)
    hevc = FragmentedProgramme(dataclasses.replace(
        MAIN, name="hevc", number=3, codec="hevc", size="320x176", seconds=Fraction(2)), 77, timescale=90000)
    programme.play(main, 0, 3)
    ad.play(main, tagged=True)
    hevc.play(main, tagged=True)
    programme.play(main, 5, 7, tagged=True)
    publish(
        channel, main, "Fragmented MP4: three EXT-X-MAP, three timescales, three clocks, H.264 and HEVC.",
        Manner(version=7), [programme.answer, ad.answer, hevc.answer])


def byteranges():
    """A transport stream in one growing file, then an ad of fragmented MP4 in another, its init section in front."""
    channel = Channel("byteranges")
    main = Rendition(channel)
    main.play(Footage(dataclasses.replace(MAIN, seconds=Fraction(4))), 0, 4, at(3600))
    in_one_file(channel, main.entries, "main.ts")
    ad = FragmentedProgramme(dataclasses.replace(AD, seconds=Fraction(3)), 0, timescale=15360)
    ad.play(main, tagged=True)
    length = len(ad.initialization)
    in_one_file(channel, main.entries[4:], "ad.mp4", length)
    for entry in main.entries[4:]:
        entry.tags = (f'#EXT-X-MAP:URI="ad.mp4",BYTERANGE="{length}@0"',)
    answer = ad.answer | {"url": HOST + "ad.mp4", "range": [0, length], "status": 206}
    publish(
        channel, main, "Byte ranges of growing files: a transport stream, then fragmented MP4 with its init section.",
        Manner(version=7), [answer])


def in_one_file(channel, entries, file, offset=0):
    for entry in entries:
        entry.part_of, entry.offset = file, offset
        entry.length = (channel.body / entry.name).stat().st_size
        offset += entry.length


def packed(footage, start, end, clock):
    """Frames of sound behind an ID3 tag with their time (RFC 8216 §3.4)."""
    frames = footage.sound(start, end)
    owner = b"com.apple.streaming.transportStreamTimestamp\0"
    content = owner + ((frames[0].pts + clock) % WRAP).to_bytes(8, "big")
    frame = b"PRIV" + len(content).to_bytes(4, "big") + b"\0\0" + content
    return b"ID3\x04\0\0" + bytes([0, 0, len(frame) >> 7, len(frame) & 127]) + frame + b"".join(
        frame.payload for frame in frames)


def packed_audio():
    channel = Channel("packed_audio")
    footage = Footage(dataclasses.replace(MAIN, seconds=Fraction(7)))
    ad = Footage(dataclasses.replace(AD, seconds=Fraction(3), audio="ac3", bitrate="64k", sample_rate=48000))
    video, audio = Rendition(channel, "v"), Rendition(channel, "a")
    for what, start, end, clock, suffix in (
            (footage, 0, 2, at(900), ".aac"), (ad, 0, 3, at(2), ".ac3"), (footage, 5, 7, at(900), ".aac")):
        video.play(what, start, end, clock, Layout(audio=None), tagged=what is ad or start > 0)
        for second in range(start, end):
            audio.add(
                what.programme.name, packed(what, second, second + 1, clock), 1,
                bool(audio.entries) and second == start, suffix=suffix)
    publish_apart(
        channel, video, audio, "Packed audio behind ID3 tags as a companion: AAC, in the ad AC-3.", Manner(sequence=11),
        Manner(sequence=3), "audio/aac", "mp4a.40.2,ac-3")


def audio_only():
    channel = Channel("audio_only")
    main = Rendition(channel)
    radio = Footage(Programme("radio", 1, Fraction(8)), "a")
    ad = Footage(Programme("ad", 2, Fraction(3), sample_rate=44100, channels=1), "a")
    layout = Layout(video=None)
    main.play(radio, 0, 4, at(900), layout)
    for second in range(3):
        main.add("ad", packed(ad, second, second + 1, at(2)), 1, second == 0, suffix=".aac")
    main.play(radio, 4, 8, at(903), layout)
    publish(channel, main, "No picture: a radio programme as a transport stream, a tagged ad as packed audio.")


def broadcast_audio():
    channel = Channel("broadcast_audio")
    main = Rendition(channel)
    footage = Footage(dataclasses.replace(MAIN, seconds=Fraction(5), audio="mp2", bitrate="64k"))
    surround = Footage(dataclasses.replace(
        MAIN, name="surround", number=2, seconds=Fraction(2), audio="ac3", channels=6, bitrate="160k"))
    enhanced = Footage(dataclasses.replace(
        MAIN, name="enhanced", number=3, seconds=Fraction(2), audio="eac3", bitrate="64k"))
    main.play(footage, 0, 2, at(90), Layout(audio="mp2"))
    main.play(surround, 0, 2, at(2), Layout(audio="ac3"), tagged=True)
    main.play(enhanced, 0, 2, at(2), Layout(audio="eac3"), tagged=True)
    main.play(footage, 2, 5, at(94), Layout(audio="mp2"), tagged=True)
    publish(channel, main, "MPEG audio layer II, AC-3 with 5.1 channels, E-AC-3, layer II again.")


class Slides(Footage):
    """Fewer pictures than segments: each stands in the segment in which it is shown first."""

    def index(self, seconds):
        return math.ceil(Fraction(seconds) * Fraction(self.programme.rate))


def slides():
    """One picture every 10 s in segments of 4 s, so that most have sound alone, beside a table that lists video."""
    channel = Channel("slides")
    main = Rendition(channel)
    footage = Slides(Programme("slides", 1, Fraction(60), rate="1/10", group=1, b_frames=0))
    ad = Footage(dataclasses.replace(AD, seconds=Fraction(4)))
    main.play(footage, 6, 38, at(900), step=4)
    main.play(ad, 0, 4, at(2), AD_LAYOUT, tagged=True, step=4)
    main.play(footage, 40, 60, at(900), tagged=True, step=4)
    publish(channel, main, "Slides: a picture every 10 s in segments of 4 s, an ad with a frame rate between them.")


CAPTURES = (fmp4_maps, event_messages, byteranges, packed_audio, audio_only, broadcast_audio, slides)
