#!/usr/bin/env bash
# x9k3 keeps canceled breaks, loses a break that follows another at once, and ends at one without a duration.
#
# Guess: a segmenter for SCTE-35 handles a splice_insert that is canceled, two breaks without program between them, and a
#   break whose end comes as a command of its own.
# Seen: x9k3 1.0.39 lists EXT-X-CUE-OUT for a break that was canceled before it began. Of breaks at 2 and 6 s, of 4 s
#   each, it lists the first, and EXT-X-CUE-IN at 6 s. At a break without a break_duration it raises TypeError after the
#   first segments: None is compared with a number.
# Matters: encoders of live events send breaks without a duration, because nobody knows it yet, and cancel. Pods are often
#   signaled as a break for each ad.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq x9k3==1.0.39 threefive3==3.0.45 imageio-ffmpeg==0.8.1
cd "$scratch"
venv/bin/python - <<'END'
import pathlib
import re
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


def cue(event, seconds=None, duration=None, is_out=True):
    body = event.to_bytes(4, "big") + b"\xff"  # cancels the event
    if seconds is not None:
        flags = 0x4F | (0x80 if is_out else 0) | (0 if duration is None else 0x20)
        clock = [(0xFE << 32 | 90_000 * time).to_bytes(5, "big") for time in (seconds, duration) if time is not None]
        body = body[:4] + bytes([0x7F, flags]) + b"".join(clock) + bytes([0, 1, 0, 0])
    body = bytes([0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, len(body), 5]) + body + b"\0\0"
    return crc(bytes([0xFC, 0x30, len(body) + 4]) + body)


subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", "testsrc=s=160x90:r=25", "-t", "12",
                "-c:v", "libx264", "-g", "50", "-sc_threshold", "0", "-bf", "0", "-muxdelay", "0", "plain.ts"], check=True)
plain = pathlib.Path("plain.ts").read_bytes()


def segment(name, cues):
    """What x9k3 lists for `cues`, which are sent with the tables of a number."""
    result, number, counter = b"", 0, 0
    for at in range(0, len(plain), 188):
        unit = plain[at:at + 188]
        if unit[1:3] == b"\x50\0":  # PMT
            table = unit[5:8 + ((unit[6] & 15) << 8 | unit[7]) - 4]
            table = table[:10] + b"\xf0\6\5\4CUEI" + table[12:] + b"\x86\xe1\xf0\xf0\0"
            table = crc(table[:1] + (0xB000 | len(table) + 1).to_bytes(2, "big") + table[3:])
            unit = (unit[:4] + b"\0" + table).ljust(188, b"\xff")
            number += 1
            for section in (section for when, section in cues if when == number):
                unit += (bytes([0x47, 0x41, 0xF0, 0x10 | counter, 0]) + section).ljust(188, b"\xff")
                counter += 1
        result += unit
    pathlib.Path(name).mkdir()
    pathlib.Path(name, "in.ts").write_bytes(result)
    run = subprocess.run(["../venv/bin/x9k3", "-N", "-i", "in.ts", "-o", "."], cwd=name, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    lines = re.findall(r"^#EXT-X-(CUE-OUT:.*|CUE-IN)|^(seg\d+)", pathlib.Path(name, "index.m3u8").read_text(), re.M)
    print(f"{name}: status {run.returncode}: {' '.join(tag or file for tag, file in lines)}")
    return lines, run


canceled, _ = segment("canceled", [(5, cue(1, 6, 4)), (30, cue(1))])
adjacent, _ = segment("adjacent", [(5, cue(1, 2, 4)), (40, cue(2, 6, 4))])
_, endless = segment("endless", [(5, cue(1, 4)), (60, cue(1, 8, is_out=False))])
print(endless.stdout.splitlines()[-1])
if [str(lines).count("OUT") for lines in (canceled, adjacent)] != [1, 1] or "TypeError" not in endless.stdout:
    sys.exit("changed")
END
