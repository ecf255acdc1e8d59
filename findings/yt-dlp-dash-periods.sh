#!/usr/bin/env bash
# yt-dlp downloads the ad of a DASH presentation in place of the program.
#
# Guess: periods of a manifest follow one another, so a representation that has the same id in all periods is one format.
# Seen: yt-dlp 2026.10.26 joins periods only if everything about them is the same, the BaseURL too. Any other period becomes
#   a format of its own. Of a program of 8 s in 160x90 with an ad of 2 s in 320x180 in its middle, the best format is the
#   ad, and none of the others is more than half of the program.
# Matters: an ad-stitched archive in DASH, downloaded by default, is one advertisement with exit status 0.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq yt-dlp==2026.10.26 imageio-ffmpeg==0.8.1
cd "$scratch"
venv/bin/python - <<'END'
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

import imageio_ffmpeg

FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


periods, start = "", 0
for name, width, seconds in ("before", 160, 4), ("ad", 320, 2), ("after", 160, 4):
    pathlib.Path("www", name).mkdir(parents=True)
    subprocess.run([FFMPEG, "-v", "error", "-f", "lavfi", "-i", f"testsrc=s={width}x{width * 9 // 16}:r=25", "-t",
                    str(seconds), "-c:v", "libx264", "-g", "50", "-sc_threshold", "0", "-bf", "0", "-f", "dash",
                    "-seg_duration", "2", "-init_seg_name", "init.mp4", "-media_seg_name", "$Number$.m4s",
                    f"www/{name}/own.mpd"], check=True)
    periods += (f'<Period id="{name}" start="PT{start}S" duration="PT{seconds}S"><BaseURL>{name}/</BaseURL>'
                f'<AdaptationSet mimeType="video/mp4"><Representation id="video" bandwidth="100000" codecs="avc1.42c00b" '
                f'width="{width}" height="{width * 9 // 16}"><SegmentTemplate timescale="1" duration="2" startNumber="1" '
                f'initialization="init.mp4" media="$Number$.m4s"/></Representation></AdaptationSet></Period>')
    start += seconds
pathlib.Path("www/all.mpd").write_text(
    '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" minBufferTime="PT2S" '
    f'mediaPresentationDuration="PT{start}S" profiles="urn:mpeg:dash:profile:isoff-live:2011">{periods}</MPD>')

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory="www"))
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/all.mpd"
os.environ |= {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
command = ["venv/bin/yt-dlp", "--ignore-config", "--quiet", "--no-warnings"]
formats = json.loads(subprocess.run([*command, "--dump-json", url], check=True, stdout=subprocess.PIPE).stdout)["formats"]
for one in formats:
    print(f"format {one['format_id']}: {one['width']}x{one['height']}, {len(one['fragments']) - 1} segments of 2 s")
subprocess.run([*command, "--fixup", "never", "--format", "bestvideo", "--output", "best.mp4", url], check=True)
packets = subprocess.run([FFMPEG, "-v", "error", "-i", "best.mp4", "-map", "0", "-c", "copy", "-f", "framecrc", "-"],
                         check=True, stdout=subprocess.PIPE).stdout
frames = packets.count(b"\n0,")
print(f"the best format has {frames} of {25 * start} frames")
if len(formats) != 3 or frames != 50:
    sys.exit("changed")
END
