#!/usr/bin/env bash
# ffmpeg keeps closed captions when it encodes H.264, and drops them when it encodes HEVC.
#
# Guess: libx265 takes the captions of the decoded frames as libx264 does, now that it can write them.
# Seen: ffmpeg 9.0.2 has the option -a53cc for both. It is on by default for libx264, and off for libx265. So the same
#   command keeps 100 of 100 captions with -c:v libx264 and mpeg2video, and 0 with libx265. -a53cc 1 keeps them.
# Matters: who adds an HEVC rung to a ladder from one source has captions in some variants and none in others, although the
#   master playlist declares them for all.
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

FRAMES = 100


def ffmpeg(*words, **options):
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options).stdout


raw = ffmpeg("-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-frames:v", str(FRAMES), "-pix_fmt", "yuv420p", "-c:v",
             "libx264", "-bf", "0", "-x264-params", "aud=1", "-f", "h264", "-")
units = re.split(rb"(?=\x00\x00\x00\x01\x09)", raw)[1:]
body = b"\xb5\0\x31GA94\x03\x41\xff\xfc\x94\x2c\xff"  # a pair of field 1: erase displayed memory (ATSC A/53)
message = b"\0\0\1\6\4" + bytes([len(body)]) + body + b"\x80"
slices = [re.search(rb"\x00\x00\x01[\x65\x41\x01\x61]", unit).start() for unit in units]
stream = b"".join(unit[:at] + message + unit[at:] for unit, at in zip(units, slices))
ffmpeg("-r", "25", "-f", "h264", "-i", "-", "-c", "copy", "source.ts", input=stream)

seen = []
for form, words in ("h264", "libx264"), ("m2v", "mpeg2video"), ("hevc", "libx265"), ("hevc", "libx265 -a53cc 1"):
    data = ffmpeg("-i", "source.ts", "-c:v", *words.split(), "-f", "mpeg2video" if form == "m2v" else form, "-")
    seen.append(data.count(b"GA94\x03"))
    print(f"-c:v {words}: {seen[-1]} of {FRAMES} frames with captions")
if seen != [FRAMES, FRAMES, 0, FRAMES]:
    sys.exit("changed")
END
