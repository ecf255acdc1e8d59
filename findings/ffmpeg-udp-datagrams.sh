#!/usr/bin/env bash
# ffmpeg sends transport streams in datagrams that begin in the middle of a packet.
#
# Guess: -f mpegts udp://… puts seven packets of 188 bytes into each datagram, as everybody does.
# Seen: ffmpeg 9.0.2 fills datagrams up to 1472 bytes, 7.8 packets. Most datagrams are no multiple of 188 bytes, and those after
#   a full one begin inside a packet. ?pkt_size=1316 gives whole packets. Debian's ffmpeg 5.1.9 does the same.
# Matters: receivers that look for 0x47 at the beginning of each datagram, as sockets of set-top boxes and multicast relays
#   do, lose a part of what an ffmpeg without pkt_size sends. ffmpeg itself reads it as a stream of bytes.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq imageio-ffmpeg==0.8.1
"$scratch/venv/bin/python" - <<'END'
import socket
import subprocess
import sys
import threading

import imageio_ffmpeg

seen = []
for query in "", "?pkt_size=1316":
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(5)
    datagrams = []

    def receive():
        try:
            while True:
                datagrams.append(receiver.recv(65536))
        except TimeoutError:
            pass

    thread = threading.Thread(target=receive)
    thread.start()
    url = f"udp://127.0.0.1:{receiver.getsockname()[1]}{query}"
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
                    "testsrc2=s=320x180:r=25", "-t", "4", "-c:v", "mpeg2video", "-b:v", "2M", "-f", "mpegts", url], check=True)
    thread.join()
    receiver.close()
    uneven = sum(len(data) % 188 != 0 for data in datagrams)
    inside = sum(data[0] != 0x47 for data in datagrams)
    largest = max(map(len, datagrams))
    print(f"{url.partition('?')[2] or 'no pkt_size'}: {len(datagrams)} datagrams of up to {largest} bytes, {uneven} of them no "
          f"multiple of 188, {inside} beginning inside a packet")
    seen.append((largest, uneven > len(datagrams) // 3, inside > len(datagrams) // 5))
if seen != [(1472, True, True), (1316, False, False)]:
    sys.exit("changed")
END
