#!/usr/bin/env bash
# ffmpeg makes an elementary stream of the guide in a transport stream.
#
# Guess: the event information table (EIT, PID 0x12) belongs to no program, so -map 0 -c copy leaves it out or refuses it.
# Seen: ffmpeg 9.0.2 takes it for a data stream "epg", and writes its sections as PES packets of stream type 0x06 on a PID of
#   the program. The copy has one stream more, and no table on PID 0x12. Debian's ffmpeg 5.1.9 does the same.
# Matters: -map 0 keeps all audio languages and subtitles of a receiver's stream. With it the program changes as soon as a
#   guide is broadcast. Players take 0x06 without a descriptor for private data, and the guide is lost.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq imageio-ffmpeg==0.8.1
cd "$scratch"
venv/bin/python - <<'END'
import subprocess
import sys

import imageio_ffmpeg


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 1 << 31 else 0)) & 0xFFFFFFFF
    return data + value.to_bytes(4, "big")


def ffmpeg(*words):
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *words], check=True)


def packets(data):
    return [data[at:at + 188] for at in range(0, len(data), 188)]


def pid(packet):
    return (packet[1] & 31) << 8 | packet[2]


ffmpeg("-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-t", "3", "-c:v", "mpeg2video", "plain.ts")
name = b"eng\x04Name\x04Text"
event = bytes([0, 1, 0xEF, 0xFF, 0x12, 0, 0, 1, 0, 0, 0x80, len(name) + 2, 0x4D, len(name)]) + name  # 18:00 UTC, an hour
body = bytes([0, 1, 0xC1, 0, 0, 0, 1, 0, 1, 0, 0x4E]) + event
table = crc(bytes([0x4E, 0xF0, len(body) + 4]) + body)
source, count = b"", 0
for packet in packets(open("plain.ts", "rb").read()):
    source += packet
    if pid(packet) == 0x1000:
        source += (bytes([0x47, 0x40, 0x12, 0x10 | count & 15, 0]) + table).ljust(188, b"\xff")
        count += 1
open("source.ts", "wb").write(source)

ffmpeg("-i", "source.ts", "-map", "0", "-c", "copy", "copy.ts")
copy = packets(open("copy.ts", "rb").read())
program = next(packet for packet in copy if pid(packet) == 0x1000)
entries = program[17:8 + program[7] - 4]
of_guide = [packet for packet in copy if pid(packet) == 0x101 and packet[1] & 0x40]
on_12 = sum(pid(packet) == 0x12 for packet in copy)
print(f"entries of the copy's PMT: {entries.hex(' ', 5)}; packets on PID 0x12: {on_12}")
print(f"PES packets on PID 0x101: {len(of_guide)}, with the section: {sum(table in packet for packet in of_guide)}")
if entries[5:] != b"\x06\xe1\x01\xf0\0" or on_12 or table not in of_guide[0]:
    sys.exit("changed")
END
