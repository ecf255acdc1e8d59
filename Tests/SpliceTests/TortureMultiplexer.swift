import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Container of a program's segments.
enum TortureContainer: Sendable {
    case transport
    /// Options of its segments in turn.
    case movie([TortureMovie])
    /// ADTS or layer III frames after an ID3 tag: audio only.
    case packed
}

/// One upstream segment.
struct TortureSegment: Sendable {
    /// Bytes of its EXT-X-MAP section.
    var initialization: [UInt8]?
    /// Units between which it may be cut: packets, fragments, or the whole.
    var atoms: [[UInt8]]

    var bytes: [UInt8] { atoms.flatMap(\.self) }
}

/// Writes the programs of one rendition, each in its own container.
struct TorturePackager {
    private var transport = TortureMultiplexer()

    mutating func segments(of program: TortureProgram) -> [TortureSegment] {
        guard case .movie(let maps) = program.container else {
            return transport.segments(of: program).map(Self.packets)
        }
        var writer = TortureMovieWriter(program: program, maps: maps)
        return writer.segments()
    }

    /// - Parameter boundaries: ends of its segments, in ticks after the first frame.
    mutating func companion(of program: TortureProgram, boundaries: [Int64]) -> [TortureSegment] {
        switch program.companionContainer {
        case .transport: return transport.companion(of: program, boundaries: boundaries).map(Self.packets)
        case .movie(let maps):
            var writer = TortureMovieWriter(program: program, maps: maps)
            return writer.companion(boundaries: boundaries)
        case .packed: return Self.packed(program, boundaries: boundaries)
        }
    }

    private static func packets(_ bytes: [UInt8]) -> TortureSegment {
        TortureSegment(
            initialization: nil,
            atoms: stride(from: 0, to: bytes.count, by: 188).map { Array(bytes[$0..<min($0 + 188, bytes.count)]) })
    }

    private static func packed(_ program: TortureProgram, boundaries: [Int64]) -> [TortureSegment] {
        var next = 0
        return boundaries.map { boundary in
            let frames = program.frames(from: next, before: boundary)
            next = frames.upperBound
            let time = program.firstAudioTime + program.audioTime(frames.lowerBound)
            let tag = ID3Sample.tag(ID3Sample.timestamp(time & (Ticks.wrap - 1)))
            return TortureSegment(initialization: nil, atoms: [tag + frames.flatMap(program.audioFrame)])
        }
    }
}

extension TortureProgram {
    /// Returns audio frames from `first` on that begin before `boundary`, in ticks after the first video frame.
    func frames(from first: Int, before boundary: Int64) -> Range<Int> {
        let count = audioFrameCount
        var end = first
        while end < count, audioTime(end) < boundary { end += 1 }
        return first..<end
    }
}

/// Multiplexes programs into transport stream segments.
struct TortureMultiplexer {
    private var builder = TransportStreamBuilder()
    /// Index of the first audio frame of the current program that was not written.
    private var nextFrame = 0

    private func wire(_ time: Int64) -> Int64 { time & (Ticks.wrap - 1) }

    /// Returns the bytes of each segment of a program.
    mutating func segments(of program: TortureProgram) -> [[UInt8]] {
        nextFrame = 0
        let boundaries = program.boundaries
        return program.segments.indices.map { index in
            write(
                boundaries[index]..<boundaries[index + 1], of: program, isLast: index == program.segments.indices.last)
            return builder.cut()
        }
    }

    private mutating func write(_ frames: Range<Int>, of program: TortureProgram, isLast: Bool) {
        var streams = [TransportStreamBuilder.Stream(pid: program.videoPID, type: program.isHEVC ? 0x24 : 0x1B)]
        let isMuxed = program.hasAudio && !program.hasCompanionAudio
        if isMuxed { streams.append(.init(pid: program.audioPID, type: program.audioStreamType)) }
        builder.tables(streams)
        for index in frames {
            if program.sentVideoFrames.contains(index) { write(frame: index, of: program) }
            let limit = program.rate.time(index + 1) - program.audioLag
            if isMuxed { writeAudio(before: limit, of: program) }
        }
        if isMuxed, isLast { writeAudio(before: .max, of: program) }
    }

    /// Writes a frame; a second field in its own PES packet is half a frame later.
    private mutating func write(frame index: Int, of program: TortureProgram) {
        var units = program.units(index).map { $0.stream(isHEVC: program.isHEVC) }
        if case .fields(apart: true)? = program.scan {} else { units = [units.flatMap(\.self)] }
        for (field, bytes) in units.enumerated() {
            let late = Int64(field) * program.rate.time(1) / 2
            let (decode, presentation) = (program.decode(index) + late, program.presentation(index) + late)
            builder.pes(
                pid: program.videoPID, pts: wire(presentation), dts: presentation == decode ? nil : wire(decode),
                bytes)
        }
    }

    private mutating func writeAudio(before limit: Int64, of program: TortureProgram) {
        let count = program.audioFrameCount
        while nextFrame < count, program.audioTime(nextFrame) < limit {
            let frames = nextFrame..<min(count, nextFrame + program.framesPerPacket)
            builder.pes(
                pid: program.audioPID, streamID: 0xC0,
                pts: wire(program.firstAudioTime + program.audioTime(nextFrame)), isBounded: true,
                frames.flatMap(program.audioFrame))
            nextFrame = frames.upperBound
        }
    }

    /// Returns segments with the program's audio only, which end at `boundaries`, in ticks after the first video frame.
    mutating func companion(of program: TortureProgram, boundaries: [Int64]) -> [[UInt8]] {
        nextFrame = 0
        return boundaries.map { boundary in
            builder.tables([.init(pid: program.audioPID, type: program.audioStreamType)])
            writeAudio(before: boundary, of: program)
            return builder.cut()
        }
    }
}
