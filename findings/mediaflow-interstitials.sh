#!/usr/bin/env bash
# MediaFlow Proxy sends the playlist of an interstitial as a segment, so that the ad's segments cannot be found.
#
# Guess: a proxy that rewrites the URIs of a playlist leaves X-ASSET-URI of EXT-X-DATERANGE as it is.
# Seen: mediaflow-proxy 2.4.9 rewrites X-ASSET-URI too, and makes …/hls/segment.ts?d=… of the playlist that it names. Asked
#   for it, it sends the ad's playlist unchanged, with the type video/mp2t. Its relative URIs now point into the proxy,
#   which answers 400.
# Matters: interstitials name ads that players load by themselves. Behind this proxy they fail, while the channel plays.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq mediaflow-proxy==2.4.9
cd "$scratch"
venv/bin/python - <<'END'
import http.server
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

FILES = {"/live.m3u8": """#EXTM3U
#EXT-X-TARGETDURATION:6
#EXT-X-MEDIA-SEQUENCE:1
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T12:00:00.000Z
#EXT-X-DATERANGE:ID="ad",CLASS="com.apple.hls.interstitial",START-DATE="2026-11-29T12:00:06Z",X-ASSET-URI="ads/ad.m3u8"
#EXTINF:6,
1.ts
""", "/ads/ad.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nad-1.ts\n#EXT-X-ENDLIST\n", "/ads/ad-1.ts": "segment"}


class Origin(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        body = FILES.get(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "application/vnd.apple.mpegurl" if "m3u8" in self.path else "video/mp2t")
        self.end_headers()
        self.wfile.write((body or "").encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
threading.Thread(target=server.serve_forever, daemon=True).start()
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
plain = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
get = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
proxy = subprocess.Popen(["venv/bin/uvicorn", "mediaflow_proxy.main:app", "--host", "127.0.0.1", "--port", str(port)],
                         env=plain | {"API_PASSWORD": "word"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for _ in range(120):
        if socket.socket().connect_ex(("127.0.0.1", port)) == 0:
            break
        time.sleep(0.5)
    origin = urllib.parse.quote(f"http://127.0.0.1:{server.server_port}/live.m3u8", safe="")
    text = get(f"http://127.0.0.1:{port}/proxy/hls/manifest.m3u8?api_password=word&d={origin}", timeout=30).read().decode()
    asset = re.search('X-ASSET-URI="([^"]*)"', text)[1]
    answer = get(asset, timeout=30)
    kind, ad = answer.headers["Content-Type"], answer.read().decode()
    try:
        status = get(urllib.parse.urljoin(asset, ad.splitlines()[3]), timeout=30).status
    except urllib.error.HTTPError as error:
        status = error.code
    print(f"X-ASSET-URI: {urllib.parse.urlsplit(asset).path}; its answer: {kind}, {ad.splitlines()}; its segment: {status}")
finally:
    proxy.terminate()
    proxy.wait()
if "/segment." not in asset or ad != FILES["/ads/ad.m3u8"] or status < 400:
    sys.exit("changed")
END
