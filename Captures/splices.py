"""Captures of splices: one for each family of ways in which a programme gives way to another."""

import dataclasses
from fractions import Fraction

import fields
from channel import Channel, Rendition, at, before_wrap
from playlists import HOST, PLAYLIST, Manner, empty, rendition, write_index
from programmes import Footage, Programme
from transport import Layout

MAIN = Programme("main", 1, Fraction(10))
AD = Programme(
    "ad", 2, Fraction(3), picture="smptehdbars", rate="30", profile="baseline", b_frames=0, sample_rate=44100,
    channels=1)
AD_LAYOUT = Layout(program=7, pmt=0x20, video_pid=0x30, audio_pid=0x31)


def publish(channel, main, about, manner=Manner(), more=()):
    """`more`: exchanges besides those of the playlist and its segments."""
    channel.write_shown()
    write_index(
        channel.directory, "main.m3u8", about, [*more, *rendition("main.m3u8", main.entries, manner)])


def tagged_late():
    channel = Channel("tagged_late")
    main = Rendition(channel)
    break_of_main(main)
    publish(
        channel, main, "Both discontinuities of an ad break are tagged one reload late.",
        Manner(tags_late=1, window=4, sequence=40))


def break_of_main(main):
    footage, ad = Footage(MAIN), Footage(AD)
    main.play(footage, 0, 4, at(7200))
    main.play(ad, 0, 3, at(2), AD_LAYOUT, tagged=True)
    main.play(footage, 7, 10, at(7200), tagged=True)


def tags_wrong():
    """The media of tagged_late: tags where nothing changes, one missing, numbers that do not count."""
    late, wrong = Channel("tagged_late"), empty("tags_wrong")
    main = Rendition(late)
    break_of_main(main)
    late.write_shown()
    (wrong / "body").symlink_to("../tagged_late/body")
    (wrong / "shown.txt").write_text((late.directory / "shown.txt").read_text())
    for index, entry in enumerate(main.entries):
        entry.discontinuity = index in (2, 4, 6)
    manner = Manner(window=3, sequence=40, numbered=lambda gone: (7, 7, 3, None)[gone])
    write_index(
        wrong, "main.m3u8", "Tags where nothing changes, a discontinuity without one, a wrong EXT-X-DISCONTINUITY-SEQUENCE.",
        rendition("main.m3u8", main.entries, manner))


def pod_of_ten():
    channel = Channel("pod_of_ten")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(5)))
    main.play(footage, 0, 2, at(3600))
    for number in range(2, 12):
        seconds = Fraction(8, 5)
        ad = Programme(f"ad{number - 1}", number, seconds, picture="smptehdbars", group=48, bitrate="32k")
        if number % 2:
            ad = dataclasses.replace(ad, rate="30", profile="baseline", b_frames=0, sample_rate=44100, channels=1)
        main.play(Footage(ad), 0, seconds, at(Fraction(7, 5)), tagged=True, step=seconds)
    main.play(footage, 2, 5, at(3616), tagged=True)
    publish(channel, main, "Ten ads of 1.6 s, each from the same clock on, every other one of the same configuration.")


def ladder_pod():
    channel = Channel("ladder_pod")
    heights, exchanges, lines = (160, 128, 96), [], ["#EXTM3U"]
    for index, height in enumerate(heights):
        shown = list(channel.shown)
        variant = Rendition(channel, f"{height}-")
        size, layout = f"288x{height}", Layout(audio=None) if index else Layout()
        footage = Footage(dataclasses.replace(MAIN, picture="smptehdbars", size=size, seconds=Fraction(6)))
        first = Footage(dataclasses.replace(AD, size=size, seconds=Fraction(2)))
        # The second ad has two variants.
        second = Footage(dataclasses.replace(
            AD, name="ad2", number=3, size=f"288x{(160, 96, 96)[index]}", seconds=Fraction(1)))
        variant.play(footage, 0, 3, at(100), layout)
        variant.play(first, 0, 2, at(2), layout, tagged=True)
        variant.play(second, 0, 1, at(2), layout, tagged=True)
        variant.play(footage, 3, 6, at(106), layout, tagged=True)
        bandwidth = 2000 * height
        lines += [f"#EXT-X-STREAM-INF:BANDWIDTH={bandwidth},RESOLUTION={size}", f"{height}.m3u8"]
        exchanges += rendition(f"{height}.m3u8", variant.entries, Manner())
        if index:
            channel.shown = shown
            exchanges.append({"at": 1.5 * index - 0.5, "demand": f"{height}.{bandwidth}"})
    exchanges.append({
        "at": 0, "url": HOST + "master.m3u8", "status": 200, "headers": PLAYLIST, "text": "\n".join(lines) + "\n"})
    channel.write_shown()
    write_index(
        channel.directory, "master.m3u8", "Three variants, asked for one after the other, and a pod whose second ad has two.",
        exchanges, variants="all", onDemand=True)


def ad_clocks():
    channel = Channel("ad_clocks")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(6)))
    ads = [Footage(dataclasses.replace(AD, name=name, number=number, seconds=Fraction(2), b_frames=2, profile="main"))
           for number, name in enumerate(("wrapping", "inverted", "apart"), 2)]
    main.play(footage, 0, 2, at(5000))
    main.play(ads[0], 0, 2, before_wrap(1), AD_LAYOUT, tagged=True)
    main.play(ads[1], 0, 2, before_wrap(3), AD_LAYOUT, tagged=True, dts_ahead=at(Fraction(16, 5)))
    main.play(footage, 2, 4, at(5004), tagged=True)
    main.play(ads[2], 0, 2, at(2), AD_LAYOUT, tagged=True, audio_clock=at(41234))
    main.play(footage, 4, 6, at(5006), tagged=True)
    publish(
        channel, main,
        "Ads whose clock wraps, whose decoding times are after their presentation times, whose sound has its own clock.")


def seam_times():
    channel = Channel("seam_times")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(8)))
    ad = Footage(dataclasses.replace(AD, seconds=Fraction(2)))
    follower = Footage(dataclasses.replace(MAIN, name="next", number=3, seconds=Fraction(2)))
    main.play(footage, 0, 2, at(100))
    main.play(ad, 0, 2, at(102 - Fraction(2, 5)), AD_LAYOUT)  # overlap, another configuration
    main.play(footage, 2, 4, at(102 - Fraction(2, 5) + Fraction(4, 5)), tagged=True)  # gap of 0.8 s
    main.play(footage, 4, 6, at(102 - Fraction(2, 5) + Fraction(4, 5) + Fraction(3, 10)))  # hole of 0.3 s, nothing else
    main.play(follower, 0, 2, at(108 - Fraction(1, 10)))  # overlap of 0.8 s, the same configuration
    main.play(footage, 6, 8, at(104))  # gap of 0.1 s
    publish(channel, main, "Timestamps that overlap at a seam, or leave a gap, with and without another configuration.")


def wrap_demuxed():
    channel = Channel("wrap_demuxed")
    footage = Footage(dataclasses.replace(MAIN, name="video", seconds=Fraction(8)))
    video, audio = Rendition(channel, "v"), Rendition(channel, "a")
    clock = before_wrap(Fraction(7, 2))
    video.play(footage, 0, 8, clock, Layout(audio=None))
    play_sound(audio, footage, (0, 2, 4, 6, 8), clock)
    publish_apart(
        channel, video, audio, "The clock wraps in mid-segment, in the audio rendition before the video.",
        Manner(sequence=500), Manner(sequence=70, first_window=2))


def play_sound(rendition, footage, borders, clock, tagged=False):
    for start, end in zip(borders, borders[1:]):
        data = rendition.piece(footage, start, end, clock, Layout(video=None))
        rendition.add(footage.programme.name, data, Fraction(end - start), tagged and start == borders[0])


def publish_apart(
    channel, video, audio, about, video_manner, audio_manner, audio_kind="video/mp2t", codecs="mp4a.40.2"
):
    channel.write_shown()
    text = "\n".join([
        "#EXTM3U", "#EXT-X-VERSION:4",
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,'
        'URI="audio.m3u8"',
        f'#EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="avc1.64000c,{codecs}",RESOLUTION=288x160,FRAME-RATE=25.000,'
        'AUDIO="sound"', "video.m3u8"]) + "\n"
    master = {"at": 0.0, "url": HOST + "master.m3u8", "status": 200, "headers": PLAYLIST, "text": text}
    write_index(
        channel.directory, "master.m3u8", about,
        [master, *rendition("video.m3u8", video.entries, video_manner),
         *rendition("audio.m3u8", audio.entries, audio_manner, audio_kind)])


def renditions_apart():
    channel = Channel("renditions_apart")
    footage, ad = Footage(MAIN), Footage(dataclasses.replace(AD, channels=2, sample_rate=48000))
    video, audio = Rendition(channel, "v"), Rendition(channel, "a")
    video.play(footage, 0, 4, at(900), Layout(audio=None))
    play_sound(audio, footage, (0, 1, 2, 3, 4), at(900))
    video.play(ad, 0, 3, at(2), Layout(audio=None), tagged=True)
    play_sound(audio, ad, (0, 1, 2, 3), at(2), tagged=True)
    video.play(footage, 7, 10, at(900), Layout(audio=None), tagged=True)
    play_sound(audio, footage, (7, 8, 9, 10), at(900), tagged=True)
    publish_apart(
        channel, video, audio,
        "An ad break in both renditions, listed by the sound's 3 s late, its end by the picture's 2 s.",
        Manner(sequence=11, lags=((7, 10, 2),)), Manner(sequence=3, lags=((4, 7, 3),)))


def open_gop():
    channel = Channel("open_gop")
    main = Rendition(channel)
    footage = Footage(dataclasses.replace(
        MAIN, seconds=Fraction(8), b_frames=4, options="open-gop=1:b-adapt=0:b-pyramid=0",
        refreshes="expr:gte(t,n_forced*2)"))
    ad = Footage(dataclasses.replace(AD, seconds=Fraction(2)))
    hevc = Footage(dataclasses.replace(
        MAIN, name="hevc", number=3, codec="hevc", seconds=Fraction(3), b_frames=4,
        options="open-gop=1:b-adapt=0:b-pyramid=0"))
    main.play(footage, 0, 2, at(300))
    main.play(ad, 0, 2, at(2), AD_LAYOUT, tagged=True)
    main.play(hevc, 1, 3, at(40), Layout(video="hevc"), tagged=True)
    main.play(footage, 5, 8, at(300), tagged=True)
    publish(channel, main, "Open groups of pictures: leading pictures at a splice, and a return at a recovery point.")


def without_idr():
    channel = Channel("without_idr")
    main = Rendition(channel)
    footage = Footage(dataclasses.replace(
        MAIN, seconds=Fraction(8), b_frames=4, options="open-gop=1:b-adapt=0:b-pyramid=0"))
    refresh = Footage(dataclasses.replace(
        AD, name="refresh", seconds=Fraction(4), group=30, options="intra-refresh=1"))
    paff = fields.footage(
        dataclasses.replace(MAIN, name="paff", number=3, seconds=Fraction(4), interlaced=True), is_open=True)
    hevc = Footage(dataclasses.replace(
        MAIN, name="hevc", number=4, codec="hevc", seconds=Fraction(4), b_frames=4,
        options="open-gop=1:b-adapt=0:b-pyramid=0"))
    main.play(footage, 1, 4, at(300))
    main.play(refresh, 1, 4, at(2), AD_LAYOUT, tagged=True)
    main.play(paff, 1, 3, at(2), tagged=True)
    main.play(hevc, 1, 3, at(40), Layout(video="hevc"), tagged=True)
    main.play(footage, 5, 8, at(300), tagged=True)
    publish(
        channel, main,
        "No IDR picture: recovery points, intra refresh, pairs of field pictures, clean random access, recovery points.")


def mid_gop():
    channel = Channel("mid_gop")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(9)))
    ad = Footage(AD)
    late = Fraction(12, 25)
    main.play(footage, 0, 1 + late, at(300), step=1 + late)
    main.play(footage, 1 + late, 4 + late, at(300))
    main.play(ad, late, 3, at(2), AD_LAYOUT, tagged=True, step=Fraction(63, 50))
    main.play(footage, 6 + late, 9, at(300), tagged=True, step=Fraction(63, 50))
    publish(
        channel, main,
        "Segments cut in mid-group; an ad joined, and a programme taken up again, between IDR pictures.")


def parameter_sets():
    channel = Channel("parameter_sets")
    main = Rendition(channel)
    first = Footage(dataclasses.replace(MAIN, seconds=Fraction(6), options="weightp=2"))
    other = Footage(dataclasses.replace(
        AD, name="other", seconds=Fraction(4), size="320x176", channels=2, sample_rate=48000))
    plain = Footage(dataclasses.replace(MAIN, name="plain", number=3, seconds=Fraction(2), options="weightp=0"))
    require_pps_change(first, plain)
    main.play(first, 0, 2, at(50))
    main.play(other, 0, 2, at(52))
    moved = Layout(video_pid=0x150, audio_pid=0x101)
    main.play(first, 2, 4, at(52), moved)
    mixed = main.piece(first, 4, 5, at(52), moved) + main.piece(other, 2, 3, at(55), moved)
    main.add("first+other", mixed, 2)
    main.play(other, 3, 4, at(55), moved)
    main.play(first, 5, 6, at(54), moved)
    main.play(plain, 0, 2, at(60), moved)
    publish(
        channel, main,
        "Other parameter sets on one clock, untagged: on the same PID, on another, inside a segment, and a PPS alone.")


def require_pps_change(first, second):
    units = [[unit.rstrip(b"\0") for unit in footage.video[0].payload.split(b"\0\0\1")] for footage in (first, second)]
    sps, pps = ([next(unit for unit in each if unit[:1] and unit[0] & 31 == kind) for each in units] for kind in (7, 8))
    if sps[0] != sps[1] or pps[0] == pps[1]:
        raise SystemExit("parameter_sets: only the PPS was to be another one")


def two_switches():
    channel = Channel("two_switches")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(8)))
    bumper = Footage(dataclasses.replace(AD, name="bumper", seconds=Fraction(1)))
    clip = Footage(dataclasses.replace(MAIN, name="clip", number=3, seconds=Fraction(1)))
    main.play(footage, 0, 2, at(300))
    main.add("main+bumper+main", main.piece(footage, 2, 3, at(300)) + main.piece(bumper, 0, 1, at(2), AD_LAYOUT)
             + main.piece(footage, 3, 4, at(301)), 3)
    main.play(footage, 4, 5, at(301))
    main.add("main+clip+main", main.piece(footage, 5, 6, at(301)) + main.piece(clip, 0, 1, at(2))
             + main.piece(footage, 6, 7, at(302)), 3)
    main.play(footage, 7, 8, at(302))
    publish(
        channel, main,
        "Two switches of programme inside one segment, untagged: to other PIDs, and to another clock only.")


def audio_changes():
    channel = Channel("audio_changes")
    main, picture = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(12)), "v")
    sounds = [
        ("stereo", {}, {}), ("rate", {"sample_rate": 44100}, {}), ("mono", {"channels": 1}, {}),
        ("pid", {"channels": 1}, {"audio_pid": 0x111}), ("mp3", {"audio": "mp3", "bitrate": "48k"}, {"audio": "mp3"}),
        ("ac3", {"audio": "ac3", "bitrate": "64k"}, {"audio": "ac3"})]
    for index, (name, encoder, place) in enumerate(sounds):
        sound = Footage(dataclasses.replace(picture.programme, name=name, **encoder), "a")
        picture.audio = sound.audio
        for start in (2 * index, 2 * index + 1):
            main.add(name, main.piece(picture, start, start + 1, at(60), Layout(**place)), 1)
    publish(channel, main, "The sound alone changes, untagged: rate, channels, PID, and codec twice.")


def video_codecs():
    channel = Channel("video_codecs")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(4)))
    hevc = Footage(dataclasses.replace(MAIN, name="hevc", number=2, seconds=Fraction(2), codec="hevc"))
    fast = Footage(dataclasses.replace(AD, name="fast", number=3, seconds=Fraction(2), rate="50", sample_rate=48000))
    ntsc = Footage(dataclasses.replace(
        MAIN, name="ntsc", number=4, seconds=Fraction(2002, 1000), rate="30000/1001", codec="hevc"))
    main.play(footage, 0, 2, at(90))
    main.play(hevc, 0, 2, at(92), Layout(video="hevc"))
    main.play(fast, 0, 2, at(2), tagged=True)
    main.play(ntsc, 0, Fraction(2002, 1000), at(2), Layout(video="hevc"), tagged=True, step=Fraction(1001, 1000))
    main.play(footage, 2, 4, at(92))
    publish(
        channel, main,
        "H.264, HEVC, H.264 at 50 a second, HEVC at 29.97, H.264: on the same PIDs, the first and last untagged.")


def interlaced():
    channel = Channel("interlaced")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(4)))
    mbaff = Footage(dataclasses.replace(
        MAIN, name="mbaff", number=2, seconds=Fraction(2), size="288x192", interlaced=True, options="tff=1"))
    paff = fields.footage(dataclasses.replace(MAIN, name="paff", number=3, seconds=Fraction(2), interlaced=True))
    main.play(footage, 0, 2, at(90))
    main.play(mbaff, 0, 2, at(2), tagged=True)
    main.play(paff, 0, 2, at(2), tagged=True)
    main.play(footage, 2, 4, at(90), tagged=True)
    publish(
        channel, main,
        "Progressive pictures, macroblock-adaptive frames, pairs of field pictures, progressive ones again.")


def interleave():
    channel = Channel("interleave")
    main, footage = Rendition(channel), Footage(MAIN)
    ad = Footage(AD)
    main.play(footage, 0, 4, at(90), audio_later=Fraction(1))
    main.play(ad, 0, 3, at(2), AD_LAYOUT, tagged=True, audio_later=Fraction(-1))
    main.play(footage, 7, 10, at(90), tagged=True, audio_later=Fraction(1))
    publish(channel, main, "Sound sent a second after its picture, in the ad a second before it.")


def wrapped_lengths():
    """Encoders that write PES_packet_length for video, whose 16 bits wrap with a key frame of 64 KiB and more."""
    channel = Channel("wrapped_lengths")
    main, footage = Rendition(channel), Footage(dataclasses.replace(MAIN, seconds=Fraction(6)))
    main.multiplexer.bounds_video = True
    sizes = iter((65538, 70000, 66000, 131074, 65536 + 200))
    footage.video = [
        dataclasses.replace(frame, payload=enlarged(frame, next(sizes, 66000))) if frame.key and frame.pts else frame
        for frame in footage.video]
    main.play(footage, 0, 6, at(90))
    publish(channel, main, "Key frames whose PES_packet_length wraps at 65,536.")


def enlarged(frame, size):
    """A key frame whose PES packet has `size` bytes after its length, by a message of user data before its slice."""
    header = 13 if frame.dts != frame.pts else 8
    slice_at = frame.payload.index(b"\0\0\1\x65")
    room = size - header - len(frame.payload)
    count = room - 7 - room // 255  # less start code, header, type, size and trailing bits
    message = b"\0\0\1\x06\x05" + b"\xFF" * (count // 255) + bytes([count % 255]) + b"\x5A" * count + b"\x80"
    return frame.payload[:slice_at] + message.ljust(room, b"\0") + frame.payload[slice_at:]


CAPTURES = (
    tagged_late, tags_wrong, pod_of_ten, ladder_pod, ad_clocks, seam_times, wrap_demuxed, renditions_apart, open_gop, without_idr,
    mid_gop, parameter_sets, two_switches, audio_changes, video_codecs, interlaced, interleave, wrapped_lengths)
