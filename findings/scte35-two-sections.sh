#!/usr/bin/env bash
# Of two cues in one packet, libavformat delivers the second alone, and threefive the first alone.
#
# Guess: sections may follow one another in the payload of a packet (ISO 13818-1, 2.4.4), so both cues are delivered.
# Seen: libavformat 62.12 (PyAV 18.1.0) overwrites the first section by the second: the demuxer has room for one packet.
#   threefive3 3.0.45 and threefive 3.1.5 stop after the first section.
# Matters: encoders that send a break and its segmentation at once pack them together. Every tool that is built on
#   libavformat misses one of the two, and says nothing.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq threefive3==3.0.45 threefive==3.1.5 av==18.1.0
"$scratch/venv/bin/python" - "$scratch/cues.ts" <<'END'
import sys

import av
import threefive
import threefive3


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 1 << 31 else 0)) & 0xFFFFFFFF
    return data + value.to_bytes(4, "big")


def packet(pid, counter, payload):
    return bytes([0x47, 0x40 | pid >> 8, pid & 255, 0x10 | counter & 15]) + payload.ljust(184, b"\xff")


def table(kind, body):
    return b"\0" + crc(bytes([kind]) + (0xB000 | len(body) + 9).to_bytes(2, "big") + b"\0\1\xc1\0\0" + body)


def cue(kind, command):
    body = bytes([0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, len(command), kind]) + command + b"\0\0"
    return crc(bytes([0xFC, 0x30, len(body) + 4]) + body)


def frame(number):
    pts = 8_820_000 + 3600 * number
    stamp = bytes([0x21 | pts >> 29 & 14, pts >> 22 & 255, 1 | pts >> 14 & 254, pts >> 7 & 255, 1 | pts << 1 & 254])
    return packet(0x100, number, b"\0\0\1\xe0\0\0\x84\x80\5" + stamp + b"\0\0\1\x09\xf0")


time = (0xFE << 32 | 9_000_000).to_bytes(5, "big")
insert = cue(5, bytes([0, 0, 0, 1, 0x7F, 0xCF]) + time + bytes([0, 1, 0, 0]))
signal = cue(6, time)
program = b"\xe1\0\xf0\6\5\4CUEI" + b"\x1b\xe1\0\xf0\0" + b"\x86\xe1\xf0\xf0\0"
stream = packet(0, 0, table(0, b"\0\1\xf0\0")) + packet(0x1000, 0, table(2, program)) + frame(0)
stream += packet(0x1F0, 0, b"\0" + insert + signal) + b"".join(frame(number) for number in range(1, 30))
open(sys.argv[1], "wb").write(stream)

with av.open(sys.argv[1]) as source:
    found = [bytes(unit) for unit in source.demux() if unit.stream.type == "data" and unit.size]
print("libavformat:", [["neither", "splice_insert", "time_signal"][(insert, signal).index(unit) + 1] for unit in found])
if found != [signal]:
    sys.exit("changed")
for package in threefive3, threefive:
    names = []
    package.Stream(sys.argv[1]).decode(func=lambda cue: names.append(cue.command.name))
    print(f"{package.__name__}: {names}")
    if names != ["Splice Insert"]:
        sys.exit("changed")
END
