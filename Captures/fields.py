"""Pairs of field pictures, which x264 does not code: just enough H.264 (ISO/IEC 14496-10) for the number row.

The first field of each group is an IDR picture, or an I picture at a recovery point; the other fields are P pictures. A cell that changed is sent as it is
(I_PCM), everything else is skipped; grey runs down from the cells, as intra prediction without a residual leaves it.
"""

import programmes
from transport import TICKS, Frame

WIDTH, HEIGHT = 18, 5  # of a field, in macroblocks: 288 × 160 pixels a frame
CELLS = 16
BLACK, WHITE, GREY = 16, 235, 128


class Bits:
    def __init__(self):
        self.text = []

    def u(self, width, value):
        self.text.append(f"{value:0{width}b}")
        return self

    def ue(self, *values):
        for value in values:
            digits = f"{value + 1:b}"
            self.text.append("0" * (len(digits) - 1) + digits)
        return self

    def align(self, bit="0"):
        self.text.append(bit * (-sum(map(len, self.text)) % 8))
        return self

    def bytes(self, data):
        self.text.append("".join(f"{byte:08b}" for byte in data))
        return self

    def unit(self, header):
        """As a NAL unit behind a start code."""
        bits = "".join(self.text) + "1"
        bits += "0" * (-len(bits) % 8)
        payload = bytearray()
        for byte in int(bits, 2).to_bytes(len(bits) // 8, "big"):
            if byte <= 3 and payload[-2:] == b"\0\0":
                payload.append(3)
            payload.append(byte)
        return b"\0\0\0\1" + bytes([header]) + bytes(payload)


def parameter_sets():
    sps = Bits().u(8, 77).u(8, 0).u(8, 21)  # Main profile, level 2.1: the lowest with fields
    sps.ue(0, 0, 0, 4)  # id, 4 bits of frame_num, picture order count type 0 in 8 bits
    sps.ue(1).u(1, 0).ue(WIDTH - 1, HEIGHT - 1)  # one reference frame, no gaps
    sps.u(1, 0).u(1, 0).u(1, 1).u(1, 0).u(1, 0)  # fields, not adaptive; direct 8×8; no cropping, no VUI
    pps = Bits().ue(0, 0).u(1, 0).u(1, 0).ue(0, 0, 0)  # CAVLC, one slice group, one reference
    pps.u(1, 0).u(2, 0).ue(0, 0, 0).u(1, 1).u(1, 0).u(1, 0)  # deblocking is controlled: it is switched off
    return sps.unit(0x67) + pps.unit(0x68)


RECOVERY_POINT = b"\0\0\0\1\x06\x06\x01\xc0\x80"  # recovery_frame_cnt 0, exact


def slice_header(kind, frame, group, bottom):
    """`kind`: "IDR", "I" or "P"."""
    bits = Bits().ue(0, 5 if kind == "P" else 7, 0).u(4, frame % 16).u(1, 1).u(1, bottom)
    if kind == "IDR":
        bits.ue(group % 2)
    bits.u(8, (2 * frame + bottom) % 256)
    if kind == "IDR":
        bits.u(2, 0)
    elif kind == "I":
        bits.u(1, 0)
    else:
        bits.u(1, 0).u(1, 0).u(1, 0)
    return bits.ue(0, 1)


def cell(is_lit):
    """One macroblock of a field: the lower half belongs to the frame's row of cells."""
    return bytes([BLACK] * 128 + [WHITE if is_lit else BLACK] * 128 + [GREY] * 128)


def intra_field(lit, group, frame=None):
    """All of the first row as it is, all below predicted. `frame`: its number if it is no IDR picture."""
    is_idr = frame is None
    bits = slice_header("IDR" if is_idr else "I", frame or 0, group, 0)
    for column in range(WIDTH):
        bits.ue(25).align().bytes(cell(0 < column <= CELLS and lit[column - 1]))
    for row in range(1, HEIGHT):
        for column in range(WIDTH):
            bits.ue(3, 0, 0)  # Intra_16x16, DC, no residual; chroma DC; the same quantizer
            # coeff_token of no coefficients: its table follows from the neighbours, of which only I_PCM counts as full.
            bits.u(6, 3) if row == 1 else bits.u(1, 1)
    return bits.unit(0x65 if is_idr else 0x41)


def predicted_field(changed, lit, frame, group, bottom):
    bits, skipped = slice_header("P", frame, group, bottom), 1
    for column in range(CELLS):
        if changed[column]:
            bits.ue(skipped, 30).align().bytes(cell(lit[column]))
            skipped = 0
        else:
            skipped += 1
    return bits.ue(skipped + WIDTH * HEIGHT - CELLS - 1).unit(0x41)


def access_unit(count, per_group, programme_number, is_open=False):
    """Both fields of frame `count`: what it shows, and what the frame before it showed.

    `is_open`: a group begins at a recovery point instead of an IDR picture, and frames are counted on.
    """
    lit, before = (row(programme_number, shown) for shown in (count, count - 1))
    frame, group = count % per_group, count // per_group
    delimiter = b"\0\0\0\1\x09\xF0"
    same = [False] * CELLS
    if frame == 0 and is_open:
        fields = intra_field(lit, group, count) + predicted_field(same, lit, count, group, 1)
        return delimiter + parameter_sets() + RECOVERY_POINT + fields
    if frame == 0:
        return delimiter + parameter_sets() + intra_field(lit, group) + predicted_field(same, lit, 0, group, 1)
    changed = [now != then for now, then in zip(lit, before)]
    frame = count if is_open else frame
    return delimiter + b"".join(predicted_field(changed, lit, frame, group, bottom) for bottom in (0, 1))


def row(programme_number, count):
    return [bit == "1" for bit in f"{programme_number:04b}{count % 4096:012b}"]


def footage(programme, is_open=False):
    """The programme with field pictures and the sound of any other."""
    made = programmes.Footage(programme, "a")
    each = round(TICKS / programmes.Fraction(programme.rate))
    for count in range(programme.frame_count):
        payload = access_unit(count, programme.pictures_per_group, programme.number, is_open)
        made.video.append(Frame("v", count * each, count * each, count % programme.pictures_per_group == 0, payload))
    return made
