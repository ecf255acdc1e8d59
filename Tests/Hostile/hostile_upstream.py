"""A live channel of 2 s segments, on loopback, that is hostile in one way. The media of the good parts is a capture's."""
import gzip
import http.server
import os
import random
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
BODIES = os.path.join(HERE, "..", "..", "Captures", "clean", "body")
MIB = 1 << 20
FIRST, LISTED, SECONDS = 100, 6, 2


def gzip_bomb(size, head=b""):
    """A gzip member of few bytes with `size` bytes."""
    return gzip.compress(head + bytes(size - len(head)), 9)


def null_packets(size):
    """Transport packets without content: a segment that is valid, and large."""
    return (b"\x47\x1f\xff\x10" + b"\xff" * 184) * (size // 188)


class HostileUpstream:
    """`cases` are the names of the methods below that begin with `case_`; `good` is a channel without any fault."""

    def __init__(self, case, heavy=None):
        self.case, self.began, self.heavy = case, time.time(), heavy
        self.media = [open(os.path.join(BODIES, name), "rb").read() for name in sorted(os.listdir(BODIES))]
        self.cache, self.lock = {}, threading.Lock()
        self.sent = 0
        self.clients = 0
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with upstream.lock:
                    upstream.clients += 1
                try:
                    upstream.answer(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        self.url = f"{self.base}/{'master' if case in MASTERS else 'live'}.m3u8"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def newest(self):
        return FIRST + LISTED + int((time.time() - self.began) / SECONDS)

    def kept(self, key, make):
        """Large answers are made once."""
        with self.lock:
            if key not in self.cache:
                self.cache[key] = make()
            return self.cache[key]

    # Answers

    def send(self, request, body, kind="application/vnd.apple.mpegurl", encoding=None, length=True):
        request.send_response(200)
        request.send_header("Content-Type", kind)
        if encoding:
            request.send_header("Content-Encoding", encoding)
        if length:
            request.send_header("Content-Length", str(len(body)))
        else:
            request.send_header("Connection", "close")
            request.close_connection = True
        request.end_headers()
        request.wfile.write(body)
        with self.lock:
            self.sent += len(body)

    def stream(self, request, size, part=b"\x47" + bytes(187)):
        """A body that is longer than it makes sense to hold here either."""
        block = part * (MIB // len(part))
        request.send_response(200)
        request.send_header("Content-Length", str(size))
        request.end_headers()
        for _ in range(size // len(block)):
            request.wfile.write(block)
        request.wfile.write(block[:size % len(block)])

    def answer(self, request):
        path = request.path.split("?")[0]
        parts = path.strip("/").split("/")
        if path == "/master.m3u8":
            return self.send(request, self.master().encode())
        if parts[0] == "subs" and parts[-1].endswith(".m3u8"):
            return self.send(request, self.playlist(extension=f"/subs/{parts[1]}/", suffix=".vtt", hostile=False))
        if parts[0] == "audio" and parts[-1].endswith(".m3u8"):
            return self.send(request, self.playlist(extension="/audio/", suffix=".ts", hostile=False))
        if path == "/live.m3u8":
            return self.send_playlist(request)
        if path.endswith(".vtt"):
            return self.send_subtitles(request)
        if path.startswith("/map/"):
            return self.stream(request, 16 * MIB - 1024)
        return self.send_segment(request, int("".join(c for c in parts[-1] if c.isdigit()) or FIRST))

    def master(self):
        lines = ["#EXTM3U", "#EXT-X-VERSION:6"]
        for number in range(8 if self.case.startswith("vtt") or self.case == "vod_all" else 0):
            lines.append(f'#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="{number}",LANGUAGE="l{number}",'
                         f'URI="/subs/{number}/live.m3u8"')
        audio = self.case in ("big_companion", "vod_all")
        if audio:
            lines.append('#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",DEFAULT=YES,URI="/audio/live.m3u8"')
        lines.append('#EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.42c00d,mp4a.40.2"'
                     + (',SUBTITLES="s"' if len(lines) > 2 and not self.case == "big_companion" else "")
                     + (',AUDIO="a"' if audio else ""))
        return "\n".join(lines + ["/live.m3u8"]) + "\n"

    def playlist(self, extension="/seg", suffix=".ts", hostile=True):
        if self.case == "vod_all":
            return self.kept(("vod", extension), lambda: "".join(
                ["#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n"]
                + [f"#EXTINF:2,\n{extension}{n}{suffix}\n" for n in range(50_000)] + ["#EXT-X-ENDLIST\n"]).encode())
        newest = self.newest
        lines = ["#EXTM3U", "#EXT-X-VERSION:8", f"#EXT-X-TARGETDURATION:{3}",
                 f"#EXT-X-MEDIA-SEQUENCE:{newest - LISTED}"]
        if hostile:
            lines += self.head()
        for number in range(newest - LISTED, newest):
            if number % len(self.media) == 0:
                lines.append("#EXT-X-DISCONTINUITY")
            if hostile:
                lines += self.before(number)
            lines += ["#EXTINF:2,", f"{extension}{number}{suffix}"]
        if hostile:
            lines += self.after()
        return ("\n".join(lines) + "\n").encode()

    # What is hostile about a playlist

    def head(self):
        if self.case == "define":
            return [f'#EXT-X-DEFINE:NAME="v",VALUE="{"x" * 60_000}"'] + [
                "#EXTINF:0.001,\n/gone{$v}" + str(n) for n in range(30_000)]
        if self.case == "date_ranges":
            return self.kept("ranges", lambda: [
                f'#EXT-X-DATERANGE:ID="{n}",START-DATE="2026-01-01T00:00:00Z",DURATION=1' for n in range(100_000)])
        if self.case == "keys":
            return self.kept("keys", lambda: [
                f'#EXT-X-KEY:METHOD=AES-128,URI="/k",KEYFORMAT="f{n}"' for n in range(100_000)]) + [
                    "#EXT-X-KEY:METHOD=NONE"]
        if self.case == "comments":
            return self.kept("comments", lambda: ["#" + "c" * 1022 for _ in range(15 << 10)])
        if self.case == "lines":
            return self.kept("lines", lambda: ["#"] * 7_000_000)
        if self.case == "uri":
            return ["#EXTINF:0.001,\n/" + self.kept("uri", lambda: "u" * (15 * MIB))]
        if self.case == "segments":
            return self.kept("segments", lambda: ["#EXTINF:1,\na"] * 700_000)
        if self.case == "long_uris":
            return self.kept("long", lambda: [f"#EXTINF:1,\n/{n}{'u' * 300}" for n in range(45_000)])
        return []

    def before(self, number):
        if self.case == "cues":
            return self.kept("cues", lambda: [f"#EXT-X-CUE-OUT-CONT:{n}/100000" for n in range(20_000)])
        if self.case == "maps":
            return [f'#EXT-X-MAP:URI="/map/{number}"']
        return []

    def after(self):
        if self.case == "trailing":
            return self.kept("trailing", lambda: ["#EXT-X-DISCONTINUITY"] * 200_000)
        return []

    def send_playlist(self, request):
        if self.case == "slow_playlist":
            request.send_response(200)
            request.end_headers()
            for byte in self.playlist():
                request.wfile.write(bytes([byte]))
                time.sleep(0.5)
        return self.send(request, self.playlist())

    # What is hostile about media

    def send_segment(self, request, number):
        if self.case == "big":
            return self.stream(request, 250 * MIB)
        if self.case == "big_companion" and request.path.startswith("/audio"):
            return self.stream(request, 250 * MIB)
        if self.case == "large" and self.heavy:
            return self.send(request, self.heavy, "video/mp2t", length=False)
        if self.case == "gzip":
            body = self.kept("bomb", lambda: gzip_bomb(250 * MIB, self.media[0]))
            return self.send(request, body, "video/mp2t")
        if self.case == "gzip_large" and self.heavy:
            return self.send(request, self.kept("large", lambda: gzip.compress(self.heavy, 1)), "video/mp2t")
        if self.case == "null_packets":
            return self.send(request, self.kept("null", lambda: self.media[0] + null_packets(30 * MIB)), "video/mp2t")
        if self.case == "random":
            return self.send(request, random.Random(number).randbytes(500_000), "video/mp2t")
        if self.case == "slow_segment":
            request.send_response(200)
            request.send_header("Content-Length", "1000000")
            request.end_headers()
            for _ in range(600):
                request.wfile.write(b"\x47" + bytes(299))
                time.sleep(0.5)
        return self.send(request, self.media[number % len(self.media)], "video/mp2t")

    def send_subtitles(self, request):
        if self.case == "vtt_bomb":
            body = self.kept("vtt", lambda: gzip_bomb(100 * MIB, b"WEBVTT\n\n"))
            return self.send(request, body, "text/vtt")
        if self.case == "vtt_bomb_encoded":
            body = self.kept("vtt", lambda: gzip_bomb(100 * MIB, b"WEBVTT\n\n"))
            return self.send(request, body, "text/vtt", encoding="gzip")
        if self.case == "vtt_cues":
            body = self.kept("cues", lambda: ("WEBVTT\n\n" + "".join(
                f"00:00:{n % 60:02}.000 --> 99:00:00.000\n{n}\n\n" for n in range(90_000))).encode())
            return self.send(request, body, "text/vtt")
        return self.send(request, b"WEBVTT\n\n00:00:00.000 --> 00:00:02.000\na\n", "text/vtt")


MASTERS = {"vtt", "vtt_bomb", "vtt_bomb_encoded", "vtt_cues", "big_companion", "vod_all"}
CASES = [
    "good", "define", "date_ranges", "keys", "trailing", "cues", "comments", "segments", "long_uris", "uri", "lines",
    "vtt_bomb", "vtt_bomb_encoded", "vtt_cues", "vod_all", "maps", "big", "big_companion", "gzip", "large", "gzip_large",
    "null_packets", "random", "slow_playlist", "slow_segment",
]
