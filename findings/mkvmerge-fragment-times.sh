#!/usr/bin/env bash
# mkvmerge ignores the times of fragments: a gap is closed, and audio that begins late is early.
#
# Guess: mkvmerge reads the baseMediaDecodeTime of fragmented MP4, so that times are those of the source.
# Seen: mkvmerge 74.0.0 (Debian 12) adds up sample durations from the beginning. If the third of four segments of 2 s is
#   missing, the fourth is at 4 s instead of 6 s. If the audio of all fragments begins 1 s after the video, both begin
#   together in the result. Nothing is reported.
# Matters: an archive of live segments has gaps, and periods in which audio begins late. Remuxed by mkvmerge, it is out of
#   sync, and shorter than it lasted. ffmpeg reads the same files right.
set -euo pipefail
command -v mkvmerge >/dev/null || { echo "needs mkvmerge (Debian: mkvtoolnix)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq av==18.1.0 imageio-ffmpeg==0.8.1
cd "$scratch"
mkvmerge --version
venv/bin/python - <<'END'
import pathlib
import re
import subprocess
import sys

import av
import imageio_ffmpeg


def late(data):
    """The segment with the baseMediaDecodeTime of track 2, at 48 kHz, 1 s later."""
    result = bytearray(data)
    for header, time in zip(re.finditer(b"tfhd", data), re.finditer(b"tfdt\1", data)):
        if data[header.start() + 11] == 2:
            field = slice(time.start() + 8, time.start() + 16)
            result[field] = (int.from_bytes(result[field], "big") + 48_000).to_bytes(8, "big")
    return bytes(result)


def begins(file):
    """The seconds at which the video, the audio and the last group of pictures begin."""
    with av.open(file) as source:
        packets = [(packet.stream.type, float(packet.pts * packet.time_base), packet.is_keyframe)
                   for packet in source.demux() if packet.pts is not None]
    first = {kind: min(time for other, time, _ in packets if other == kind) for kind in ("video", "audio")}
    last = max(time for kind, time, is_key in packets if kind == "video" and is_key)
    return [round(first["video"]), round(first["audio"]), round(last)]


subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-f", "lavfi",
                "-i", "sine=r=48000", "-t", "8", "-c:v", "libx264", "-bf", "0", "-g", "50", "-sc_threshold", "0", "-c:a",
                "aac", "-f", "hls", "-hls_segment_type", "fmp4", "-hls_list_size", "0", "live.m3u8"], check=True)
init, *segments = [pathlib.Path(name).read_bytes() for name in ("init.mp4", *(f"live{n}.m4s" for n in range(4)))]
pathlib.Path("gap.mp4").write_bytes(init + segments[0] + segments[1] + segments[3])
pathlib.Path("late.mp4").write_bytes(init + b"".join(map(late, segments)))
seen = []
for name in "gap", "late":
    subprocess.run(["mkvmerge", "--quiet", "--output", f"{name}.mkv", f"{name}.mp4"], check=True)
    for file in f"{name}.mp4", f"{name}.mkv":
        seen.append(begins(file))
        print("{}: video begins at {} s, audio at {} s, the last group of pictures at {} s".format(file, *seen[-1]))
if seen != [[0, 0, 6], [0, 0, 4], [0, 1, 6], [0, 0, 6]]:
    sys.exit("changed")
END
