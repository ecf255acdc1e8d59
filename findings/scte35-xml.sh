#!/usr/bin/env bash
# A cue that is written as XML and read again has lost its time.
#
# Guess: the XML form of a cue, which DASH manifests carry, holds the same as the binary one. A package that writes it
#   reads it too.
# Seen: threefive3 3.0.45 writes ptsTime and segmentationDuration. Reading its own XML, it leaves a splice_insert without
#   its time, and a segmentation without its duration, and reports nothing. The XML that threefive 3.1.5 writes is not
#   well-formed: no space follows the name of the first element.
# Matters: a relay from DASH to HLS or to a transport stream that converts cues with them publishes breaks without a
#   beginning or a length, or XML that a player refuses.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq threefive3==3.0.45 threefive==3.1.5
"$scratch/venv/bin/python" - <<'END'
import sys
import xml.etree.ElementTree

import threefive
import threefive3


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 1 << 31 else 0)) & 0xFFFFFFFF
    return data + value.to_bytes(4, "big")


def section(kind, command, descriptors=b""):
    body = bytes([0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, len(command), kind]) + command
    body += len(descriptors).to_bytes(2, "big") + descriptors
    return crc(bytes([0xFC, 0x30, len(body) + 4]) + body)


def clock(ticks):
    return (0xFE << 32 | ticks).to_bytes(5, "big")


insert = section(5, bytes([0, 0, 0, 1, 0x7F, 0xEF]) + clock(9_000_000) + clock(270_000) + bytes([0, 1, 0, 0]))
body = b"CUEI" + bytes([0, 0, 0, 7, 0x7F, 0xFF]) + (270_000).to_bytes(5, "big") + bytes([0, 0, 0x34, 0, 0])
signal = section(6, clock(9_000_000), bytes([2, len(body)]) + body)

seen = []
for data in insert, signal:
    cue = threefive3.Cue(data)
    cue.decode()
    text = str(cue.xml())
    assert 'ptsTime="9000000"' in text and 'uration="270000"' in text, text
    again = threefive3.Cue(text)
    again.decode()
    seen.append((getattr(again.command, "pts_time", None), *(part.segmentation_duration for part in again.descriptors)))
print(f"threefive3: time of the splice_insert {seen[0][0]}; time and duration of the segmentation {seen[1]}")
if seen != [(None,), (100.0, None)]:
    sys.exit("changed")
cue = threefive.Cue(insert)
cue.decode()
text = str(cue.xml())
try:
    xml.etree.ElementTree.fromstring(text)
    sys.exit("changed: threefive writes well-formed XML")
except xml.etree.ElementTree.ParseError as error:
    print(f"threefive: {error}: {text[:45]}")
END
