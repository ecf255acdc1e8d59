import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Generates and finds clicks at 0.25 s, 0.75 s, 1.25 s ….
///
/// Each click is a Gaussian short enough to locate its center to a fraction of a sample.
enum ClickTrack {
    static let first = 0.25
    static let step = 0.5

    static func source(rate: Int, seconds: Int, channels: Int = 1) -> [String] {
        let click = "0.7*exp(-pow((mod(t\\,0.5)-0.25)*3000\\,2))"
        return [
            "-f", "lavfi", "-i",
            "aevalsrc=\(Array(repeating: click, count: channels).joined(separator: "|")):s=\(rate):d=\(seconds)",
        ]
    }

    /// Returns the center of each click, in samples from the start of `samples`.
    static func centers(_ samples: [Float], rate: Int) -> [Double] {
        let width = rate / 200
        var centers: [Double] = []
        var index = 0
        while index < samples.count {
            guard abs(samples[index]) > 0.2 else {
                index += 1
                continue
            }
            let window = max(0, index - width)..<min(samples.count, index + width)
            let energies = window.map { Double(samples[$0] * samples[$0]) }
            let sum = energies.reduce(0, +)
            centers.append(zip(window, energies).reduce(0) { $0 + Double($1.0) * $1.1 } / sum)
            index += width
        }
        return centers
    }
}

/// Audio packets, and their audio as ffmpeg decodes it.
struct PacketAudio {
    let packets: [AudioPacket]

    var first: Ticks { packets.first?.pts ?? .zero }

    /// Decodes all packets with ffmpeg and mixes them to one channel.
    func samples(rate: Int) throws -> [Float] {
        let bytes = try FragmentTool.make(
            ["-i", "INPUT", "-ac", "1", "-ar", "\(rate)", "-f", "f32le"], input: packets.flatMap(Self.frame))
        return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
    }

    /// Returns the presentation times of the clicks, in seconds.
    func clicks(rate: Int) throws -> [Double] {
        try ClickTrack.centers(samples(rate: rate), rate: rate).map {
            Double(first.count) / 90_000 + $0 / Double(rate)
        }
    }

    /// Returns the packet as elementary stream bytes. AAC gets an ADTS header.
    private static func frame(_ packet: AudioPacket) -> [UInt8] {
        guard packet.configuration.codec == .aac else { return Array(packet.payload) }
        let info = packet.configuration.decoderSpecificInfo
        let rate = Int(info[0] & 7) << 1 | Int(info[1] >> 7)
        let channels = Int(info[1] >> 3 & 0xF)
        let size = packet.payload.count + 7
        let header = [
            0xFF, 0xF1, 1 << 6 | rate << 2 | channels >> 2, (channels & 3) << 6 | size >> 11, size >> 3 & 0xFF,
            (size & 7) << 5 | 0x1F, 0xFC,
        ]
        return header.map { UInt8($0) } + packet.payload
    }
}

@Suite("Audio transcoding")
struct AudioTranscoderTests {
    static let rows: [(what: String, codec: [String], rate: Int, channels: Int, policy: AudioPolicy, output: Int)] = [
        ("layer II at 48 kHz", ["-c:a", "mp2", "-b:a", "192k"], 48_000, 2, .copy, 48_000),
        ("layer II at 44.1 kHz", ["-c:a", "mp2", "-b:a", "128k"], 44_100, 1, .copy, 44_100),
        ("layer II of MPEG-2", ["-c:a", "mp2", "-b:a", "64k"], 24_000, 1, .copy, 24_000),
        ("layer III, policy bridge", ["-c:a", "libmp3lame", "-b:a", "128k"], 48_000, 2, .bridge, 48_000),
        ("AC-3, policy bridge", ["-c:a", "ac3", "-b:a", "192k"], 48_000, 2, .bridge, 48_000),
        ("E-AC-3 5.1, policy bridge", ["-c:a", "eac3", "-b:a", "384k"], 48_000, 6, .bridge, 48_000),
        ("AAC, policy bridge", ["-c:a", "aac"], 44_100, 2, .bridge, 44_100),
    ]

    @Test("transcoding keeps the time of a click within half a sample", arguments: rows.indices)
    func transcodingKeepsTime(_ index: Int) throws {
        let row = Self.rows[index]
        let source = try demuxed(row.codec, rate: row.rate, channels: row.channels)
        var stage = AudioTranscodeStage(row.policy)
        let transcoded = try stage.finish(source)
        let configuration = try #require(transcoded.first?.configuration)
        #expect(
            configuration == .aacLC(sampleRate: SampleRate(row.output) ?? 0, channelCount: row.channels), "\(row.what)")
        #expect(Set(transcoded.map(\.configuration)).count == 1, "\(row.what)")
        let measured = try PacketAudio(packets: transcoded).clicks(rate: row.output)
        let expected = try PacketAudio(packets: source).clicks(rate: row.rate)
        #expect(measured.count == expected.count && measured.count == 2, "\(row.what)")
        let worst = zip(measured, expected).map { abs($0 - $1) }.max() ?? 1
        #expect(worst * Double(row.output) < 0.5, "\(row.what): \(worst * Double(row.output)) samples")
        #expect(stage.counts == .init(transcoded: source.count, undecodable: 0), "\(row.what)")
    }

    @Test("resampling keeps the time of a click", arguments: [(44_100, 48_000), (48_000, 44_100), (32_000, 48_000)])
    func resamplingKeepsTime(from rate: Int, to other: Int) throws {
        let source = try demuxed(["-c:a", "mp2", "-b:a", "128k"], rate: rate, channels: 1)
        var stage = AudioTranscodeStage(.uniform, uniform: .aacLC(sampleRate: SampleRate(other) ?? 0, channelCount: 2))
        let transcoded = try stage.finish(source)
        let measured = try PacketAudio(packets: transcoded).clicks(rate: other)
        let expected = try PacketAudio(packets: source).clicks(rate: rate)
        #expect(measured.count == expected.count && measured.count == 2)
        let worst = zip(measured, expected).map { abs($0 - $1) }.max() ?? 1
        #expect(worst * Double(other) < 0.5, "\(worst * Double(other)) samples")
    }

    @Test(
        "equal packets in segments of any length give equal frames",
        arguments: [["-c:a", "mp2"], ["-c:a", "mp2", "-b:a", "64k"]])
    func segmentBoundariesDoNotMatter(codec: [String]) throws {
        let source = try demuxed(codec, rate: 48_000, channels: 2)
        var whole = AudioTranscodeStage(.copy)
        let expected = try whole.finish(source)
        for size in [1, 7, 40] {
            var stage = AudioTranscodeStage(.copy)
            var output: [AudioPacket] = []
            for start in stride(from: 0, to: source.count, by: size) {
                var flushed: [AudioPacket] = []
                var packets = Array(source[start..<min(source.count, start + size)])
                try stage.process(flushed: &flushed, &packets, isContinuous: start % 3 != 0)
                output += flushed + packets
            }
            #expect(try output + stage.finish([]) == expected, "\(size) packets per segment")
        }
    }

    @Test("all samples of a span are output, with consecutive times")
    func spanIsTranscodedWhole() throws {
        let source = try demuxed(["-c:a", "mp2"], rate: 48_000, channels: 2)
        var stage = AudioTranscodeStage(.copy)
        let transcoded = try stage.finish(source)
        let samples = source.count * 1152
        #expect(transcoded.count == (samples + 1023) / 1024 + 1)
        let first = try #require(source.first?.pts)
        for (index, packet) in transcoded.enumerated() {
            let expected = first.count + (Int64(index - 1) * 1024 * 90_000) / 48_000
            #expect(abs((packet.pts?.count ?? 0) - expected) <= 1, "frame \(index)")
        }
    }

    @Test("a timestamp gap keeps its position")
    func gapKeepsPosition() throws {
        var source = try demuxed(["-c:a", "mp2"], rate: 48_000, channels: 2)
        source.removeSubrange(20..<23)
        var stage = AudioTranscodeStage(.copy)
        let transcoded = try stage.finish(source)
        let steps = zip(transcoded, transcoded.dropFirst()).map { ($1.pts ?? .zero).count - ($0.pts ?? .zero).count }
        let gap: Int64 = 1920 + 3 * 2160
        #expect(steps.filter { $0 > 1922 } == [gap])
        #expect(stage.counts.undecodable == 0)
    }

    @Test("undecodable packets are counted and the audio continues")
    func undecodablePacketsAreCounted() throws {
        var source = try demuxed(["-c:a", "mp2"], rate: 48_000, channels: 2)
        for index in [10, 11, 30] {
            let packet = source[index]
            source[index] = AudioPacket(
                pid: packet.pid, configuration: packet.configuration, pts: packet.pts, isDamaged: index == 30,
                payload: [0xFF, 0xFF, 0, 0])
        }
        var stage = AudioTranscodeStage(.copy)
        let transcoded = try stage.finish(source)
        #expect(stage.counts.undecodable == 3)
        #expect(stage.counts.transcoded == source.count - 3)
        let last = try #require(transcoded.last?.pts)
        let end = try #require(source.last?.pts)
        #expect(abs((last - end).count) < 2 * 2160)
    }

    private static let stereo = AudioConfiguration.aacLC(sampleRate: 48_000, channelCount: 2)
    private static let mono = AudioConfiguration.aacLC(sampleRate: 22_050, channelCount: 1)

    /// 300 packets that each take a decoder, and how many the stage lets pass.
    static let changes:
        [(what: String, policy: AudioPolicy, configurations: [AudioConfiguration], step: Int64, passed: Int)] = [
            ("a configuration for each packet, copied", .copy, [stereo, mono], 1920, 214),
            ("a configuration for each packet", .bridge, [stereo, mono], 1920, 214),
            ("a gap after each packet", .bridge, [stereo], 90_000, 64),
        ]

    /// A decoder costs as much as hundreds of frames, and a frame may have ten bytes.
    @Test("a segment takes a few decoders, however many packets it has", arguments: changes.indices)
    func changesAreBounded(_ index: Int) throws {
        let row = Self.changes[index]
        let count = 300
        var stage = AudioTranscodeStage(row.policy)
        for segment in 1...2 {
            var flushed: [AudioPacket] = []
            var packets = (0..<count).map { number in
                let configuration = row.configurations[number % row.configurations.count]
                return AudioPacket(
                    pid: 257, configuration: configuration,
                    pts: Ticks(Int64(segment * count + number) * row.step).wire, isDamaged: false,
                    payload: (AACSilence.frame(channelConfiguration: configuration.channelCount) ?? [])[...])
            }
            try stage.process(flushed: &flushed, &packets, isContinuous: true)
            let changes = zip(packets, packets.dropFirst()).count { $0.configuration != $1.configuration }
            #expect(changes <= 2 * AudioTranscodeStage.mostChanges, "\(row.what)")
            #expect(stage.counts.undecodable >= segment * (count - row.passed), "\(row.what): \(stage.counts)")
            #expect(packets.count >= AudioTranscodeStage.mostChanges, "\(row.what)")
        }
    }

    /// Encodes a click track with ffmpeg and demuxes it like a segment.
    private func demuxed(_ codec: [String], rate: Int, channels: Int) throws -> [AudioPacket] {
        let stream = try OracleMedia.run(
            ["-nostdin", "-v", "error"] + ClickTrack.source(rate: rate, seconds: 1, channels: channels) + codec
                + ["-f", "mpegts", "pipe:1"])
        var demuxer = TransportDemuxer(tracks: .audio)
        let packets = try demuxer.feed(stream).audio + demuxer.finish().audio
        try #require(!packets.isEmpty)
        return packets
    }
}
