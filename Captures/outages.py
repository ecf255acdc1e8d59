"""Captures of upstreams that are silent for a while, and of what may stand in for them: one programme of 96 s.

The segments are those of outage, two seconds each, and a new one is listed every two seconds; the others have its body/
by a link. TARGETDURATION is 2.
"""

from fractions import Fraction

from channel import Channel, Rendition, at
from playlists import HOST, PLAYLIST, empty, write_index
from programmes import Footage, Programme

PROGRAMME = Programme(
    "main", 1, Fraction(96), picture="color=c=0x204060", rate="5", group=10, bitrate="16k", sample_rate=16000,
    channels=1, b_frames=0)
SECONDS = 2
PICTURES = 10  # of a segment
COUNT = 48
FIRST_WINDOW = 3
WINDOW = 5
SEQUENCE = 10
MEDIA = {"Content-Type": "video/mp2t"}
BACKUP = "http://backup.example/"


def name(index):
    return f"{index:02}-main.ts"


def listed_at(past, lag=0):
    """When the list ends before segment `past`."""
    return float(SECONDS * (past - FIRST_WINDOW) + lag)


def text(past, count):
    first = max(0, past - WINDOW)
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:2", f"#EXT-X-MEDIA-SEQUENCE:{SEQUENCE + first}"]
    for index in range(first, past):
        lines += ["#EXTINF:2.000,", name(index)]
    return "\n".join(lines + (["#EXT-X-ENDLIST"] if past == count else [])) + "\n"


def lists(pasts, count, url=HOST + "main.m3u8", lag=0):
    return [
        {"at": listed_at(past, lag), "url": url, "status": 200, "headers": PLAYLIST, "text": text(past, count)}
        for past in pasts]


def refusing(since, url=HOST + "main.m3u8"):
    return {"at": float(since), "url": url, "error": "refused"}


def media(base=HOST, lag=0):
    return [
        {"at": max(0.0, listed_at(index + 1, lag)), "url": base + name(index), "status": 200, "headers": MEDIA,
         "body": f"body/{name(index)}"}
        for index in range(COUNT)]


def publish(capture_name, about, exchanges, count=COUNT, lost=range(0), upstream="main.m3u8", backups=()):
    """`count`: segments until ENDLIST; `lost`: those that nobody can have."""
    if capture_name == "outage":
        capture = record_programme()
    else:
        capture = empty(capture_name)
        (capture / "body").symlink_to("../outage/body")
    write_index(capture, upstream, about, exchanges, backups)
    stretches = [(0, lost.start), (lost.stop, count)] if lost else [(0, count)]
    (capture / "shown.txt").write_text("".join(
        f"{PROGRAMME.number} {PROGRAMME.rate} {PICTURES * first} {PICTURES * past - 1}\n" for first, past in stretches))


def record_programme():
    channel = Channel("outage")
    Rendition(channel).play(Footage(PROGRAMME), 0, PROGRAMME.seconds, at(500), step=SECONDS)
    return channel.directory


def outage():
    count = 23
    publish(
        "outage", "No connection to the origin for 16 s; four segments have left the playlist meanwhile.",
        lists(range(3, 7), count) + [refusing(7.5)] + lists(range(15, count + 1), count) + media(), count,
        lost=range(6, 10))


def frozen_list():
    count = 16
    publish(
        "frozen_list", "The playlist does not grow for 14 s.",
        lists(range(3, 8), count) + lists(range(8, count + 1), count, lag=12) + media(), count)


def redundant_variant():
    count = 16
    hosts = [f"http://{letter}.example/" for letter in "ab"]
    master = ["#EXTM3U"]
    for host in hosts:
        master += ['#EXT-X-STREAM-INF:BANDWIDTH=60000,CODECS="avc1.64000C,mp4a.40.2"', f"{host}main.m3u8"]
    publish(
        "redundant_variant", "The playlist stops growing; the master playlist has the same variant at another host.",
        [{"at": 0.0, "url": HOST + "master.m3u8", "status": 200, "headers": PLAYLIST, "text": "\n".join(master) + "\n"}]
        + lists(range(3, 8), count, hosts[0] + "main.m3u8") + media(hosts[0])
        + lists(range(3, count + 1), count, hosts[1] + "main.m3u8") + media(hosts[1]), count, upstream="master.m3u8")


def backup():
    stand_in("backup", "No connection to the origin for 9 s; a backup is in step with it.")


def backup_behind():
    stand_in("backup_behind", "The same, and the backup is four seconds late.", lag=4)


def stand_in(capture_name, about, lag=0):
    """Both have the same bytes, as two origins of one encoder do."""
    publish(
        capture_name, about,
        lists(range(3, 8), COUNT) + [refusing(9)] + lists(range(12, COUNT + 1), COUNT) + media()
        + lists(range(3, COUNT + 1), COUNT, BACKUP + "main.m3u8", lag) + media(BACKUP, lag),
        backups=[BACKUP + "main.m3u8"])


REFUSED = range(7, 15)


def without_media():
    """The answers of an origin that goes on listing segments and refuses some of them at every request."""
    refusal = {"status": 404, "headers": {}, "text": ""}
    return [
        {"at": answer["at"], "url": answer["url"]} | refusal if index in REFUSED else answer
        for index, answer in enumerate(media())]


def media_refused():
    count = 23
    publish(
        "media_refused", "Each segment that is added for 16 s gets 404 for good.",
        lists(range(3, count + 1), count) + without_media(), count, lost=REFUSED)


def media_refused_backup():
    publish(
        "media_refused_backup", "The same, and a backup is in step with it.",
        lists(range(3, COUNT + 1), COUNT) + without_media()
        + lists(range(3, COUNT + 1), COUNT, BACKUP + "main.m3u8") + media(BACKUP),
        backups=[BACKUP + "main.m3u8"])


CAPTURES = (outage, frozen_list, redundant_variant, backup, backup_behind, media_refused, media_refused_backup)
