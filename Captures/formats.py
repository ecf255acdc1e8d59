"""Captures of containers and codecs: fragmented MP4, byte ranges, packed audio, sound alone, sound of broadcasting."""

import dataclasses
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

    def play(self, main, first=0, past=None, tagged=False):
        main.channel.body.joinpath(self.name).write_bytes(self.initialization)
        per_group = self.programme.pictures_per_group
        for index, fragment in list(enumerate(self.fragments))[first:past]:
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


CAPTURES = (fmp4_maps, byteranges, packed_audio, audio_only, broadcast_audio)
