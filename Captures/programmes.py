"""The short programmes of the captures, encoded with ffmpeg and handed on as frames.

Each shows its number and its frame's number (see `picture`), and its sound's pitch tells the time: a tone that begins
at 300 + 40 × number Hz and rises by 400 Hz a second. So any piece of an output says which picture it shows and which
moment it sounds like, and `check` compares the two.
"""

import dataclasses
import pathlib
import shutil
import subprocess
import tempfile
from fractions import Fraction

import transport
from transport import TICKS, Frame

ENCODED_AT = 10  # seconds; where the first picture is shown in what ffmpeg writes
TONE_BASE, TONE_STEP, TONE_SLOPE = 300, 40, 400


@dataclasses.dataclass(frozen=True)
class Programme:
    """One encoder run. Its first picture is shown at tick 0; its sound begins there but for the encoder's priming."""

    name: str
    number: int  # drawn into the picture, 0...15
    seconds: Fraction
    picture: str = "testsrc2"  # a lavfi source, without size and rate
    size: str = "288x160"
    rate: str = "25"  # frames per second, as ffmpeg reads it
    codec: str = "h264"
    profile: str = "high"
    b_frames: int = 2
    group: int = 0  # pictures from one random access point to the next; 0: one second of them
    options: str = ""  # of x264 or x265, beyond those
    interlaced: bool = False
    refreshes: str = ""  # ffmpeg's -force_key_frames: where IDR pictures are forced
    audio: str = "aac"
    bitrate: str = "40k"
    sample_rate: int = 48000
    channels: int = 2

    @property
    def frame_count(self):
        return round(Fraction(self.seconds) * Fraction(self.rate))

    @property
    def pictures_per_group(self):
        return self.group or round(Fraction(self.rate))


def picture(programme, frame_count, words_at=56, words_high=20):
    """The source, the drawn counter, and the same number in words where a font is at hand.

    The row of 16 cells of one macroblock each, the first at (16, 16), tells programme (4 bits) and frame (12 bits).
    """
    source, *rest = programme.picture.split(",")
    separator = ":" if "=" in source else "="
    chain = [f"{source}{separator}size={programme.size}:rate={programme.rate}", *rest]
    chain.append("drawbox=x=0:y=0:w=288:h=48:color=black:t=fill")
    for bit in range(4):
        if programme.number >> (3 - bit) & 1:
            chain.append(f"drawbox=x={16 + 16 * bit}:y=16:w=16:h=16:color=white:t=fill")
    for bit in range(12):
        lit = f"mod(floor(n/{1 << (11 - bit)})\\,2)"
        chain.append(f"drawbox=x={80 + 16 * bit}:y=16:w=16:h=16:color=white:t=fill:enable={lit}")
    if font := font_file():
        text = f"{programme.name} %{{frame_num}}"
        chain.append(
            f"drawtext=fontfile={font}:text='{text}':x=16:y={words_at}:fontsize={words_high}:fontcolor=white:box=1"
            ":boxcolor=black")
    chain.append(f"trim=end_frame={frame_count}")
    return ",".join(chain)


def font_file():
    found = subprocess.run(["fc-match", "-f", "%{file}", "monospace"], capture_output=True, text=True)
    return found.stdout if found.returncode == 0 and pathlib.Path(found.stdout).is_file() else None


def sound(programme):
    base = TONE_BASE + TONE_STEP * programme.number
    tone = f"0.4*sin(2*PI*({base}*t+{TONE_SLOPE // 2}*t*t))"
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[programme.channels]
    samples = int(Fraction(programme.seconds) * programme.sample_rate)
    return (
        f"aevalsrc=exprs={'|'.join([tone] * programme.channels)}:sample_rate={programme.sample_rate}"
        f":channel_layout={layout},atrim=end_sample={samples}")


def video_options(programme):
    group = programme.pictures_per_group
    common = f"keyint={group}:min-keyint={group}:scenecut=0:bframes={programme.b_frames}"
    extra = ":" + programme.options if programme.options else ""
    if programme.codec == "hevc":
        return [
            "-c:v", "libx265", "-preset", "medium", "-crf", "36", "-pix_fmt", "yuv420p", "-x265-params",
            f"{common}:open-gop=0:pools=1:frame-threads=1:log-level=error:info=0{extra}"]
    return [
        "-c:v", "libx264", "-profile:v", programme.profile, "-preset", "slow", "-crf", "36", "-pix_fmt", "yuv420p",
        *(["-flags:v", "+ildct+ilme"] if programme.interlaced else []), "-x264-params", f"{common}:open-gop=0{extra}"]


def audio_options(programme):
    encoder = {"aac": "aac", "mp2": "mp2", "mp3": "libmp3lame", "ac3": "ac3", "eac3": "eac3"}[programme.audio]
    return [
        "-c:a", encoder, "-b:a", programme.bitrate, "-ar", str(programme.sample_rate), "-ac", str(programme.channels)]


def encoding(programme, streams="av"):
    """ffmpeg's arguments but for where the output goes."""
    return [
        "ffmpeg", "-v", "error", "-nostdin", "-y", "-threads", "1", "-filter_threads", "1",
        "-f", "lavfi", "-i", picture(programme, programme.frame_count), "-f", "lavfi", "-i", sound(programme),
        *(["-map", "0:v", *video_options(programme)] if "v" in streams else []),
        *(["-force_key_frames", programme.refreshes, "-forced-idr", "1"] if programme.refreshes else []),
        *(["-map", "1:a", *audio_options(programme)] if "a" in streams else []),
        "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"]


def frames_of(programme, streams="av"):
    """Video in decoding order, then audio."""
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "whole.ts"
        run(*encoding(programme, streams), "-muxdelay", "0", "-muxpreload", "0",
            "-output_ts_offset", str(ENCODED_AT), "-f", "mpegts", str(file))
        data = file.read_bytes()
    video = transport.video_frames(data, 0x100) if "v" in streams else []
    audio = transport.audio_frames(data, 0x101 if video else 0x100, programme.audio) if "a" in streams else []
    if len(video) not in (0, programme.frame_count):
        raise SystemExit(f"{programme.name}: {len(video)} frames instead of {programme.frame_count}")
    return [frame.moved(-origin(video, audio, programme)) for frame in video + audio]


def origin(video, audio, programme):
    """Where the first picture is shown. Sound alone stands where ffmpeg was told to put it."""
    return min(frame.pts for frame in video) if video else ENCODED_AT * TICKS


class Footage:
    """The frames of one programme, to be taken out by time."""

    def __init__(self, programme, streams="av"):
        self.programme = programme
        self.frames = frames_of(programme, streams)
        self.video = [frame for frame in self.frames if frame.kind == "v"]
        self.audio = [frame for frame in self.frames if frame.kind == "a"]

    def pictures(self, start, end):
        """What is decoded from picture `start` × rate on and before picture `end` × rate.

        At the border of a closed group that is what is shown in between; of an open one, its leading pictures, shown
        before it, come with it. Elsewhere it is a cut as careless as any.
        """
        return self.video[self.index(start):self.index(end)]

    def index(self, seconds):
        """Of a random access point in decoding order; elsewhere so many pictures into it."""
        number = round(Fraction(seconds) * Fraction(self.programme.rate))
        points = (at for at, frame in enumerate(self.video) if frame.key and self.number(frame) == number)
        return next(points, min(number, self.programme.frame_count))

    def number(self, frame):
        """Which picture it is, counted in the order they are shown."""
        return round(frame.pts * Fraction(self.programme.rate) / TICKS)

    def sound(self, start, end):
        """The frames that begin between `start` and `end`, with the encoder's priming and its rest at either end."""
        first = start * TICKS if start > 0 else -TICKS
        past = end * TICKS if end < self.programme.seconds else (end + 1) * TICKS
        return [frame for frame in self.audio if first <= frame.pts < past]


def run(*command, given=None):
    return subprocess.run(command, check=True, input=given, stdout=subprocess.PIPE).stdout


def require(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is not installed")
