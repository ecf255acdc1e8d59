"""The players of `run`. Each has `plays(target)` and `play(chain)`, which returns an `Outcome`."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Captures"), str(ROOT / "Tests/Players")]
from frames import HIGHEST, moment, outputs, picture_at, pitches, read_audio, read_video
from page import Site, hls_script
from programmes import TONE_SLOPE

VIEWER = pathlib.Path(__file__).with_name("viewer.py")
GRACE = 20  # seconds until a player that was told to end is killed
INTERRUPTED = (255, 130, -2, 4, 1)  # what ffmpeg, streamlink, others, mpv and yt-dlp end with when they are told to
BITS = "+".join(f"{128 >> bit}*gt(p(8*X+{bit},0),128)" for bit in range(8))
# showinfo prints the Adler-32 sum of two bytes, from which both are known.
NUMBER_FILTER = f"crop=256:16:16:16,scale=16:2:flags=area,format=gray,geq=lum='{BITS}':i=nearest,crop=2:1:0:0,showinfo"


@dataclasses.dataclass
class Chain:
    """One output of a relay of one capture. `seconds`: how long a live one is played; a finite one plays to its end."""

    target: str
    url: str
    seconds: float
    is_live: bool
    rates: dict  # frame rate of each program
    scratch: pathlib.Path


@dataclasses.dataclass
class Outcome:
    """`frames`: (seconds, (program, frame)) in order of arrival, if the player shows them."""

    version: str = ""
    status: int = 0
    frames: list = None
    decoded: int = None
    seconds: float = None  # of media
    stalls: int = None
    offset_ms: int = None
    is_realtime: bool = False  # frames may be dropped for lateness
    may_misread: bool = False  # numbers of a canvas, which may show another frame than that of the callback
    said: list = dataclasses.field(default_factory=list)


def run(command, seconds, **options):
    """Runs a command for `seconds`, interrupts it, and returns (status, standard output, standard error)."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True, **options)
    try:
        said = process.communicate(timeout=seconds)
        return process.returncode, *said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
    try:
        said = process.communicate(timeout=GRACE)
        return 0 if process.returncode in INTERRUPTED else process.returncode, *said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "killed", *process.communicate()


def numbers(frames):
    return [(time, (word >> 12, word & 4095)) for time, word in frames]


def offset(video, audio, rates):
    """Milliseconds by which the audio is late at the end, by its pitch; None where it cannot be heard."""
    found = []
    for sound in audio[-1:]:
        for time, hertz in list(pitches(sound))[-40:]:
            at = picture_at(video, time)
            if hertz and at and at[1].programme in rates:
                seen = at[1].frame / rates[at[1].programme] + (time - at[1].time)
                if seen * TONE_SLOPE > HIGHEST:
                    continue
                found.append(float(seen) - float(moment(hertz, at[1].programme)))
    return round(1000 * statistics.median(found)) if found else None


class Player:
    skips = ()  # targets that are not for this player

    def plays(self, target):
        return target not in self.skips

    @property
    def absence(self):
        """Why the player cannot run here; None if it can."""
        return None if shutil.which(self.binary) else f"{self.binary} is not installed"


class FFmpeg(Player):
    def __init__(self, binary):
        self.binary = binary

    def play(self, chain):
        return self.decode(chain.url, chain, chain.seconds if chain.is_live else 60)

    def decode(self, url, chain, seconds):
        options = [option for kind in "va" for option in outputs(kind, chain.scratch)]
        status, _, said = run([self.binary, "-v", "error", "-nostdin", "-y", "-i", url, *options], seconds)
        version = subprocess.run([self.binary, "-version"], capture_output=True, text=True).stdout.split()[2]
        if not (chain.scratch / "v.md5").exists():
            return Outcome(version, status, [], said=said.splitlines()[-2:])
        video, audio = read_video(chain.scratch), read_audio(chain.scratch)
        frames = [(float(one.time), (one.programme, one.frame)) for one in video]
        return Outcome(version, status, frames, offset_ms=offset(video, audio, chain.rates), said=said.splitlines())


class Copier(FFmpeg):
    """A program that writes a file, which Debian's ffmpeg decodes."""

    def __init__(self, path, arguments, prefix="", skips=()):
        self.path, self.arguments, self.prefix, self.skips = path, arguments, prefix, skips
        super().__init__("ffmpeg")

    def play(self, chain):
        file = chain.scratch / "copy.ts"
        url = self.prefix + chain.url if self.prefix and chain.target == "/live.ts" else chain.url
        command = [word.format(url=url, file=file) for word in (str(self.path), *self.arguments)]
        status, said, errors = run(command, chain.seconds if chain.is_live else 60)
        version = subprocess.run([str(self.path), "--version"], capture_output=True, text=True).stdout.split()[-1]
        found = next((one for one in chain.scratch.glob("copy.ts*")), None)
        if not found:
            return Outcome(version, status, [], said=(said + errors).splitlines()[-2:])
        outcome = self.decode(str(found), chain, 60)
        outcome.version, outcome.status = version, status or outcome.status
        return outcome


class MPV(Player):
    binary = "mpv"

    def play(self, chain):
        status, said, errors = run(
            ["mpv", "--no-config", "--vo=null", "--ao=null", "--msg-level=all=error,ffmpeg=v,statusline=status",
             "--term-status-msg=AV=${avsync} P=${=time-pos}\n", f"--vf=lavfi=[{NUMBER_FILTER}]", chain.url], chain.seconds)
        text, frames = said + errors, []
        for time, sums in re.findall(r"pts_time:(\S+).*?plane_checksum:\[([0-9A-F]{8})\]", text):
            high, low = int(sums[:4], 16), int(sums[4:], 16)
            frames.append([float(time), (high - low) << 8 | 2 * low - high])
        offsets = re.findall(r"AV= *(-?[\d.]+)", text)
        version = subprocess.run(["mpv", "--version"], capture_output=True, text=True).stdout.split()[1]
        return Outcome(version, status, numbers(frames), is_realtime=True,
                       offset_ms=round(1000 * float(offsets[-1])) if offsets else None)


class Viewer(Player):
    """A player that `viewer.py` drives, in a process of its own."""

    def __init__(self, kind, python, binary=None):
        self.kind, self.python, self.binary = kind, str(python), binary or str(python)

    def play(self, chain):
        status, text, errors = run([self.python, str(VIEWER), self.kind, chain.url, str(chain.seconds)], chain.seconds + 25)
        if not text.startswith("{"):
            return Outcome("", status or 1, [], said=errors.splitlines()[-1:])
        found = json.loads(text)
        frames = numbers(found["frames"]) if "frames" in found else None
        return Outcome(found["version"], status, frames, found.get("displayed"), None, found.get("stalls"), found.get("offset_ms"),
                       self.kind != "av", said=found["said"])


class Page(Player):
    """A browser, by itself or with hls.js."""

    def __init__(self, binary, player, wheel=None):
        self.binary, self.player = binary, player
        self.site = Site({"/hls.js": hls_script(wheel)} if wheel else {})
        self.skips = ("/live.ts", "recording.mp4") if player == "hls.js" else ("/live.ts",)

    def play(self, chain):
        url = chain.url
        if not url.startswith("http"):
            self.site.files["/recording.mp4"] = pathlib.Path(url).read_bytes()
            url = f"{self.site.url}/recording.mp4"
        report = self.site.play(self.binary, self.player, url, chain.seconds + 4)
        frames = numbers(report.get("frames", []))
        return Outcome(report.get("version") or "", 0 if frames else 1, frames, report.get("decoded"), report.get("played"),
                       len(report.get("stalls", [])), is_realtime=True, may_misread=True, said=report.get("errors", []))


def players(environment, ffmpeg, wheel):
    """All players by name. `environment`: the virtual environment's programs; `ffmpeg`: the binary of imageio-ffmpeg."""
    python = environment / "python"
    return {
        "ffmpeg-av": Viewer("av", python),
        "ffmpeg-imageio": FFmpeg(str(ffmpeg)),
        "ffmpeg-debian": FFmpeg("ffmpeg"),
        "mpv": MPV(),
        "vlc": Viewer("vlc", python, "cvlc"),
        "gstreamer": Viewer("gstreamer", "/usr/bin/python3", "gst-launch-1.0"),
        "chromium": Page("chromium", "itself"),
        "hls.js-chromium": Page("chromium", "hls.js", wheel),
        "hls.js-firefox": Page("firefox-esr", "hls.js", wheel),
        "streamlink": Copier(environment / "streamlink", ["--output", "{file}", "--force", "{url}", "best"], "httpstream://",
                             skips=("recording.mp4",)),
        "yt-dlp": Copier(environment / "yt-dlp", ["--hls-use-mpegts", "--no-part", "-o", "{file}", "{url}"],
                         skips=("/live.ts", "recording.mp4")),  # it retries an endless file for ever
    }
