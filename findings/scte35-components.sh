#!/usr/bin/env bash
# A splice command for components loses its times in the Python tools.
#
# Guess: a splice_insert that names components, each with a time of its own, is decoded like any other.
# Seen: threefive3 3.0.45, threefive 3.1.5 and scte35 0.0.17 do not read the list of components. Decoding succeeds, and
#   every later field is read from the wrong place: a break of 3 s lasts 371 s, and there is no time at all. Encoding it
#   again writes a section that is 13 bytes shorter and has a valid CRC. A segmentation_descriptor for components loses
#   its type in the same way.
# Matters: a relay that decodes and encodes cues with these packages announces a break of another length.
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


def section(kind, command, descriptors=b""):
    body = bytes([0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, len(command), kind]) + command
    body += len(descriptors).to_bytes(2, "big") + descriptors
    return crc(bytes([0xFC, 0x30, len(body) + 4]) + body)


def clock(ticks):
    return (0xFE << 32 | ticks).to_bytes(5, "big")


# Two components at 100.00 s and 100.04 s, a break of 3 s, unique_program_id 1.
times = bytes([2, 1]) + clock(9_000_000) + bytes([2]) + clock(9_003_600)
insert = section(5, bytes([0, 0, 0, 1, 0x7F, 0xAF]) + times + clock(270_000) + bytes([0, 1, 0, 0]))
# A provider placement opportunity (0x34) that begins at another time in each of two components.
offsets = bytes([2, 1]) + clock(100) + bytes([2]) + clock(200)
body = b"CUEI" + bytes([0, 0, 0, 7, 0x7F, 0x3F]) + offsets + bytes([0, 0, 0x34, 0, 0])
signal = section(6, clock(9_000_000), bytes([2, len(body)]) + body)

for package in threefive3, threefive, scte35:
    cue = package.Cue(insert)
    decoded = cue.decode()
    command = cue.command
    again = base64.b64decode(cue.encode())
    other = package.Cue(signal)
    other.decode()
    kind = getattr(other.descriptors[0], "segmentation_type_id", None)
    print(f"{package.__name__}: decode {decoded}, break {command.break_duration} s, pts_time {command.pts_time}, program "
          f"{command.unique_program_id}, {len(insert)} bytes become {len(again)}, segmentation type {kind}")
    seen = (decoded, round(command.break_duration), command.pts_time, len(insert) - len(again), kind == 0x34)
    if seen != (True, 371, None, 13, False):
        sys.exit("changed")
END
