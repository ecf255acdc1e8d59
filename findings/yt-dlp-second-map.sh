#!/usr/bin/env bash
# yt-dlp refuses a finished playlist of fragmented MP4 with an ad break.
#
# Guess: at a second EXT-X-MAP, yt-dlp writes the second init section into the file, as streamlink does.
# Seen: yt-dlp 2026.10.26 downloads finished playlists by itself. It ends with "Initialization fragment found after media
#   fragments, unable to download", and leaves an empty file. streamlink 8.6.3 writes both init sections at their places.
# Matters: a channel whose ads have other parameters needs an EXT-X-MAP after each discontinuity. yt-dlp cannot download
#   its catch-up and its archive as fragmented MP4 by itself.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq yt-dlp==2026.10.26 streamlink==8.6.3 imageio-ffmpeg==0.8.1
cd "$scratch"
venv/bin/python - <<'END'
import functools
import http.server
import os
import pathlib
import subprocess
import sys
import threading

import imageio_ffmpeg


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


playlist = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2"]
for name, size in ("program", "160x90"), ("ad", "320x180"):
    pathlib.Path("www", name).mkdir(parents=True)
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", f"testsrc=s={size}:r=25", "-t", "4",
                    "-c:v", "libx264", "-g", "50", "-sc_threshold", "0", "-f", "hls", "-hls_list_size", "0",
                    "-hls_segment_type", "fmp4", f"www/{name}/list.m3u8"], check=True)
    playlist += ["#EXT-X-DISCONTINUITY"] * (name == "ad") + [f'#EXT-X-MAP:URI="{name}/init.mp4"']
    playlist += ["#EXTINF:2,", f"{name}/list0.m4s", "#EXTINF:2,", f"{name}/list1.m4s"]
pathlib.Path("www/all.m3u8").write_text("\n".join([*playlist, "#EXT-X-ENDLIST", ""]))
maps = [pathlib.Path("www", name, "init.mp4").read_bytes() for name in ("program", "ad")]

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory="www"))
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/all.m3u8"
os.environ |= {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
seen = {}
for name, words in {
        "streamlink": ["--no-config", "--output", "streamlink.mp4", url, "best"],
        "yt-dlp": ["--ignore-config", "--no-part", "--output", "yt-dlp.mp4", url]}.items():
    process = subprocess.run([f"venv/bin/{name}", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    data = pathlib.Path(f"{name}.mp4").read_bytes()
    seen[name] = [process.returncode, *(data.count(part) for part in maps)]
    print(f"{name}: status {process.returncode}, {len(data)} bytes, init sections {seen[name][1:]}")
print(process.stdout.strip().splitlines()[-1])
if seen != {"streamlink": [0, 1, 1], "yt-dlp": [1, 0, 0]} or "Initialization fragment" not in process.stdout:
    sys.exit("changed")
END
