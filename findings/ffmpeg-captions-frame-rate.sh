#!/usr/bin/env bash
# A change of the frame rate makes CEA-608 captions unreadable, and newer versions of ffmpeg do it more often.
#
# Guess: the fps filter knows that captions are a stream of byte pairs with a rate of their own, at least in new versions.
# Seen: with ffmpeg 9.0.2, -vf fps=50 on 25 frames a second writes the pair of each frame twice: "HELLO THERE" becomes
#   "HEHELLLLO O THTHERERE". fps=12.5 drops every other pair: "LLTHE". Debian's ffmpeg 5.1.9 writes captions of duplicated
#   frames once, so that 50 frames a second are right there, and 12.5 are not.
# Matters: a transcoding step between two frame rates, as for ads of another rate, ruins captions without an error. They are
#   still in the stream, so a check for their presence passes.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq imageio-ffmpeg==0.8.1
cd "$scratch"
venv/bin/python - <<'END'
import re
import subprocess
import sys

import imageio_ffmpeg

FRAMES = 150


def ffmpeg(*words, **options):
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def pair(*values):
    return bytes(value | (0 if value.bit_count() & 1 else 0x80) for value in values)


def message(cc):
    """An SEI message with one pair of field 1 (ATSC A/53)."""
    body = b"\xb5\0\x31GA94\x03\x41\xff\xfc" + cc + b"\xff"
    return b"\0\0\1\6\4" + bytes([len(body)]) + body + b"\x80"


# A pop-on caption: loaded from frame 25 on, removed at frame 100.
load, row, show, erase = pair(0x14, 0x20), pair(0x14, 0x70), pair(0x14, 0x2F), pair(0x14, 0x2C)
text = [pair(*b"HELLO THERE "[at:at + 2]) for at in range(0, 12, 2)]
pairs = [pair(0, 0)] * FRAMES
for at, values in (25, [load, load, row, row, *text, show, show]), (100, [erase, erase]):
    pairs[at:at + len(values)] = values
raw = ffmpeg("-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-frames:v", str(FRAMES), "-pix_fmt", "yuv420p", "-c:v",
             "libx264", "-bf", "0", "-x264-params", "aud=1", "-f", "h264", "-")
units = re.split(rb"(?=\x00\x00\x00\x01\x09)", raw)[1:]
assert len(units) == FRAMES
slices = [re.search(rb"\x00\x00\x01[\x65\x41\x01\x61]", unit).start() for unit in units]
stream = b"".join(unit[:at] + message(cc) + unit[at:] for unit, at, cc in zip(units, slices, pairs))
ffmpeg("-r", "25", "-f", "h264", "-i", "-", "-c", "copy", "25.ts", input=stream)

seen = {}
for rate in "25", "50", "12.5":
    ffmpeg("-i", "25.ts", "-vf", f"fps={rate}", "-c:v", "libx264", "-preset", "ultrafast", "out.ts")
    lines = ffmpeg("-f", "lavfi", "-i", "movie=out.ts[out+subcc]", "-map", "0:s", "-f", "srt", "-").decode()
    seen[rate] = re.findall(r"\\an7}(.*?) ?</font>", lines)
    print(f"fps={rate}: {seen[rate]}")
if seen["25"] != ["HELLO THERE"] or not seen["50"][0].startswith("HEHELLLL") or "HELLO" in seen["12.5"][0]:
    sys.exit("changed")
END
