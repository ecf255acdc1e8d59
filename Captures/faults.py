"""Captures of upstreams that misbehave: one programme of 8 s, listed and answered in every wrong way.

The segments are those of stale_edge, a second each; the others have its body/ by a link. TARGETDURATION is 2, so that
nobody is late who is late by one reload.
"""

import dataclasses
import hashlib
from fractions import Fraction

from channel import Channel, Rendition, at
from playlists import HOST, PLAYLIST, empty, write_index
from programmes import Footage, Programme, run

PROGRAMME = Programme("main", 1, Fraction(8), bitrate="32k")
COUNT = 8
FIRST_WINDOW = 3
WINDOW = 5
SEQUENCE = 10
MEDIA = {"Content-Type": "video/mp2t"}
URL = HOST + "main.m3u8"


def name(index):
    return f"{index:02}-main.ts"


@dataclasses.dataclass
class Reload:
    """What the upstream lists at one time."""

    at: float
    first: int
    past: int
    sequence: int = None  # of the first entry; None: the number it always had
    uri: object = name
    target: int = 2
    ended: bool = False
    above: dict = dataclasses.field(default_factory=dict)  # index: lines above its EXTINF

    def text(self):
        sequence = SEQUENCE + self.first if self.sequence is None else self.sequence
        lines = [
            "#EXTM3U", "#EXT-X-VERSION:3", f"#EXT-X-TARGETDURATION:{self.target}", f"#EXT-X-MEDIA-SEQUENCE:{sequence}"]
        for index in range(self.first, self.past):
            lines += [*self.above.get(index, ()), "#EXTINF:1.000,", self.uri(index)]
        if self.ended or self.past == COUNT:
            lines.append("#EXT-X-ENDLIST")
        return "\n".join(lines) + "\n"

    def answer(self, url=URL, **other):
        return {"at": self.at, "url": url, "status": 200, "headers": PLAYLIST, "text": self.text()} | other


def reloads(**changes):
    """One list a second, each with one segment more."""
    return [
        Reload(float(past - FIRST_WINDOW), max(0, past - WINDOW), past, **changes)
        for past in range(FIRST_WINDOW, COUNT + 1)]


def failing(at, url, status, headers=None):
    return {"at": at, "url": url, "status": status, "headers": headers or {}, "text": ""}


def media(uri=name, base=HOST, indices=range(COUNT)):
    return [
        {"at": float(max(0, index + 1 - FIRST_WINDOW)), "url": base + uri(index), "status": 200, "headers": MEDIA,
         "body": f"body/{name(index)}"}
        for index in indices]


def publish(capture_name, about, exchanges, upstream="main.m3u8", lost=()):
    """`lost`: segments that nobody can have."""
    if capture_name == "stale_edge":
        capture = record_programme()
    else:
        capture = empty(capture_name)
        (capture / "body").symlink_to("../stale_edge/body")
    write_index(capture, upstream, about, exchanges)
    lines = [f"{PROGRAMME.number} {PROGRAMME.rate} {first} {last}\n" for first, last in shown(set(lost))]
    (capture / "shown.txt").write_text("".join(lines))


def shown(lost):
    rate, first = int(PROGRAMME.rate), None
    for index in range(COUNT + 1):
        is_shown = index < COUNT and index not in lost
        if is_shown and first is None:
            first = index
        if not is_shown and first is not None:
            yield first * rate, index * rate - 1
            first = None


def record_programme():
    channel = Channel("stale_edge")
    main = Rendition(channel)
    main.play(Footage(PROGRAMME), 0, COUNT, at(500))
    return channel.directory


def healthy():
    publish(
        "healthy", "A healthy program.",
        [each.answer() for each in reloads()] + media())


def stale_edge():
    lists = reloads()
    lists[3] = dataclasses.replace(lists[1], at=3.0)
    publish(
        "stale_edge", "A cache answers once with a playlist of two seconds ago.",
        [each.answer() for each in lists] + media())


def list_shrinks():
    lists = reloads()
    lists[3] = dataclasses.replace(lists[3], past=lists[3].past - 2)
    publish(
        "list_shrinks", "A playlist loses its last segment until the next reload.",
        [each.answer() for each in lists] + media())


def reset_same_uris():
    lists = [
        dataclasses.replace(each, sequence=each.first - 1) if each.at >= 3 else each for each in reloads()]
    publish(
        "reset_same_uris", "The numbers begin again at 0; the URLs go on.",
        [each.answer() for each in lists] + media())


def numbers_ahead():
    lists = [dataclasses.replace(each, first=0, at=each.at - 2) for each in reloads()[2:]]
    lists[2:] = [dataclasses.replace(each, sequence=5000) for each in lists[2:]]
    publish(
        "numbers_ahead", "The numbers jump ahead; the URLs go on.",
        [each.answer() for each in lists] + [each | {"at": max(0.0, each["at"] - 2)} for each in media()], lost=(0, 1))


def reset_new_uris():
    def moved(index):
        return f"again/{name(index)}"

    lists = reloads()
    for number in (3, 4, 5):
        lists[number] = dataclasses.replace(lists[number], first=5, sequence=0, uri=moved)
    publish(
        "reset_new_uris", "An encoder restarts: numbers from 0, other URLs, the same program.",
        [each.answer() for each in lists] + media(indices=range(5)) + media(moved, indices=range(5, 8)))


def overlapping_numbers():
    def moved(index):
        return f"again/{index - 5}.ts"

    lists = reloads()
    for number in (3, 4, 5):
        lists[number] = dataclasses.replace(lists[number], first=5, sequence=SEQUENCE + 2, uri=moved)
    publish(
        "overlapping_numbers", "An encoder restarts with numbers that other segments had.",
        [each.answer() for each in lists] + media(indices=range(5)) + media(moved, indices=range(5, 8)))


def new_session():
    def moved(index):
        return f"again/{name(index)}"

    lists = reloads()[:3] + [
        Reload(4.0, 5, 7, sequence=0, uri=moved), Reload(5.0, 5, 8, sequence=0, uri=moved)]
    lists[2].ended = True
    publish(
        "new_session", "An encoder ends its playlist, and begins another two seconds later.",
        [each.answer() for each in lists] + media(indices=range(5)) + media(moved, indices=range(5, 8)))


def query_changes():
    exchanges = []
    for number, each in enumerate(reloads()):
        def signed(index, number=number):
            return f"{name(index)}?expires={1000 + number}&signature={hashlib.sha256(bytes([number])).hexdigest()[:8]}"

        exchanges.append(dataclasses.replace(each, uri=signed).answer())
        exchanges += [
            answer | {"at": each.at} for answer in media(signed, indices=range(each.first, each.past))]
    publish("query_changes", "Each reload signs every URL anew.", exchanges)


def gap():
    lists = reloads(above={4: ["#EXT-X-GAP"]})
    publish(
        "gap", "A segment is marked EXT-X-GAP, though it is there.",
        [each.answer() for each in lists] + media(), lost=[4])


def half_written():
    exchanges = [each.answer() for each in reloads()]
    whole = exchanges[3]["text"]
    exchanges[2]["text"] = ""
    exchanges[3]["text"] = whole[:-len("main.ts\n")]
    missing = failing(3.0, HOST + name(5)[:-len("main.ts")], 404)
    publish(
        "half_written", "A playlist is empty once, and ends inside a URL once.",
        exchanges + media() + [missing])


def html_200():
    page = "<!DOCTYPE html>\n<html><body>One moment, please.</body></html>\n"
    html = {"headers": {"Content-Type": "text/html"}, "text": page}
    exchanges = [each.answer() for each in reloads()]
    exchanges[2] |= html
    answers = media()
    first = {key: value for key, value in answers[4].items() if key != "body"} | html
    publish(
        "html_200", "HTML with status 200, for the playlist and for a segment.",
        exchanges + answers[:4] + [first] + answers[4:])


def redirected():
    there = "http://edge-7.cdn.example/live/"
    publish(
        "redirected", "The playlist redirects to another host.",
        [each.answer(finalURL=there + "main.m3u8") for each in reloads()] + media(base=there))


def expired_token():
    def master(when, token):
        lines = [
            "#EXTM3U", '#EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.64000C,mp4a.40.2"',
            f"main.m3u8?token={token}"]
        return {
            "at": when, "url": HOST + "master.m3u8", "status": 200, "headers": PLAYLIST,
            "text": "\n".join(lines) + "\n"}

    before, after = URL + "?token=1", URL + "?token=2"
    lists = reloads()
    publish(
        "expired_token", "The token in the playlist's URL expires; the master playlist has another.",
        [master(0.0, 1), master(3.0, 2), *[each.answer(before) for each in lists[:3]], failing(3.0, before, 403),
         *[each.answer(after) for each in lists[3:]], *media()], upstream="master.m3u8")


def target_changes():
    lists = reloads()
    lists[2].target, lists[3].target = 4, 3
    publish(
        "target_changes", "EXT-X-TARGETDURATION changes in the middle, and back.",
        [each.answer() for each in lists] + media())


def long_list():
    """The segments before the first one are listed and never asked for."""
    earlier = 5000

    def text(each):
        head = f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:{SEQUENCE}\n"
        old = "".join(f"#EXTINF:1,\n{number}.ts\n" for number in range(earlier))
        new = "".join(f"#EXTINF:1,\n{name(index)}\n" for index in range(each.past))
        return head + old + new + ("#EXT-X-ENDLIST\n" if each.past == COUNT else "")

    lists = reloads()
    publish(
        "long_list", "A playlist has 5000 segments.",
        [each.answer(text=text(each)) for each in (lists[0], lists[3], lists[5])] + media())


def segment_404():
    answers = media()
    once, often = failing(1.0, answers[3]["url"], 404), failing(2.0, answers[4]["url"], 404)
    answers[6] = failing(4.0, answers[6]["url"], 404)
    publish(
        "segment_404", "One segment is there at the second attempt, one at the fourth, and one never.",
        [each.answer() for each in reloads()] + answers[:3] + [once, answers[3]] + [often] * 3 + answers[4:],
        lost=[6])


def short_body():
    answers = media()
    broken = [
        {"at": 1.0, "url": answers[3]["url"], "error": "shortBody"},
        {"at": 3.0, "took": 0.4, "url": answers[5]["url"], "error": "reset"},
        {"at": 3.0, "url": answers[5]["url"], "error": "timedOut"}]
    publish(
        "short_body", "One segment breaks off; one is reset, then times out.",
        [each.answer() for each in reloads()] + answers[:3] + broken + answers[3:])


def retry_after():
    answers, lists = media(), [each.answer() for each in reloads()]
    busy = {"Retry-After": "1"}
    publish(
        "retry_after", "503 with Retry-After, for the playlist and for a segment.",
        lists[:2] + [failing(2.0, URL, 503, busy)] + [lists[2] | {"at": 2.4}] + lists[3:] + answers[:4]
        + [failing(2.4, answers[4]["url"], 503, busy), answers[4] | {"at": 2.7}] + answers[5:])


def key_fails_once():
    capture = empty("key_fails_once")
    (capture / "body").mkdir()
    key = hashlib.sha256(b"key_fails_once").digest()[:16]
    (capture / "body" / "key.bin").write_bytes(key)
    for index in range(COUNT):
        run(
            "openssl", "enc", "-aes-128-cbc", "-K", key.hex(), "-iv", f"{SEQUENCE + index:032x}",
            "-in", str(capture.parent / "stale_edge" / "body" / name(index)),
            "-out", str(capture / "body" / name(index)))
    line = '#EXT-X-KEY:METHOD=AES-128,URI="key.bin"'
    exchanges = []
    for each in reloads():
        exchanges.append(dataclasses.replace(each, above={each.first: [line]}).answer())
    url = HOST + "key.bin"
    answer = {
        "at": 0.0, "url": url, "status": 200, "headers": {"Content-Type": "application/octet-stream"},
        "body": "body/key.bin"}
    write_index(
        capture, "main.m3u8", "The key's server fails once.",
        exchanges + [failing(0.0, url, 500), answer] + media())
    (capture / "shown.txt").write_text(f"1 25 0 {COUNT * 25 - 1}\n")


def expired_cookie():
    """A capture has no cookies: what is refused is let through from the second request on."""
    lines = ["#EXTM3U", '#EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.64000C,mp4a.40.2"', "main.m3u8"]
    master = {
        "at": 0.0, "url": HOST + "master.m3u8", "status": 200, "headers": PLAYLIST, "text": "\n".join(lines) + "\n"}
    answers = media()
    publish(
        "expired_cookie", "A cookie expires: a segment gets 403 until the master playlist is read again.",
        [master] + [each.answer() for each in reloads()] + answers[:4] + [failing(2.0, answers[4]["url"], 403)]
        + answers[4:], upstream="master.m3u8")


def wrong_types():
    publish(
        "wrong_types", "Playlists have the type of HTML, segments that of images.",
        [each.answer(headers={"Content-Type": "text/html"}) for each in reloads()]
        + [each | {"headers": {"Content-Type": "image/png"}} for each in media()])


def too_large():
    def swollen(index):
        return "large.ts" if index == 5 else name(index)

    publish(
        "too_large", "A segment is too large.",
        [each.answer() for each in reloads(uri=swollen)] + media()
        + [{"at": 3.0, "took": 0.2, "url": HOST + swollen(5), "error": "tooLarge"}], lost=[5])


def garbage():
    def garbled(index):
        return "noise.ts" if index == 5 else name(index)

    noise = "".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(32))
    publish(
        "garbage", "A segment is garbage.",
        [each.answer() for each in reloads(uri=garbled)] + media()
        + [{"at": 3.0, "url": HOST + garbled(5), "status": 200, "headers": MEDIA, "text": noise}], lost=[5])


def redirect_loop():
    lists, answers = [each.answer() for each in reloads()], media()
    publish(
        "redirect_loop", "A redirect loop, for the playlist and for a segment.",
        lists[:2] + [{"at": 2.0, "url": URL, "error": "tooManyRedirects"}] + lists[3:] + answers[:5]
        + [{"at": 3.0, "url": answers[5]["url"], "error": "tooManyRedirects"}] + answers[5:])


def slow_lookup():
    """A connection that is not made in 5 s is given up, the look-up of its name included."""
    lists, answers = [each.answer() for each in reloads()], media()
    publish(
        "slow_lookup", "The name server takes 4 s for the playlist, and does not answer for a segment.",
        lists[:2] + [lists[2] | {"took": 4.0}] + lists[3:] + answers[:6]
        + [{"at": 3.0, "took": 5.0, "url": answers[6]["url"], "error": "unresolvedHost"}] + answers[6:])


def hanging_list():
    lists = [each.answer() for each in reloads()]
    publish(
        "hanging_list", "The playlist hangs once.",
        lists[:2] + [{"at": 2.0, "took": 8.0, "url": URL, "error": "timedOut"}]
        + [each | {"at": 8.0 + each["at"]} for each in lists[2:]] + media())


def slow_segments():
    publish(
        "slow_segments", "Each segment takes 1.5 times its duration to arrive.",
        [each.answer() for each in reloads()] + [each | {"took": 1.5} for each in media()])


def metered():
    lists, answers = [each.answer() for each in reloads()], media()
    publish(
        "metered", "429 for a segment, 509 for the playlist.",
        lists[:2] + [failing(2.0, URL, 509)] + [lists[2] | {"at": 2.3}] + lists[3:] + answers[:3]
        + [failing(1.0, answers[3]["url"], 429)] + answers[3:])


def batches():
    lists = reloads()
    late = [lists[0], dataclasses.replace(lists[3], at=3.0), dataclasses.replace(lists[5], at=5.0)]
    publish(
        "batches", "Segments are listed three at a time.", [each.answer() for each in late] + media())


def irregular_lists():
    master = {
        "at": 0.0, "url": HOST + "master.m3u8", "status": 200, "headers": PLAYLIST,
        "text": "#EXTM3U\n#EXT-X-VERSION: 10\nindex.html\n#EXT-X-STREAM-INF:BANDWIDTH=1280000.0\nmain.m3u8\n"}
    lists = reloads(above={4: ["#EXTINF:9.000,"]})
    texts = [each.answer() for each in lists]
    for answer in texts:
        answer["text"] = answer["text"].replace("#EXT-X-VERSION:3", "#EXT-X-VERSION: 3\n#EXT-X-PLAYLIST-TYPE:LIVE")
    publish(
        "irregular_lists",
        "A URI of no variant, BANDWIDTH=1280000.0, an unknown EXT-X-PLAYLIST-TYPE, two EXTINFs for one segment.",
        [master] + texts + media(), upstream="master.m3u8")


def cut_at_packet():
    answers = media()
    for index in (3, 5):
        answers[index] = answers[index] | {"endsAtClose": True}
    cut = [answers[index] | {"body": f"body/{index:02}-cut.ts", "took": 0.1} for index in (3, 5)]
    publish(
        "cut_at_packet", "Two segments without a length break off, one between two packets.",
        [each.answer() for each in reloads()] + answers[:3] + cut[:1] + answers[3:5] + cut[1:] + answers[5:])
    body = empty("cut_at_packet") / "body"
    body.mkdir()
    for index in range(COUNT):
        (body / name(index)).symlink_to(f"../../stale_edge/body/{name(index)}")
    for index, part in ((3, 4), (5, 5)):
        data = (body / name(index)).read_bytes()
        (body / f"{index:02}-cut.ts").write_bytes(data[:len(data) // part // 188 * 188])


CAPTURES = (
    stale_edge, healthy, list_shrinks, reset_same_uris, numbers_ahead, reset_new_uris, overlapping_numbers, new_session,
    query_changes, gap, half_written, html_200, redirected, expired_token, target_changes, long_list, segment_404,
    short_body, retry_after, key_fails_once, expired_cookie, wrong_types, too_large, garbage, redirect_loop, slow_lookup,
    hanging_list, slow_segments, metered, batches, irregular_lists, cut_at_packet)
