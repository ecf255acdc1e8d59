#!/usr/bin/env bash
# ffmpeg announces an AV1 variant without CODECS, so that nobody can see that it is AV1.
#
# Guess: the HLS muxer writes CODECS for everything that it packages, av01.… too.
# Seen: ffmpeg 9.0.2 writes CODECS for H.264, VP9 and HEVC with -tag:v hvc1. For AV1, and for HEVC with the default tag hev1,
#   the attribute is absent from the master playlist, also that of the audio in the same variant.
# Matters: players and relays choose variants by CODECS. One without it looks like one that everybody can play, and is chosen
#   for its bandwidth, by clients that then cannot decode it.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq imageio-ffmpeg==0.8.1
cd "$scratch"
ffmpeg=$(venv/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')

# package ENCODER…: prints the CODECS of the variant, or "none".
package() {
    "$ffmpeg" -nostdin -v error -y -f lavfi -i testsrc=s=160x90:r=25 -f lavfi -i sine=r=48000 -t 2 -pix_fmt yuv420p \
        -c:v "$@" -c:a aac -f hls -hls_segment_type fmp4 -master_pl_name master.m3u8 media.m3u8 2>encoder.log
    grep -q '^#EXT-X-STREAM-INF:.*RESOLUTION=160x90' master.m3u8
    grep -o 'CODECS="[^"]*"' master.m3u8 || echo none
}
declare -A seen
seen[h264]=$(package libx264 -preset ultrafast)
seen[vp9]=$(package libvpx-vp9 -deadline realtime -cpu-used 8)
seen[hvc1]=$(package libx265 -preset ultrafast -tag:v hvc1)
seen[hev1]=$(package libx265 -preset ultrafast)
seen[av1]=$(package libaom-av1 -usage realtime -cpu-used 8)
for name in h264 vp9 hvc1 hev1 av1; do echo "$name: ${seen[$name]}"; done
[[ ${seen[h264]} == *avc1* && ${seen[vp9]} == *vp09* && ${seen[hvc1]} == *hvc1* ]] || { echo changed; exit 1; }
[[ ${seen[hev1]} == none && ${seen[av1]} == none ]] || { echo changed; exit 1; }
