import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Clicks at 0.25 s, 0.75 s, 1.25 s …, each a bell so short that its middle is known to a fraction of a sample.
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

    /// Middle of each click in `samples`, in samples from the first.
    static func middles(_ samples: [Float], rate: Int) -> [Double] {
        let width = rate / 200
        var middles: [Double] = []
        var index = 0
        while index < samples.count {
            guard abs(samples[index]) > 0.2 else {
                index += 1
                continue
            }
            let window = max(0, index - width)..<min(samples.count, index + width)
            let energies = window.map { Double(samples[$0] * samples[$0]) }
            let sum = energies.reduce(0, +)
            middles.append(zip(window, energies).reduce(0) { $0 + Double($1.0) * $1.1 } / sum)
            index += width
        }
        return middles
    }
}

/// Sound as packets, and what ffmpeg makes of them.
struct PacketAudio {
    let packets: [AudioPacket]

    var first: Ticks { packets.first?.pts ?? .zero }

    /// All packets through ffmpeg, mixed to one channel.
    func samples(rate: Int) throws -> [Float] {
        let bytes = try FragmentTool.make(
            ["-i", "INPUT", "-ac", "1", "-ar", "\(rate)", "-f", "f32le"], input: packets.flatMap(Self.frame))
        return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
    }

    /// Seconds at which the clicks are heard when each packet sounds at its time.
    func clicks(rate: Int) throws -> [Double] {
        try ClickTrack.middles(samples(rate: rate), rate: rate).map {
            Double(first.count) / 90_000 + $0 / Double(rate)
        }
    }

    /// What a decoder of the source's own makes of it; PCM needs none, and begins where its first packet says.
    func expectedClicks(rate: Int) throws -> [Double] {
        guard packets.first?.configuration.codec == .smpte302 else { return try clicks(rate: rate) }
        return (0..<2).map { Double(first.count) / 90_000 + ClickTrack.first + Double($0) * ClickTrack.step }
    }

    /// AAC gets its ADTS header back; the others are a stream as they are.
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

@Suite("Audio bridge")
struct AudioTranscoderTests {
    static let rows: [(what: String, codec: [String], rate: Int, channels: Int, policy: AudioPolicy, output: Int)] = [
        ("layer II, as broadcast", ["-c:a", "mp2", "-b:a", "192k"], 48_000, 2, .copy, 48_000),
        ("layer II of another rate", ["-c:a", "mp2", "-b:a", "128k"], 44_100, 1, .copy, 44_100),
        ("layer II of MPEG-2", ["-c:a", "mp2", "-b:a", "64k"], 24_000, 1, .copy, 24_000),
        ("DTS", ["-c:a", "dca", "-strict", "-2", "-b:a", "768k"], 48_000, 2, .copy, 48_000),
        ("PCM of SMPTE 302M", ["-c:a", "s302m", "-strict", "-2"], 48_000, 2, .copy, 48_000),
        ("layer III, asked for", ["-c:a", "libmp3lame", "-b:a", "128k"], 48_000, 2, .bridge, 48_000),
        ("AC-3, asked for", ["-c:a", "ac3", "-b:a", "192k"], 48_000, 2, .bridge, 48_000),
        ("E-AC-3 5.1, asked for", ["-c:a", "eac3", "-b:a", "384k"], 48_000, 6, .bridge, 48_000),
        ("AAC, asked for", ["-c:a", "aac"], 44_100, 2, .bridge, 44_100),
    ]

    @Test("a click comes out where it went in, to the sample", arguments: rows.indices)
    func exact(_ index: Int) throws {
        let row = Self.rows[index]
        let source = try demuxed(row.codec, rate: row.rate, channels: row.channels)
        var stage = AudioTranscodeStage(row.policy)
        let bridged = stage.finish(source)
        let configuration = try #require(bridged.first?.configuration)
        #expect(configuration == .aacLC(sampleRate: row.output, channelCount: row.channels), "\(row.what)")
        #expect(Set(bridged.map(\.configuration)).count == 1, "\(row.what)")
        let heard = try PacketAudio(packets: bridged).clicks(rate: row.output)
        let expected = try PacketAudio(packets: source).expectedClicks(rate: row.rate)
        #expect(heard.count == expected.count && heard.count == 2, "\(row.what)")
        let worst = zip(heard, expected).map { abs($0 - $1) }.max() ?? 1
        #expect(worst * Double(row.output) < 0.5, "\(row.what): \(worst * Double(row.output)) samples")
        #expect(stage.counts == .init(transcoded: source.count, undecodable: 0), "\(row.what)")
    }

    @Test("another rate is no other time", arguments: [(44_100, 48_000), (48_000, 44_100), (32_000, 48_000)])
    func resampled(from rate: Int, to other: Int) throws {
        let source = try demuxed(["-c:a", "mp2", "-b:a", "128k"], rate: rate, channels: 1)
        var stage = AudioTranscodeStage(.uniform, uniform: .aacLC(sampleRate: other, channelCount: 2))
        let bridged = stage.finish(source)
        let heard = try PacketAudio(packets: bridged).clicks(rate: other)
        let expected = try PacketAudio(packets: source).clicks(rate: rate)
        #expect(heard.count == expected.count && heard.count == 2)
        let worst = zip(heard, expected).map { abs($0 - $1) }.max() ?? 1
        #expect(worst * Double(other) < 0.5, "\(worst * Double(other)) samples")
    }

    @Test(
        "the same packets in segments of any length give the same frames",
        arguments: [["-c:a", "mp2"], ["-c:a", "s302m", "-strict", "-2"]])
    func borders(codec: [String]) throws {
        let source = try demuxed(codec, rate: 48_000, channels: 2)
        var whole = AudioTranscodeStage(.copy)
        let expected = whole.finish(source)
        for size in [1, 7, 40] {
            var stage = AudioTranscodeStage(.copy)
            var given: [AudioPacket] = []
            for start in stride(from: 0, to: source.count, by: size) {
                var left: [AudioPacket] = []
                var packets = Array(source[start..<min(source.count, start + size)])
                stage.process(flushed: &left, &packets, isContinuous: start % 3 != 0)
                given += left + packets
            }
            #expect(given + stage.finish([]) == expected, "\(size) packets a segment")
        }
    }

    @Test("every sample of a stretch comes out, and no time is made up")
    func wholeStretch() throws {
        let source = try demuxed(["-c:a", "mp2"], rate: 48_000, channels: 2)
        var stage = AudioTranscodeStage(.copy)
        let bridged = stage.finish(source)
        let samples = source.count * 1152
        #expect(bridged.count == (samples + 1023) / 1024 + 1)
        let first = try #require(source.first?.pts)
        for (index, packet) in bridged.enumerated() {
            let expected = first.count + (Int64(index - 1) * 1024 * 90_000) / 48_000
            #expect(abs((packet.pts?.count ?? 0) - expected) <= 1, "frame \(index)")
        }
    }

    @Test("a hole stays where it was")
    func hole() throws {
        var source = try demuxed(["-c:a", "mp2"], rate: 48_000, channels: 2)
        source.removeSubrange(20..<23)
        var stage = AudioTranscodeStage(.copy)
        let bridged = stage.finish(source)
        let steps = zip(bridged, bridged.dropFirst()).map { ($1.pts ?? .zero).count - ($0.pts ?? .zero).count }
        #expect(steps.filter { $0 > 1922 } == [1920 + 3 * 2160])
        #expect(stage.counts.undecodable == 0)
    }

    @Test("what cannot be decoded is counted, and the sound goes on")
    func damage() throws {
        var source = try demuxed(["-c:a", "mp2"], rate: 48_000, channels: 2)
        for index in [10, 11, 30] {
            let packet = source[index]
            source[index] = AudioPacket(
                pid: packet.pid, configuration: packet.configuration, pts: packet.pts, isDamaged: index == 30,
                payload: [0xFF, 0xFF, 0, 0])
        }
        var stage = AudioTranscodeStage(.copy)
        let bridged = stage.finish(source)
        #expect(stage.counts.undecodable == 3)
        #expect(stage.counts.transcoded == source.count - 3)
        let last = try #require(bridged.last?.pts)
        let end = try #require(source.last?.pts)
        #expect(abs((last - end).count) < 2 * 2160)
    }

    /// Fed through our own demuxer, as a segment would be.
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
