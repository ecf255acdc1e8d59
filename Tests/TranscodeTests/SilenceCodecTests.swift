import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

@Suite("Silent frames of every codec")
struct SilenceCodecTests {
    static let rows: [(what: String, codec: [String], rate: Int, channels: Int)] = [
        ("AC-3 stereo", ["-c:a", "ac3", "-b:a", "192k"], 48_000, 2),
        ("AC-3 5.1", ["-c:a", "ac3", "-b:a", "384k"], 48_000, 6),
        ("AC-3 mono at 44.1 kHz", ["-c:a", "ac3", "-b:a", "96k"], 44_100, 1),
        ("E-AC-3 stereo", ["-c:a", "eac3", "-b:a", "128k"], 48_000, 2),
        ("E-AC-3 5.1", ["-c:a", "eac3", "-b:a", "384k"], 48_000, 6),
        ("MP3 stereo", ["-c:a", "libmp3lame", "-b:a", "128k", "-reservoir", "0"], 48_000, 2),
        ("MPEG-2 MP3 mono", ["-c:a", "libmp3lame", "-b:a", "48k", "-reservoir", "0"], 24_000, 1),
        ("MPEG-2.5 MP3 stereo", ["-c:a", "libmp3lame", "-b:a", "32k", "-reservoir", "0"], 11_025, 2),
        ("AAC stereo", ["-c:a", "aac"], 48_000, 2),
        ("AAC 5.1", ["-c:a", "aac", "-b:a", "256k"], 44_100, 6),
    ]

    /// Silent frames between the audio frames.
    static let silentFrames = 20

    @Test(
        "ffmpeg decodes audio, silence and audio without errors and without missing samples", arguments: rows.indices
    )
    func silenceBetweenAudio(_ index: Int) throws {
        let row = Self.rows[index]
        let packets = try packets(row.codec, rate: row.rate, channels: row.channels)
        let configuration = try #require(packets.first?.configuration)
        var cache = SilentFrameCache()
        let frame = cache.frame(for: configuration)
        let silence = try #require(frame, "\(row.what)")
        #expect(silence.samples == configuration.samplesPerFrame, "\(row.what)")
        let half = packets.count / 2
        let frames =
            packets[..<half].map(\.payload) + Array(repeating: silence.payload[...], count: Self.silentFrames)
            + packets[half...].map(\.payload)
        let decoded = try FragmentTool.run(
            "ffmpeg",
            ["-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", "INPUT", "-f", "s16le", "pipe:1"],
            input: try file(frames, configuration))
        #expect(decoded.status == 0 && decoded.errors.isEmpty, "\(row.what): \(decoded.errors)")
        let samples = decoded.output.count / 2 / row.channels
        #expect(samples == frames.count * configuration.samplesPerFrame, "\(row.what)")
        // Frames overlap: the first silent frame still contains the end of the audio before it.
        let frameSize = configuration.samplesPerFrame * row.channels * 2
        let middle = decoded.output[(half + 2) * frameSize..<(half + Self.silentFrames - 1) * frameSize]
        #expect(middle.allSatisfy { $0 == 0 }, "\(row.what): the silence is audible")
        #expect(decoded.output[..<(half * frameSize)].contains { $0 != 0 }, "\(row.what): the audio is silent")
    }

    @Test("equal configurations give equal silent frames")
    func framesAreReproducible() throws {
        let configuration = try #require(
            try packets(["-c:a", "ac3", "-b:a", "192k"], rate: 48_000, channels: 2).first?.configuration)
        var (one, other) = (SilentFrameCache(), SilentFrameCache())
        let frame = one.frame(for: configuration)
        #expect(frame != nil && frame == one.frame(for: configuration) && frame == other.frame(for: configuration))
    }

    @Test("a track without silent frames has a sample in every fragment")
    func unavailableSilenceRepeatsLastFrame() throws {
        let unit = TimedVideo(
            packet: SyntheticPackets.videoPacket(dts: 900_000), dts: Ticks(900_000), pts: Ticks(900_000))
        var clock = AudioTrackAssembler()
        clock.beginPeriod(
            SyntheticPackets.audioConfiguration(), silence: nil, on: PeriodTimeline(first: unit, at: Ticks(18_000)))
        let packets = SyntheticPackets.audioPackets(46, from: 900_000)
        clock.append(packets.map { TimedAudio(packet: $0, pts: $0.pts ?? .zero) })
        _ = clock.dequeueSamples(from: Ticks(18_000), to: Ticks(108_000))
        let dequeued = clock.dequeueSamples(from: Ticks(108_000), to: Ticks(198_000))
        let cut = try #require(dequeued)
        #expect(cut.samples.map(\.payload) == [packets[45].payload])
        let end = cut.decodeTime + Int64(cut.samples[0].duration)
        #expect(end == PeriodTimeline.audioTime(Ticks(198_000)), "it lasts until the end of the video")
    }

    @Test("with gap filling disabled, a sample's duration covers the gap")
    func unfilledGapExtendsSample() throws {
        let unit = TimedVideo(
            packet: SyntheticPackets.videoPacket(dts: 900_000), dts: Ticks(900_000), pts: Ticks(900_000))
        var clock = AudioTrackAssembler(fillsGaps: false)
        clock.beginPeriod(
            SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
            on: PeriodTimeline(first: unit, at: Ticks(18_000)))
        let packets =
            SyntheticPackets.audioPackets(10, from: 900_000)
            + SyntheticPackets.audioPackets(30, from: 900_000 + 15 * 1920)
        clock.append(packets.map { TimedAudio(packet: $0, pts: $0.pts ?? .zero) })
        let dequeued = clock.dequeueSamples(from: Ticks(18_000), to: Ticks(18_000 + 45 * 1920))
        let cut = try #require(dequeued)
        #expect(clock.counts[.silentAudioFrames] == 0 && cut.samples.count == 40)
        #expect(cut.samples[10].duration == 6 * 301_056)
    }

    private func packets(_ codec: [String], rate: Int, channels: Int) throws -> [AudioPacket] {
        let stream = try OracleMedia.run(
            ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=\(rate):duration=0.8"]
                + ["-ac", "\(channels)"] + codec
                + ["-f", "mpegts", "pipe:1"])
        var demuxer = TransportDemuxer(tracks: .audio)
        return try demuxer.feed(stream).audio + demuxer.finish().audio
    }

    private func file(_ frames: [ArraySlice<UInt8>], _ audio: AudioConfiguration) throws -> [UInt8] {
        let duration = UInt32(TrackTimescale.audio * Int64(audio.samplesPerFrame) / Int64(audio.sampleRate.hertz))
        let samples = frames.map {
            MuxSample(duration: duration, compositionOffset: 0, isSync: true, payload: $0)
        }
        let fragment = FragmentWriter.write(
            sequenceNumber: 1, video: nil,
            audio: MuxTrack(trackID: TrackID.audio, decodeTime: 0, samples: samples))
        return try InitWriter.write(video: nil, audio: audio).bytes + fragment.header + fragment.payloads.joined()
    }
}
