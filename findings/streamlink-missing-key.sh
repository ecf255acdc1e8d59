#!/usr/bin/env bash
# One missing key ends a recording by streamlink, and its exit status is 0.
#
# Guess: a segment whose key cannot be loaded is skipped, as one is that cannot be loaded itself.
# Seen: streamlink 8.6.3 asks for the key some times in two seconds. Then it says "Failed to create decryptor", stops,
#   and ends with status 0, although the next segments have a key that it knows. Of a live channel of 12 segments
#   whose sixth has no key, 5 are written; if the sixth itself is absent, 11.
# Matters: rotating keys come from another server than segments, and are late at times. A recording that ended early looks
#   like one whose channel has ended.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq streamlink==8.6.3
cd "$scratch"
venv/bin/python - <<'END'
import http.server
import os
import re
import subprocess
import sys
import threading
import time

from Crypto.Cipher import AES

KEY, COUNT, WINDOW, ABSENT = bytes(16), 12, 5, 5


class Origin(http.server.BaseHTTPRequestHandler):
    """A live channel of segments of 1 s, each named by its number, with the sequence number as IV."""

    begin = {}

    def log_message(self, *_):
        pass

    def do_GET(self):
        _, channel, name = self.path.split("/")
        if name == ("rotated.bin" if channel == "key" else f"{ABSENT}.ts"):
            return self.send_error(404)
        body = KEY
        if name == "live.m3u8":
            age = time.monotonic() - self.begin.setdefault(channel, time.monotonic())
            newest = min(COUNT - 1, int(age) + WINDOW - 1)
            body = self.playlist(channel, range(max(0, newest - WINDOW + 1), newest + 1), newest == COUNT - 1).encode()
        elif name.endswith(".ts"):
            number = int(name.removesuffix(".ts"))
            cipher = AES.new(KEY, AES.MODE_CBC, number.to_bytes(16, "big"))
            body = cipher.encrypt(f"<{number:02}>".encode() + bytes([12] * 12))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def playlist(self, channel, numbers, is_last):
        lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:1", f"#EXT-X-MEDIA-SEQUENCE:{numbers[0]}"]
        for number in numbers:
            key = "rotated" if channel == "key" and number == ABSENT else "first"
            lines += [f'#EXT-X-KEY:METHOD=AES-128,URI="{key}.bin"', "#EXTINF:1,", f"{number}.ts"]
        return "\n".join([*lines, *["#EXT-X-ENDLIST"] * is_last, ""])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ |= {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
seen = {}
for channel in "segment", "key":
    url = f"http://127.0.0.1:{server.server_port}/{channel}/live.m3u8"
    command = ["venv/bin/streamlink", "--no-config", "--hls-live-edge", "99", "--output", f"{channel}.ts", url, "best"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    written = [int(number) for number in re.findall(r"<(\d\d)>", open(f"{channel}.ts").read())]
    seen[channel] = run.returncode, written
    print(f"{channel} of segment {ABSENT} absent: status {run.returncode}, segments {written}")
    print(*("  " + re.sub(r"http\S+/", "…/", line) for line in run.stdout.splitlines() if "[error]" in line), sep="\n")
others = [number for number in range(COUNT) if number != ABSENT]
if seen != {"segment": (0, others), "key": (0, list(range(ABSENT)))}:
    sys.exit("changed")
END
