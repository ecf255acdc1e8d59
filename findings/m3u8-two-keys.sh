#!/usr/bin/env bash
# Of two keys before a segment, Python's m3u8 keeps the last one.
#
# Guess: several EXT-X-KEY of different KEYFORMAT hold for one segment (RFC 8216, 4.3.2.4), so loads() and dumps() keep all.
# Seen: m3u8 6.0.0 and its successor openm3u8 8.0.0 have one key for a segment. The others are in the playlist's keys, and
#   gone from dumps(). If the identity key comes first, what is written offers only the key of the DRM after it.
# Matters: a channel lists a key for each key system that can play it. What a tool on this package writes is playable by one
#   of them, and the order of two lines decides by which.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq m3u8==6.0.0 openm3u8==8.0.0
"$scratch/venv/bin/python" - <<'END'
import sys

import m3u8
import openm3u8

keys = ['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="key.bin"',
        '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"']
for package in m3u8, openm3u8:
    for order in keys, keys[::-1]:
        lines = ["#EXTM3U", "#EXT-X-VERSION:5", "#EXT-X-TARGETDURATION:6", *order, "#EXTINF:6,", "1.ts", ""]
        playlist = package.loads("\n".join(lines))
        written = [line for line in playlist.dumps().splitlines() if line.startswith("#EXT-X-KEY")]
        print(f"{package.__name__}: 2 keys become {len(written)}: {written[0]}")
        if written != order[1:] or playlist.segments[0].key.uri not in order[1]:
            sys.exit("changed")
END
