"""Reads the numbers of decoded frames and the pitch of the audio (Captures/README.md), and judges both.

ffmpeg decodes into files of a scratch directory: `outputs` has the options, `read_video` and `read_audio` read the files.
"""

import array
import dataclasses
import statistics
from fractions import Fraction

from programmes import TONE_BASE, TONE_SLOPE, TONE_STEP

WINDOW = Fraction(1, 20)  # of sound, to hear one pitch in
RATE = 48000  # to which all sound is decoded
HIGHEST = 3000  # Hz; a tone that has risen beyond says nothing
LOUD = 1500  # of 32767: the tone has 13000
FARTHEST = Fraction(25, 1000)  # of the sound from its picture
LONGEST_FRAME = Fraction(1536, 44100)  # of sound


@dataclasses.dataclass
class Picture:
    programme: int
    frame: int
    time: Fraction


@dataclasses.dataclass
class Sound:
    """Decoded samples from `time` on, without a hole."""

    time: Fraction
    samples: array.array


STRIP = "crop=256:16:16:16,scale=16:1:flags=area,format=gray"  # a byte for each cell of the number


def outputs(kind, scratch, *options):
    """Options of ffmpeg that decode the first stream of `kind`, v or a, into two files: its content, and its times."""
    content = ["-vf", STRIP, "-f", "rawvideo"] if kind == "v" else ["-af", f"aformat=s16:{RATE}:mono", "-f", "s16le"]
    mapped = ["-map", f"0:{kind}:0", *options, *content[:2], "-fps_mode", "passthrough"]
    return [*mapped, *content[2:], str(scratch / f"{kind}.raw"),
            *mapped, "-enc_time_base", f"1:{90_000 if kind == 'v' else RATE}", "-f", "framemd5", str(scratch / f"{kind}.md5")]


def read_video(scratch):
    rows, shown = (scratch / "v.raw").read_bytes(), times((scratch / "v.md5").read_text())
    return [Picture(*number(rows[16 * index:16 * index + 16]), time) for index, (time, _) in enumerate(shown[:len(rows) // 16])]


def number(cells):
    """(program, frame) of 16 cells of luma."""
    word = int("".join("1" if cell > 128 else "0" for cell in cells), 2)
    return word >> 12, word & 4095


def read_audio(scratch):
    samples, at, sounds = array.array("h", (scratch / "a.raw").read_bytes()), 0, []
    for time, size in times((scratch / "a.md5").read_text()):
        if not sounds or abs(sounds[-1].time + Fraction(len(sounds[-1].samples), RATE) - time) > Fraction(1, 200):
            sounds.append(Sound(time, array.array("h")))
        sounds[-1].samples += samples[at:at + size // 2]
        at += size // 2
    return sounds


def times(hashes):
    """(presentation time, bytes) of each decoded frame."""
    unit, found = Fraction(1), []
    for line in hashes.splitlines():
        if line.startswith("#tb 0:"):
            unit = Fraction(line.split(":")[1].strip())
        elif not line.startswith("#"):
            fields = line.split(",")
            found.append((int(fields[2]) * unit, int(fields[4])))
    return found


# --------------------------------------------------------------------------------------------------------------- pitch


def pitches(sound):
    """(middle of a window, Hz or None where it is silent or nothing clear)."""
    size = int(WINDOW * RATE)
    for start in range(0, len(sound.samples) - size + 1, size):
        window = sound.samples[start:start + size]
        crossings = [
            at + before / (before - after) for at, (before, after) in enumerate(zip(window, window[1:]))
            if before < 0 <= after]
        if max(window) < LOUD or len(crossings) < 4:
            yield sound.time + Fraction(start + size // 2, RATE), None
            continue
        middle = (crossings[0] + crossings[-1]) / 2
        hertz = (len(crossings) - 1) / (crossings[-1] - crossings[0]) * RATE
        yield sound.time + Fraction(start, RATE) + Fraction(middle) / RATE, hertz


def moment(hertz, programme):
    """Seconds since the programme's beginning at which its tone has this pitch."""
    return (hertz - TONE_BASE - TONE_STEP * programme) / TONE_SLOPE


# -------------------------------------------------------------------------------------------------------------- verdicts


def expected(capture):
    """Rate of each programme, and (programme, frame) of every picture, in order."""
    rates, order = {}, []
    for line in (capture / "shown.txt").read_text().splitlines():
        number, rate, first, last = line.split()
        rates[int(number)] = Fraction(rate)
        order += [(int(number), frame) for frame in range(int(first), int(last) + 1)]
    return rates, order


def spans(frames):
    """`frames`, (programme, number) each, as text; those that follow on become one."""
    parts = []
    for programme, number in frames:
        if parts and parts[-1][0] == programme and parts[-1][2] == number - 1:
            parts[-1][2] = number
        else:
            parts.append([programme, number, number])
    return ", ".join(f"{programme}:{first}-{last}" for programme, first, last in parts)


def judge_pictures(pictures, order):
    shown = [(picture.programme, picture.frame) for picture in pictures]
    places = {frame: place for place, frame in enumerate(order)}
    findings = []
    if foreign := [frame for frame in shown if frame not in places]:
        findings.append(f"foreign {spans(foreign)}")
    known = [places[frame] for frame in shown if frame in places]
    if twice := len(known) - len(set(known)):
        findings.append(f"{twice} shown twice")
    if back := [after for before, after in zip(known, known[1:]) if after < before]:
        findings.append(f"out of order at {spans(order[place] for place in back)}")
    if missing := [frame for frame in order if frame not in set(shown)]:
        findings.append(f"missing {len(missing)}: {spans(missing)}")
    return findings


def judge_times(pictures, rates):
    """Where a picture does not stay for as long as its programme's pictures do."""
    findings = []
    for before, after in zip(pictures, pictures[1:]):
        stay, due = after.time - before.time, 1 / rates.get(before.programme, Fraction(25))
        if abs(stay - due) > due / 2:
            findings.append(f"{before.programme}:{before.frame} stays {float(stay):.3f} s")
    return findings


def judge_sound(pictures, sounds, rates):
    """A line for each stretch of a programme: how far the sound is ahead of its picture, in milliseconds."""
    findings, offsets, silent = [], {}, {}
    for sound in sounds:
        for time, hertz in pitches(sound):
            picture = picture_at(pictures, time)
            if picture is None:
                continue
            stretch, picture = picture
            seen = picture.frame / rates[picture.programme] + (time - picture.time)
            if seen * TONE_SLOPE > HIGHEST:
                continue
            if hertz is None:
                silent[stretch] = silent.get(stretch, 0) + 1
                continue
            offsets.setdefault(stretch, []).append((moment(hertz, picture.programme) - float(seen)) * 1000)
    for stretch in sorted(offsets.keys() | silent.keys()):
        found, quiet = offsets.get(stretch, []), silent.get(stretch, 0) * float(WINDOW)
        number = pictures[stretch].programme
        middle = statistics.median(found) if found else 0
        strays = [offset for offset in found if abs(offset) > float(FARTHEST) * 1000]
        text = f"{number}: {middle:+.1f} ms"
        if strays:
            text += f", {len(strays)} of {len(found)} beyond 25 ms ({min(strays):+.0f}…{max(strays):+.0f})"
        if quiet:
            text += f", {quiet:.2f} s silent"
        findings.append(text)
    return findings


def picture_at(pictures, time, apart=float(WINDOW)):
    """(index of the first picture of its stretch, picture) shown at `time`; None near a stretch's ends."""
    low, high = 0, len(pictures)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if pictures[middle].time <= time else (low, middle)
    if low == 0:
        return None
    first = last = low - 1
    while first > 0 and follows(pictures[first - 1], pictures[first]):
        first -= 1
    while last + 1 < len(pictures) and follows(pictures[last], pictures[last + 1]):
        last += 1
    if time < pictures[first].time + apart or time > pictures[last].time - apart:
        return None
    return first, pictures[low - 1]


def follows(before, after):
    return before.programme == after.programme and after.frame == before.frame + 1


def judge_holes(sounds):
    """Times of sound that nothing is decoded for; less than a frame at a seam is carried by a frame's duration."""
    ends = (
        (before.time + Fraction(len(before.samples), RATE), after.time) for before, after in zip(sounds, sounds[1:]))
    return [
        f"no sound for {float(start - end) * 1000:.1f} ms at {float(end):.3f} s"
        for end, start in ends if start - end > LONGEST_FRAME]


def heard(sounds):
    """What a channel without pictures sounds like: time and pitch where it does not rise as it should."""
    steps, last = [], None
    for sound in sounds:
        for time, hertz in pitches(sound):
            if hertz is None or last is None or last[1] is None or abs(
                    (hertz - last[1]) / TONE_SLOPE - float(time - last[0])) > float(FARTHEST):
                steps.append(f"{float(time):.3f} s {hertz and round(hertz)} Hz")
            last = (time, hertz)
    return steps
