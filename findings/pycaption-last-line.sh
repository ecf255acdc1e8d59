#!/usr/bin/env bash
# pycaption shows the last roll-up caption of a file for a fraction of a second.
#
# Guess: a caption that nothing erases lasts some seconds, or to the end.
# Seen: pycaption 2.3.14 ends the last roll-up caption of an SCC file when its bytes have been sent: "SECOND ONE" lasts
#   0.37 s, and a line of 30 characters 0.70 s. A pop-on caption in its place has 4 s.
# Matters: live captions are roll-up, and a part of a live channel ends while a line stands. The last line of each part
#   flashes.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq pycaption==2.3.14
"$scratch/venv/bin/python" - <<'END'
import sys

from pycaption import SCCReader


def words(*values):
    """Bytes of CEA-608 with odd parity, in pairs."""
    data = bytes(value | (0 if value.bit_count() & 1 else 0x80) for value in values)
    return [data[at:at + 2].hex() for at in range(0, len(data), 2)]


def control(*values):
    return words(*values) * 2  # sent twice


def line(text, style):
    text = words(*text.ljust(len(text) + len(text) % 2).encode())
    row = control(0x14, 0x70)
    if style == "roll-up":
        return control(0x14, 0x25) + control(0x14, 0x2D) + row + text
    return control(0x14, 0x20) + row + text + control(0x14, 0x2F)


seen = []
for style, last in ("roll-up", "SECOND ONE"), ("roll-up", "A LINE OF THIRTY CHARACTERS   "), ("pop-on", "SECOND ONE"):
    file = "Scenarist_SCC V1.0\n"
    for time, text in ("00:00:01:00", "FIRST LINE"), ("00:00:03:00", last):
        file += f"\n{time}\t{' '.join(line(text, style))}\n"
    captions = SCCReader().read(file)
    for caption in captions.get_captions(captions.get_languages()[0]):
        seconds = (caption.end - caption.start) / 1e6
        print(f"{style}: {caption.get_text().strip()!r} lasts {seconds:.2f} s")
    seen.append(seconds)
if not (seen[0] < 0.5 and seen[1] < 1 and seen[2] > 3):
    sys.exit("changed")
END
