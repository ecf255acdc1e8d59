"""Captures of endless transport streams: one programme of 16 s, over connections that end, and in datagrams.

Nobody records them from a network: the multiplex is cut here into the parts that arrive, with the times of a provider
that sends 2.5 s at once and then keeps the pace.
"""

from fractions import Fraction

from channel import Channel, Rendition, at
from playlists import HOST, write_index
from programmes import Footage, Programme

PROGRAMME = Programme("main", 1, Fraction(16), bitrate="32k")
AHEAD = 2.5  # seconds of media that a connection sends at once
PART = 0.25  # seconds of media in each later part
PACKET = 188
DATAGRAM = 7 * PACKET


class Multiplex:
    """The bytes of the programme with tables in each second, and where each moment of it stands."""

    def __init__(self, channel):
        footage, rendition = Footage(PROGRAMME), Rendition(channel)
        self.seconds = [rendition.piece(footage, second, second + 1, at(500)) for second in range(int(PROGRAMME.seconds))]
        self.data = b"".join(self.seconds)
        channel.shown = []

    def offset(self, seconds):
        whole = min(int(seconds), len(self.seconds))
        inside = len(self.seconds[whole]) * (seconds - whole) if whole < len(self.seconds) else 0
        return sum(len(piece) for piece in self.seconds[:whole]) + round(inside)


def parts(multiplex, begins, first, last, edge):
    """[seconds since the request, bytes] of a connection made at `begins`, with the media from `first` to `last`.

    `edge`: the media that is sent at the beginning of the capture.
    """
    times, shown = [], first
    while shown < last:
        until = min(last, max(edge + begins, first) if shown == first else shown + PART)
        count = multiplex.offset(until) - multiplex.offset(shown)
        times.append([round(max(0.02, until - edge - begins), 3), count])
        shown = until
    return times


def connection(channel, multiplex, url, number, begins, first, last, edge=AHEAD, **more):
    sent = parts(multiplex, begins, first, last, edge)
    name = f"{number:06}.ts"
    data = multiplex.data[multiplex.offset(first):multiplex.offset(last)]
    (channel.body / name).write_bytes(data)
    return {
        "at": begins, "took": sent[-1][0], "url": url, "status": 200, "headers": {"Content-Type": "video/mp2t"},
        "text": "", "stream": f"body/{name}", "parts": sent} | more


def show(channel, *stretches):
    lines = [f"{PROGRAMME.number} {PROGRAMME.rate} {first} {last}\n" for first, last in stretches]
    (channel.directory / "shown.txt").write_text("".join(lines))


def raw_stream():
    """Three connections: the second repeats 1.7 s, the third comes too late for 1.5 s."""
    channel = Channel("raw_stream")
    multiplex, url = Multiplex(channel), HOST + "live.ts"
    busy = {"url": url, "status": 503, "headers": {"Content-Type": "text/plain"}, "text": "busy\n"}
    write_index(
        channel.directory, "live.ts",
        "A provider that ends each connection: one begins before the end of the last, and one after it.", [
            connection(channel, multiplex, url, 1, 0.0, 0, 5.41),
            connection(channel, multiplex, url, 2, 2.95, 3.713, 10.37),
            busy | {"at": 7.9}, busy | {"at": 8.42},
            connection(channel, multiplex, url, 3, 9.45, 11.853, 16)])
    show(channel, (0, 256), (300, 349))


def rtp_group():
    """A datagram of seven packets is missing, the last one before 6 s: no later frame refers to what it held."""
    channel = Channel("rtp_group")
    multiplex, url = Multiplex(channel), "rtp://@239.1.1.1:5004"
    multiplex.seconds[5] = multiplex.seconds[5][:-DATAGRAM]
    multiplex.data = b"".join(multiplex.seconds)
    exchange = connection(channel, multiplex, url, 1, 0.0, 0, 16, edge=PART)
    del exchange["headers"]
    write_index(channel.directory, url, "A multicast group in RTP, of which one datagram is missing.", [exchange])
    show(channel, (0, 349))


CAPTURES = (raw_stream, rtp_group)
