#!/usr/bin/env bash
# ffmpeg writes AV1 into a transport stream that ffmpeg cannot read.
#
# Guess: ffmpeg reads AV1 from the transport streams that it writes. There is a specification for it, by AOM.
# Seen: ffmpeg 9.0.2 ends with status 0 and a warning. The stream has type 0x06 without the registration "AV01", and reading
#   it gives a data stream "bin_data". No frame can be decoded.
# Matters: -c copy from an AV1 source to .ts, a pipe or a recording looks right by its size and status, and holds nothing
#   that a player shows.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq imageio-ffmpeg==0.8.1
cd "$scratch"
ffmpeg=$(venv/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')

"$ffmpeg" -nostdin -v error -f lavfi -i testsrc=s=160x90:r=25 -t 1 -pix_fmt yuv420p -c:v libaom-av1 -usage realtime \
    -cpu-used 8 source.mkv
"$ffmpeg" -nostdin -v warning -i source.mkv -c copy -f mpegts copy.ts 2>copy.log
frames() { "$ffmpeg" -nostdin -v error -i "$1" -map 0:v -f framecrc - 2>/dev/null | grep -vc '^#' || true; }
# It ends with status 1, because no output is given.
streams=$("$ffmpeg" -nostdin -hide_banner -i copy.ts 2>&1 | grep 'Stream #' || true)
echo "frames in the source: $(frames source.mkv), in the copy of $(stat -c %s copy.ts) bytes: $(frames copy.ts)"
echo "the copy: $streams"
grep -o 'Stream 0, codec av1.*' copy.log
[[ $(frames source.mkv) == 25 && $(frames copy.ts) == 0 && $streams == *'Data: bin_data'* ]] || { echo changed; exit 1; }
if grep -q AV01 copy.ts; then echo changed; exit 1; fi
