#!/usr/bin/env bash
# A transport stream that ffmpeg copies has cues that no tool recognizes.
#
# Guess: ffmpeg reads stream type 0x86 as scte_35, so -map 0 -c copy into a transport stream writes 0x86 again.
# Seen: ffmpeg 9.0.2 writes the sections as PES packets of stream type 0x06, without a descriptor. threefive 3.1.5 finds one
#   cue in the source and none in the copy. The exit status is 0. Frames are moved by 1.4 s, and the time in the section
#   is not. Debian's ffmpeg 5.1.9 does the same.
# Matters: a "lossless" hop through ffmpeg removes the ad markers of a channel, and -map 0 looks as if it kept them.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq threefive==3.1.5 imageio-ffmpeg==0.8.1
cd "$scratch"
venv/bin/python - <<'END'
import subprocess
import sys

import imageio_ffmpeg
import threefive


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 1 << 31 else 0)) & 0xFFFFFFFF
    return data + value.to_bytes(4, "big")


def ffmpeg(*words):
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *words], check=True)


def tables(data):
    """The packets of the PMT, each with its first byte and its section without the CRC."""
    for at in range(0, len(data), 188):
        unit = data[at:at + 188]
        if unit[1:3] == b"\x50\0":
            yield at, unit[5:8 + ((unit[6] & 15) << 8 | unit[7]) - 4]


def cues(file):
    found = []
    threefive.Stream(file).decode(func=lambda cue: found.append(cue.command.pts_time))
    return found


ffmpeg("-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-t", "4", "-c:v", "mpeg2video", "-muxdelay", "0", "plain.ts")
plain, result, end, count = open("plain.ts", "rb").read(), b"", 0, 0
time = (0xFE << 32 | 180_000).to_bytes(5, "big")
insert = bytes([0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, 15, 5, 0, 0, 0, 1, 0x7F, 0xCF]) + time + bytes([0, 1, 0, 0, 0, 0])
cue = crc(bytes([0xFC, 0x30, len(insert) + 4]) + insert)
for at, table in tables(plain):
    result, end, count = result + plain[end:at], at + 188, count + 1
    table = table[:10] + b"\xf0\6\5\4CUEI" + table[12:] + b"\x86\xe1\xf0\xf0\0"
    table = crc(table[:1] + (0xB000 | len(table) + 1).to_bytes(2, "big") + table[3:])
    result += (plain[at:at + 4] + b"\0" + table).ljust(188, b"\xff")
    if count == 5:
        result += (b"\x47\x41\xf0\x10\0" + cue).ljust(188, b"\xff")
open("source.ts", "wb").write(result + plain[end:])

ffmpeg("-i", "source.ts", "-map", "0", "-c", "copy", "copy.ts")
copy = open("copy.ts", "rb").read()
table = next(tables(copy))[1]
print(f"cues of the source: {cues('source.ts')}, of the copy: {cues('copy.ts')}")
print(f"last entry of the copy's PMT: {table[-5:].hex()}; the section in the copy is unchanged: {cue in copy}")
if cues("source.ts") != [2.0] or cues("copy.ts") or table[-5] != 6 or table[-2:] != b"\xf0\0" or cue not in copy:
    sys.exit("changed")
END
