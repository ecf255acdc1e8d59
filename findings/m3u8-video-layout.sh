#!/usr/bin/env bash
# Python's m3u8 writes REQ-VIDEO-LAYOUT under another name and in double quotes, and loses three other attributes.
#
# Guess: of the newer attributes of EXT-X-STREAM-INF only SUPPLEMENTAL-CODECS is lost between loads() and dumps().
# Seen: m3u8 6.0.0 and its successor openm3u8 8.0.0 make REQ-VIDEO_LAYOUT=""CH-STEREO"" of REQ-VIDEO-LAYOUT="CH-STEREO":
#   an underscore in the name, and quotes around the quotes, so that the line is no attribute list. SUPPLEMENTAL-CODECS,
#   SCORE and ALLOWED-CPC are absent in what is written.
# Matters: relays and proxies rewrite master playlists with this package. A client that does not require the layout takes a
#   stereoscopic variant for an ordinary one, or refuses the playlist.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq m3u8==6.0.0 openm3u8==8.0.0
"$scratch/venv/bin/python" - <<'END'
import sys

import m3u8
import openm3u8

text = """#EXTM3U
#EXT-X-VERSION:12
#EXT-X-STREAM-INF:BANDWIDTH=9000000,SCORE=2.5,CODECS="hvc1.2.4.L123.B0",SUPPLEMENTAL-CODECS="dvh1.08.06/db1p",\
RESOLUTION=1920x1080,ALLOWED-CPC="com.example:SMART",VIDEO-RANGE=PQ,REQ-VIDEO-LAYOUT="CH-STEREO",PATHWAY-ID="A"
video.m3u8
"""
for package in m3u8, openm3u8:
    line = next(line for line in package.loads(text).dumps().splitlines() if line.startswith("#EXT-X-STREAM-INF"))
    print(f"{package.__name__}: {line}")
    lost = [name for name in ("SCORE", "SUPPLEMENTAL-CODECS", "ALLOWED-CPC", "PATHWAY-ID") if f"{name}=" not in line]
    if 'REQ-VIDEO_LAYOUT=""CH-STEREO""' not in line or lost != ["SCORE", "SUPPLEMENTAL-CODECS", "ALLOWED-CPC"]:
        sys.exit("changed")
END
