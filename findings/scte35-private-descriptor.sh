#!/usr/bin/env bash
# A private descriptor of a cue becomes one of DVB when the cue is encoded again.
#
# Guess: a splice_descriptor with tag 0xF0 and the identifier of some organization is private data, so it
#   survives decoding and encoding byte by byte.
# Seen: threefive3 3.0.45, threefive 3.1.5 and scte35 0.0.17 take every descriptor with tag 0xF0 for DVB's DAS descriptor,
#   whatever its identifier says. They write the identifier "DVB_" in place of "ABCD", and change the data after it.
# Matters: tags are private to an identifier. A relay that writes cues with these packages replaces a vendor's data by a
#   valid-looking DVB descriptor, which the next device may obey.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq threefive3==3.0.45 threefive==3.1.5 scte35==0.0.17
"$scratch/venv/bin/python" - <<'END'
import base64
import sys

import scte35
import threefive
import threefive3


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 1 << 31 else 0)) & 0xFFFFFFFF
    return data + value.to_bytes(4, "big")


descriptor = bytes([0xF0, 8]) + b"ABCD" + bytes([1, 2, 3, 4])
command = bytes([5, 6]) + (0xFE << 32 | 9_000_000).to_bytes(5, "big")  # a time_signal at 100 s
body = bytes([0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0]) + command + len(descriptor).to_bytes(2, "big") + descriptor
section = crc(bytes([0xFC, 0x30, len(body) + 4]) + body)

for package in threefive3, threefive, scte35:
    cue = package.Cue(section)
    cue.decode()
    again = base64.b64decode(cue.encode())[-14:-4]
    print(f"{package.__name__}: {descriptor} becomes {again}")
    if again[2:6] != b"DVB_" or again[6:] == descriptor[6:]:
        sys.exit("changed")
END
