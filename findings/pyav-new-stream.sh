#!/usr/bin/env bash
# PyAV cannot read on when a live transport stream gets a new PID.
#
# Guess: a stream that appears after the input was opened is added to the container's streams, and its packets come.
# Seen: PyAV 18.1.0 raises IndexError at the first packet of the new PID, also from demux(video=0) and decode(video=0),
#   which ask for the stream that was there before. Nothing after it can be read. A file has no such end: libavformat
#   looks at its last packets while it opens it, and knows the PID in advance.
# Matters: spliced ads often come on PIDs of their own. A recorder or monitor on PyAV ends at the first such ad of a pipe or
#   an HTTP stream, and a test with a recording passes.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq av==18.1.0 imageio-ffmpeg==0.8.1
cd "$scratch"
venv/bin/python - <<'END'
import subprocess
import sys

import av
import imageio_ffmpeg

# Program and ad: the same PID of the PMT, another version of it, other PIDs.
joined = b""
for version, first, offset in ("0", "0x100", "0"), ("1", "0x200", "12"):
    source = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25,noise=alls=40:allf=t", "-t", "12"]
    encoder = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-bf", "0", "-b:v", "6M"]
    muxer = ["-output_ts_offset", offset, "-tables_version", version, "-mpegts_start_pid", first, "-f", "mpegts", "-"]
    joined += subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *source, *encoder, *muxer], check=True,
                             stdout=subprocess.PIPE).stdout
open("joined.ts", "wb").write(joined)


class Pipe:
    """An input that cannot seek."""

    def __init__(self):
        self.file = open("joined.ts", "rb")
        self.read = self.file.read


seen = []
for name, read in {"demux()": lambda source: source.demux(), "demux(video=0)": lambda source: source.demux(video=0),
                   "decode(video=0)": lambda source: source.decode(video=0)}.items():
    for kind, opened in ("pipe", Pipe), ("file", lambda: "joined.ts"):
        with av.open(opened()) as source:
            count, end = 0, "the end"
            try:
                for _ in read(source):
                    count += 1
            except IndexError as error:
                end = repr(error)
            print(f"{kind}, {name}: {count}, then {end}; {len(source.streams)} streams")
            seen.append((kind == "pipe", "IndexError" in end, len(source.streams)))
if seen != [(True, True, 1), (False, False, 2)] * 3:
    sys.exit(f"changed: {seen}")
END
