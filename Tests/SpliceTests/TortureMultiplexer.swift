import TestSupport

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// What a programme's segments are written as.
enum TortureContainer: Sendable {
    case transport
    /// The maps of its segments in turn.
    case movie([TortureMovie])
    /// ADTS or layer III frames behind an ID3 tag: sound alone.
    case packed
}

/// One upstream segment.
struct TortureSegment: Sendable {
    /// Of its EXT-X-MAP.
    var initialization: [UInt8]?
    /// What it may be cut between: packets, fragments, or all of it.
    var atoms: [[UInt8]]

    var bytes: [UInt8] { atoms.flatMap(\.self) }
}

/// Writes one rendition's programmes in whatever container each of them asks for.
struct TorturePackager {
    private var transport = TortureMultiplexer()

    mutating func segments(of programme: TortureProgram) -> [TortureSegment] {
        guard case .movie(let maps) = programme.container else {
            return transport.segments(of: programme).map(Self.packets)
        }
        var writer = TortureMovieWriter(programme: programme, maps: maps)
        return writer.segments()
    }

    /// - Parameter borders: where its segments end, ticks behind its first picture.
    mutating func companion(of programme: TortureProgram, borders: [Int64]) -> [TortureSegment] {
        switch programme.companionContainer {
        case .transport: return transport.companion(of: programme, borders: borders).map(Self.packets)
        case .movie(let maps):
            var writer = TortureMovieWriter(programme: programme, maps: maps)
            return writer.companion(borders: borders)
        case .packed: return Self.packed(programme, borders: borders)
        }
    }

    private static func packets(_ bytes: [UInt8]) -> TortureSegment {
        TortureSegment(
            initialization: nil,
            atoms: stride(from: 0, to: bytes.count, by: 188).map { Array(bytes[$0..<min($0 + 188, bytes.count)]) })
    }

    private static func packed(_ programme: TortureProgram, borders: [Int64]) -> [TortureSegment] {
        var next = 0
        return borders.map { border in
            let frames = programme.frames(from: next, before: border)
            next = frames.upperBound
            let time = programme.firstAudioTime + programme.audioTime(frames.lowerBound)
            let tag = PackedAudioDemuxerTests.tag(PackedAudioDemuxerTests.timestamp(time & (Ticks.wrap - 1)))
            return TortureSegment(initialization: nil, atoms: [tag + frames.flatMap(programme.audioFrame)])
        }
    }
}

extension TortureProgram {
    /// Frames of sound from `first` on that begin before `border`, ticks behind the first picture.
    func frames(from first: Int, before border: Int64) -> Range<Int> {
        let count = audioFrameCount
        var end = first
        while end < count, audioTime(end) < border { end += 1 }
        return first..<end
    }
}

/// Multiplexes programmes into transport stream segments.
struct TortureMultiplexer {
    private var builder = TransportStreamBuilder()
    /// Audio of the current programme from this frame on was not written.
    private var nextFrame = 0

    private func wire(_ time: Int64) -> Int64 { time & (Ticks.wrap - 1) }

    /// The bytes of all of a programme's segments.
    mutating func segments(of programme: TortureProgram) -> [[UInt8]] {
        nextFrame = 0
        let borders = programme.boundaries
        return programme.segments.indices.map { place in
            write(
                borders[place]..<borders[place + 1], of: programme, isLast: place == programme.segments.indices.last)
            return builder.cut()
        }
    }

    private mutating func write(_ pictures: Range<Int>, of programme: TortureProgram, isLast: Bool) {
        var streams = [TransportStreamBuilder.Stream(pid: programme.videoPID, type: programme.isHEVC ? 0x24 : 0x1B)]
        let isMuxed = programme.hasAudio && !programme.hasCompanionAudio
        if isMuxed { streams.append(.init(pid: programme.audioPID, type: programme.audioStreamType)) }
        builder.tables(streams)
        for index in pictures {
            if programme.sentVideoFrames.contains(index) { write(picture: index, of: programme) }
            let limit = programme.rate.time(index + 1) - programme.audioLag
            if isMuxed { writeAudio(before: limit, of: programme) }
        }
        if isMuxed, isLast { writeAudio(before: .max, of: programme) }
    }

    /// A second field in a PES packet of its own is half a frame later.
    private mutating func write(picture index: Int, of programme: TortureProgram) {
        var units = programme.units(index).map { $0.stream(isHEVC: programme.isHEVC) }
        if case .fields(apart: true)? = programme.scan {} else { units = [units.flatMap(\.self)] }
        for (field, bytes) in units.enumerated() {
            let late = Int64(field) * programme.rate.time(1) / 2
            let (decode, presentation) = (programme.decode(index) + late, programme.presentation(index) + late)
            builder.pes(
                pid: programme.videoPID, pts: wire(presentation), dts: presentation == decode ? nil : wire(decode),
                bytes)
        }
    }

    private mutating func writeAudio(before limit: Int64, of programme: TortureProgram) {
        let count = programme.audioFrameCount
        while nextFrame < count, programme.audioTime(nextFrame) < limit {
            let frames = nextFrame..<min(count, nextFrame + programme.framesPerPacket)
            builder.pes(
                pid: programme.audioPID, streamID: 0xC0,
                pts: wire(programme.firstAudioTime + programme.audioTime(nextFrame)), isBounded: true,
                frames.flatMap(programme.audioFrame))
            nextFrame = frames.upperBound
        }
    }

    /// The programme's sound alone, in segments that end where `borders` (ticks behind its first picture) say.
    mutating func companion(of programme: TortureProgram, borders: [Int64]) -> [[UInt8]] {
        nextFrame = 0
        return borders.map { border in
            builder.tables([.init(pid: programme.audioPID, type: programme.audioStreamType)])
            writeAudio(before: border, of: programme)
            return builder.cut()
        }
    }
}
