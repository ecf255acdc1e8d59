"""Plays a URL by PyAV, libvlc or GStreamer, and prints what was seen as JSON: `viewer.py KIND URL SECONDS`.

`frames` are [seconds, number] of each frame in the order of its arrival, `version` is the player's. Each kind runs in a
process of its own, because it may crash, and by the Python that has its package.
"""

import json
import os
import sys
import time


def number(luma, stride):
    """The number in the 16 cells at the top of a frame (Captures/README.md), read at the middle of each cell."""
    row = 24 * stride
    return int("".join("1" if luma[row + 24 + 16 * cell] > 128 else "0" for cell in range(16)), 2)


class Stands:
    """Counts how often the position stood for a second."""

    def __init__(self):
        self.position, self.moved, self.is_standing, self.count = None, time.monotonic(), False, 0

    def record(self, position):
        now = time.monotonic()
        if position != self.position:
            self.position, self.moved, self.is_standing = position, now, False
        elif self.position and not self.is_standing and now - self.moved > 1:
            self.is_standing, self.count = True, self.count + 1


def by_av(url, seconds):
    import av
    frames, deadline = [], time.monotonic() + seconds
    said = []
    with av.open(url, timeout=20) as container:
        try:
            for frame in container.decode(video=0):
                luma = frame.planes[0]
                frames.append([float(frame.time), number(memoryview(luma), luma.line_size)])
                if time.monotonic() > deadline:
                    break
        except av.error.FFmpegError as error:
            said.append(str(error))
    return {"version": f"{av.__version__}, FFmpeg {av.ffmpeg_version_info}", "frames": frames, "said": said}


def by_vlc(url, seconds):
    """Counts alone: libvlc scales each frame to the size of the first before a program may look at it."""
    import vlc
    player = vlc.Instance("--aout=dummy", "--vout=dummy", "--quiet").media_player_new(url)
    player.play()
    stands, deadline, times, counts = Stands(), time.monotonic() + seconds, [], vlc.MediaStats()
    while time.monotonic() < deadline and player.get_state() not in (vlc.State.Ended, vlc.State.Error):
        stands.record(player.get_time())
        times.append(player.get_time() / 1000)
        time.sleep(0.1)
    state = str(player.get_state()).rpartition(".")[2]
    player.get_media().get_stats(counts)
    return {"version": vlc.libvlc_get_version().decode(), "decoded": counts.decoded_video, "dropped": counts.lost_pictures,
            "displayed": counts.displayed_pictures, "times": times, "stalls": stands.count, "said": [] if state == "Playing" else [state]}


def by_gstreamer(url, seconds):
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    player = Gst.ElementFactory.make("playbin3")
    player.set_property("uri", Gst.filename_to_uri(url) if url.startswith("/") else url)
    video = Gst.parse_bin_from_description("videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink sync=true", True)
    player.set_property("video-sink", video)
    audio = Gst.parse_bin_from_description("audioconvert ! audio/x-raw ! appsink name=sink sync=true", True)
    player.set_property("audio-sink", audio)
    frames, ends, said = [], {}, []

    def running_end(sample):
        buffer = sample.get_buffer()
        return sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts) / Gst.SECOND

    def see(sink):
        sample = sink.emit("pull-sample")
        width = sample.get_caps().get_structure(0).get_int("width")[1]
        time = running_end(sample)
        data = sample.get_buffer().extract_dup(0, 32 * (width + 3))
        frames.append([time, number(data, width + -width % 4)])
        ends["video"] = time
        return Gst.FlowReturn.OK

    def hear(sink):
        ends["audio"] = running_end(sink.emit("pull-sample"))
        return Gst.FlowReturn.OK

    for bin, receive in ((video, see), (audio, hear)):
        sink = bin.get_by_name("sink")
        sink.set_property("emit-signals", True)
        sink.connect("new-sample", receive)
    player.set_state(Gst.State.PLAYING)
    bus, deadline, stands, kinds = player.get_bus(), time.monotonic() + seconds, Stands(), Gst.MessageType
    while time.monotonic() < deadline:
        message = bus.timed_pop(100 * Gst.MSECOND)
        stands.record(player.query_position(Gst.Format.TIME)[1])
        if message and message.type == kinds.EOS:
            said.append("EOS")
            break
        if message and message.type == kinds.ERROR:
            said.append(message.parse_error()[0].message)
            break
        if message and message.type == kinds.LATENCY:
            player.recalculate_latency()
    player.set_state(Gst.State.NULL)
    offset = round((ends["audio"] - ends["video"]) * 1000) if len(ends) == 2 else None
    return {"version": Gst.version_string(), "frames": frames, "stalls": stands.count, "said": said, "offset_ms": offset}


def main():
    kind, url, seconds = sys.argv[1:]
    print(json.dumps({"av": by_av, "vlc": by_vlc, "gstreamer": by_gstreamer}[kind](url, float(seconds))), flush=True)
    os._exit(0)  # libvlc may wait for ever for its own threads


if __name__ == "__main__":
    main()
