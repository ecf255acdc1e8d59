"""A channel without a liverelay: a server that answers with the files of the page, and with playlists, media and status.json
as a situation has them, so that each can be had at once."""

import http.server
import json
import pathlib
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEB = ROOT / "Sources/Service/Page"
LENGTH, SEGMENT, GAP = 40, 2, (4, 6)  # seconds, seconds, and the segments that are a gap of 4 s
RATES = (5, 25, 50)
SILENT = 5  # Chromium stops a picture before the end where there is no sound
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".m3u8": "application/vnd.apple.mpegurl",
         ".html": "text/html", ".json": "application/json"}
HOLES = ((26 * 3600, True), (3 * 3600, False))  # seconds; whether liverelay says that it did not run


def make_past(folder):
    """The playlist of a spool that three runs filled in 29 hours, 12 s at a time."""
    lengths, lines = [0, *(length for length, _ in HOLES)], (folder / "live.m3u8").read_text().splitlines()
    media = [line for line in lines if line.startswith("seg-") and line != "#EXT-X-GAP"][:4]
    head = [line for line in lines if line.startswith(("#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGET", "#EXT-X-MAP"))]
    date, number, out = time.time() - sum(lengths) - 3 * 4 * SEGMENT, 0, []
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
    for run, length in enumerate(lengths):
        if run and HOLES[run - 1][1]:
            out.append(f'#EXT-X-DATERANGE:ID="absence-{run}",CLASS="liverelay.absence",START-DATE="{stamp(date)}",END-DATE="{stamp(date + length)}"')
        date += length
        out += ["#EXT-X-DISCONTINUITY"] if run else []
        for name in media:
            out += [f"#EXT-X-PROGRAM-DATE-TIME:{stamp(date)}", f"#EXTINF:{SEGMENT},", name]
            date, number = date + SEGMENT, number + 1
    (folder / "past.m3u8").write_text("\n".join([*head, "#EXT-X-MEDIA-SEQUENCE:0", *out]) + "\n")
    return stamp(date - sum(lengths) - number * SEGMENT), stamp(date), number * SEGMENT


MARKS = {"break": (14, 20), "found": (24, 28), "hole": (32, 60)}  # seconds; each has a colour of its own on the bar


def make_marks(folder):
    """The playlist of 40 s with a gap, an ad break and a time without media. Returns its dates, and the break that nobody signals."""
    lines, began = [], time.time() - MARKS["hole"][1] - LENGTH + MARKS["hole"][0]
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
    at = 0
    for line in (folder / "live.m3u8").read_text().splitlines():
        if line.startswith("#EXT-X-PROGRAM-DATE-TIME"):
            if at == MARKS["hole"][0]:
                at = MARKS["hole"][1]
                lines += [f'#EXT-X-DATERANGE:ID="absence-1",CLASS="liverelay.absence",START-DATE="{stamp(began + MARKS["hole"][0])}",'
                          f'END-DATE="{stamp(began + at)}"', "#EXT-X-DISCONTINUITY"]
            line = f"#EXT-X-PROGRAM-DATE-TIME:{stamp(began + at)}"
            at += SEGMENT
        lines.append(line)
    start, end = (stamp(began + second) for second in MARKS["break"])
    lines.insert(4, f'#EXT-X-DATERANGE:ID="cue-1",START-DATE="{start}",END-DATE="{end}",SCTE35-OUT=0xFC')
    (folder / "marks.m3u8").write_text("\n".join(lines) + "\n")
    start, end = (stamp(began + second) for second in MARKS["found"])
    return stamp(began), stamp(began + at), [{"evidence": "found", "start": start, "end": end}]


def make_media(folder, rate):
    """A channel of 40 s with a gap of 4 s, as liverelay lists it; without pictures if there are none a second."""
    folder.mkdir()
    sound = ["-f", "lavfi", "-i", "sine=440"] if rate != SILENT else []
    picture = ["-f", "lavfi", "-i", f"testsrc=rate={rate}:size=160x90"] if rate else []
    codecs = ["avc1.64000b"] * bool(picture) + ["mp4a.40.2"] * bool(sound)
    subprocess.run(
        ["ffmpeg", "-v", "error", *picture, *sound, "-t", str(LENGTH),
         "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", str(rate * SEGMENT), "-c:a", "aac",
         "-f", "hls", "-hls_time", str(SEGMENT), "-hls_list_size", "0", "-hls_segment_type", "fmp4",
         "-hls_segment_filename", str(folder / "seg-%d.m4s"), str(folder / "all.m3u8")], check=True)
    lines, number, began = [], 0, time.time() - LENGTH
    for line in (folder / "all.m3u8").read_text().splitlines():
        if line.startswith("#EXTINF"):
            date = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(began + number * SEGMENT))
            lines += [f"#EXT-X-PROGRAM-DATE-TIME:{date}"] + ["#EXT-X-GAP"] * (GAP[0] <= number < GAP[1])
            number += 1
        if not line.startswith(("#EXT-X-ENDLIST", "#EXT-X-PLAYLIST-TYPE")):
            lines.append(line)
    (folder / "live.m3u8").write_text("\n".join(lines) + "\n")
    (folder / "master.m3u8").write_text(
        f'#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="{",".join(codecs)}"\nlive.m3u8\n')
    for index in range(*GAP):
        (folder / f"seg-{index}.m4s").unlink()


class Scene:
    """What the server answers: media of a rate, a status, and paths that fail."""

    def __init__(self, folder):
        self.folder, self.rate, self.refused, self.is_away, self.error = folder, RATES[1], set(), False, None
        self.playlist, self.breaks = "live.m3u8", []
        self.status, self.documents = {}, {}

    def reset(self):
        self.refused, self.is_away, self.error = set(), False, None
        self.playlist, self.breaks = "live.m3u8", []
        now = time.time()
        stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
        self.status = {"state": "live", "uptime": 60, "upstream": {"secondsSinceNewSegment": 1},
                       "output": {"segments": LENGTH // SEGMENT, "rewindSeconds": LENGTH, "firstMediaSequence": 0,
                                  "rewindStart": stamp(now - LENGTH), "liveEdge": stamp(now)},
                       "splice": {"periods": 1, "currentPeriod": {"video": "avc1.64001f", "audio": "mp4a.40.2", "width": 160,
                                                                  "height": 90, "frameRate": "25.000"}}}

    def list(self, channels, failures={}):
        """The documents of a list: names by slug, and states of channels that run."""
        self.documents = {
            "channels.json": {"channels": [{"slug": slug, "name": name, "groups": []} for slug, (name, _) in channels.items()]},
            "overview.json": {"listed": len(channels), "running": len(channels), "idle": 0, "failed": len(failures), "uptime": 60,
                              "features": {"hasGuide": False, "hasAPI": False, "hasRecordings": False}, "failures": failures,
                              "channels": [{"slug": slug, **state} for slug, (_, state) in channels.items() if state]},
            "health.json": {"cellSeconds": 300, "uptime": 60, "channels": {}}}


def serve(scene):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            name = self.path.split("?")[0].rpartition("/")[2] or ("overview.html" if self.path.startswith("/list/") else "channel.html")
            if scene.is_away:
                self.close_connection = True
                return self.connection.close()
            if name in scene.refused:
                return self.answer(503, b"no", {"X-Liverelay-Reason": "the upstream gives no playlist"})
            if scene.error and name.endswith(".json"):
                return self.answer(scene.error, b"{}")  # as when a channel or a token is there no more
            if name in scene.documents:
                return self.answer(200, json.dumps(scene.documents[name]).encode(), {"Content-Type": TYPES[".json"]})
            if name == "status.json":
                return self.answer(200, json.dumps(scene.status).encode(), {"Content-Type": TYPES[".json"]})
            if name == "breaks.json":
                return self.answer(200, json.dumps({"breaks": scene.breaks}).encode())
            if name in ("dvr.m3u8", "live.m3u8"):
                name = scene.playlist
            file = WEB / name if (WEB / name).is_file() else scene.folder / str(scene.rate) / name
            if not file.is_file():
                return self.answer(404, b"")
            self.answer(200, file.read_bytes(), {"Content-Type": TYPES.get(file.suffix, "video/mp4")})

        def answer(self, status, body, fields={}):
            self.send_response(status)
            for field, value in fields.items() | {"Content-Length": str(len(body))}.items():
                self.send_header(field, value)
            self.end_headers()
            self.wfile.write(body)

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # a browser resets what it does not need any more

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"
