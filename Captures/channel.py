"""A capture in the making: programmes are played one after the other into the segments of a rendition."""

import datetime
from fractions import Fraction

from playlists import FIRST_DATE, Entry, empty
from transport import TICKS, WRAP, Layout, Multiplexer


class Channel:
    """The directory of one capture, and what somebody would see in it who misses nothing."""

    def __init__(self, name):
        self.directory = empty(name)
        self.body = self.directory / "body"
        self.body.mkdir()
        self.shown = []

    def show(self, programme, numbers):
        """Notes pictures of `programme`; those that follow on become one stretch."""
        if not self.shown or self.shown[-1][0] is not programme:
            self.shown.append((programme, set()))
        self.shown[-1][1].update(numbers)

    def write_shown(self):
        """shown.txt: number of the programme, its rate, its first and its last picture; a line for each stretch."""
        lines = []
        for programme, numbers in self.shown:
            for first, last in stretches(numbers):
                lines.append(f"{programme.number} {programme.rate} {first} {last}\n")
        (self.directory / "shown.txt").write_text("".join(lines))


def stretches(numbers):
    """(first, last) of each stretch of `numbers` without a gap."""
    firsts = sorted(number for number in numbers if number - 1 not in numbers)
    return zip(firsts, sorted(number for number in numbers if number + 1 not in numbers))


class Rendition:
    """The segments of one media playlist, in order."""

    def __init__(self, channel, prefix=""):
        self.channel = channel
        self.prefix = prefix
        self.entries = []
        self.multiplexer = Multiplexer()

    def add(self, name, data, seconds, discontinuity=False, suffix=".ts", **more):
        entry = Entry(f"{self.prefix}{len(self.entries):02}-{name}{suffix}", Fraction(seconds), discontinuity, **more)
        entry.date = FIRST_DATE + datetime.timedelta(seconds=float(sum(before.seconds for before in self.entries)))
        (self.channel.body / entry.name).write_bytes(data)
        self.entries.append(entry)

    def play(
        self, footage, start, end, clock, layout=Layout(), tagged=False, step=1, audio_later=Fraction(0), **manner
    ):
        """Segments of `step` seconds of `footage` from `start` to `end`.

        `audio_later`: seconds by which sound is sent after (negative: before) its picture; none is lost by that.
        `manner`: see `piece`.
        """
        start, end = Fraction(start), Fraction(end)
        at = start
        while at < end:
            past = min(at + Fraction(step), end)
            sound = (
                start if at == start else min(max(at - audio_later, start), end),
                end if past == end else min(max(past - audio_later, start), end))
            data = self.piece(footage, at, past, clock, layout, sound, audio_later=audio_later, **manner)
            self.add(footage.programme.name, data, past - at, tagged and at == start)
            at = past

    def piece(
        self, footage, start, end, clock, layout=Layout(), sound=None, audio_clock=None, dts_ahead=0,
        audio_later=Fraction(0)
    ):
        """`footage` from `start` to `end`, in seconds, as bytes of the multiplex, with the sound of the same time or of
        `sound`.

        `clock`: ticks at which the programme's first picture is shown; `audio_clock`: the same for its sound, if it is
        another one. `dts_ahead`: ticks added to every decoding time alone.
        """
        picture = footage.pictures(start, end) if layout.video else []
        moved = [frame.moved(clock, dts_ahead) for frame in picture]
        if layout.audio:
            sound_clock = clock if audio_clock is None else audio_clock
            moved += [frame.moved(sound_clock, dts_ahead) for frame in footage.sound(*sound or (start, end))]
        if picture:
            self.channel.show(footage.programme, [footage.number(frame) for frame in picture])
        return self.multiplexer.segment(moved, layout, round(audio_later * TICKS))


def at(seconds):
    """The clock that reads `seconds`."""
    return round(Fraction(seconds) * TICKS)


def before_wrap(seconds):
    return WRAP - at(seconds)
