import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// A synthetic channel: consecutive programs, and how its packager cut, tagged and numbered them.
struct TortureChannel: CustomStringConvertible {
    var programs: [TortureProgram] = []
    /// The main rendition's segments.
    private(set) var parts: [Part] = []
    /// Inputs of the companion rendition in playlist order.
    private(set) var companion: [SpliceInput] = []
    /// Longest output segment, ticks.
    var longest: Int64 = 900_000
    var traits: [String] = []

    struct Part {
        /// The program it begins with.
        var program: Int
        /// The frame of that program with which the segment begins.
        var frame: Int
        var isDiscontinuous = false
        var discontinuitySequence: UInt64 = 0
        var segment: TortureSegment
    }

    var description: String { (traits + programs.map { "\($0)" }).joined(separator: "\n") }
    var hasCompanion: Bool { !companion.isEmpty }

    var main: [SpliceInput] { Self.inputs(parts) }

    static func inputs(_ parts: [Part]) -> [SpliceInput] {
        parts.enumerated().map { index, part in
            .segment(
                SegmentInput(
                    rendition: .main, mediaSequence: UInt64(index),
                    discontinuitySequence: part.discontinuitySequence, isDiscontinuous: part.isDiscontinuous,
                    initialization: part.segment.initialization, bytes: part.segment.bytes))
        } + [.ended(.main)]
    }

    /// Interleaves the renditions so that neither is more than `bound` segments ahead of the other.
    func inputs(within bound: Int, _ random: inout SeededGenerator) -> [SpliceInput] {
        let main = main
        var (video, audio) = (main[...], companion[...])
        var result: [SpliceInput] = []
        while !video.isEmpty || !audio.isEmpty {
            let (videoCount, audioCount) = (main.count - video.count, companion.count - audio.count)
            let canAppendVideo = !video.isEmpty && (videoCount - audioCount < bound || audio.isEmpty)
            let canAppendAudio = !audio.isEmpty && (audioCount - videoCount < bound || video.isEmpty)
            let next =
                canAppendVideo && (!canAppendAudio || Bool.random(using: &random)) ? video.popFirst() : audio.popFirst()
            if let next { result.append(next) }
        }
        return result
    }

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let options = TorturePackagerOptions(hasCompanion: seed % 4 == 0, &random)
        // Video waits for lagging audio as long as four of the longest segments.
        longest =
            options.hasCompanion ? 900_000 : [900_000, 900_000, 60_000].randomElement(using: &random) ?? 900_000
        programs = (0..<Int.random(in: 2...5, using: &random)).map { options.program($0, &random) }
        traits = ["seed \(seed), longest \(longest), \(options)"]
        var (videoPackager, audioPackager) = (TorturePackager(), TorturePackager())
        for program in programs {
            append(videoPackager.segments(of: program), of: program, options, &random)
            guard options.hasCompanion else { continue }
            let boundaries = program.companionBoundaries(&random)
            append(companion: audioPackager.companion(of: program, boundaries: boundaries), of: program, options)
        }
        for index in parts.indices.dropFirst() where options.tagsNeedlessly {
            if Int.random(in: 0..<3, using: &random) == 0 { parts[index].isDiscontinuous = true }
        }
        if options.hasCompanion { companion.append(.ended(.audio)) }
    }

    private mutating func append(
        _ segments: [TortureSegment], of program: TortureProgram, _ options: TorturePackagerOptions,
        _ random: inout SeededGenerator
    ) {
        for (index, segment) in segments.enumerated() {
            let isSplice = index == 0 && program.serial > 0
            if isSplice, options.changesInsideSegments, Bool.random(using: &random), let last = parts.indices.last,
                parts[last].segment.initialization == nil, segment.initialization == nil
            {
                parts[last].segment.atoms += segment.atoms
                traits.append("\(program.serial) begins inside a segment")
                continue
            }
            let number = options.isTagged ? UInt64(program.serial) : 0
            parts.append(
                Part(
                    program: program.serial, frame: program.boundaries[index],
                    isDiscontinuous: options.isTagged && isSplice,
                    discontinuitySequence: options.hasWrongSequences
                        ? UInt64.random(in: 0...9, using: &random) : number,
                    segment: segment))
        }
    }

    private mutating func append(
        companion segments: [TortureSegment], of program: TortureProgram, _ options: TorturePackagerOptions
    ) {
        for (index, segment) in segments.enumerated() {
            companion.append(
                .segment(
                    SegmentInput(
                        rendition: .audio, mediaSequence: UInt64(companion.count),
                        discontinuitySequence: options.isTagged ? UInt64(program.serial) : 0,
                        isDiscontinuous: options.isTagged && index == 0 && program.serial > 0,
                        initialization: segment.initialization, bytes: segment.bytes)))
        }
    }
}

extension TortureProgram {
    /// Boundaries of separately packaged audio: near those of the video, and the rest at the end.
    fileprivate func companionBoundaries(_ random: inout SeededGenerator) -> [Int64] {
        boundaries.dropFirst().map { boundary in
            boundary == videoFrameCount ? .max : rate.time(boundary) + Int64.random(in: -9000...9000, using: &random)
        }
    }
}

// MARK: - Expected output

extension TortureChannel {
    /// Frames after a tag in the middle of a GOP of a transport stream. The demuxer restarts there, and no parameter sets
    /// are known before the next GOP.
    var unreadable: Set<TortureFrameLabel> {
        var labels: Set<TortureFrameLabel> = []
        for part in parts where part.isDiscontinuous && part.segment.initialization == nil {
            let program = programs[part.program]
            let end = (part.frame..<program.videoFrameCount).first(where: program.isGroupStart)
            for index in part.frame..<(end ?? program.videoFrameCount) {
                labels.insert(TortureFrameLabel(part.program, index))
            }
        }
        return labels
    }

    /// Rounding error of the coarsest track's times in ticks, for a frame and the one after it.
    var roundingError: Int64 {
        let maps = programs.flatMap { program -> [TortureMovie] in
            if case .movie(let maps) = program.container { maps } else { [] }
        }
        return maps.map {
            90_000 % Int64($0.videoTimescale) == 0 && $0.videoTimescale >= 90_000
                ? 0 : 180_000 / Int64($0.videoTimescale) + 1
        }
        .max() ?? 0
    }

    /// Access units, beyond one per frame, that cannot be recognized as fields because nothing was demuxed before.
    var unpairedFields: Int {
        let lost = unreadable
        return programs.reduce(0) { sum, program in
            guard program.scan != nil else { return sum }
            let first = program.sentVideoFrames.first(where: program.isRandomAccess) ?? program.videoFrameCount
            return sum
                + program.sentVideoFrames.count { $0 < first || lost.contains(TortureFrameLabel(program.serial, $0)) }
        }
    }

    /// Returns the same media of each program with other segment boundaries, where no tag separates them.
    func recut(_ random: inout SeededGenerator) -> [Part] {
        var result: [Part] = []
        for part in parts {
            if let last = result.last, last.program == part.program, !part.isDiscontinuous,
                last.segment.initialization == part.segment.initialization
            {
                result[result.count - 1].segment.atoms += part.segment.atoms
            } else {
                result.append(part)
            }
        }
        return result.flatMap { $0.cut(&random) }
    }
}

extension TortureChannel.Part {
    /// Cuts the segment into one to four parts.
    fileprivate func cut(_ random: inout SeededGenerator) -> [Self] {
        let count = Int.random(in: 1...4, using: &random)
        let places = (1..<count).map { _ in Int.random(in: 0...segment.atoms.count, using: &random) }
        let boundaries = [0] + Set(places).sorted() + [segment.atoms.count]
        return zip(boundaries, boundaries.dropFirst()).filter { $0 < $1 }.map { start, end in
            var part = self
            part.segment.atoms = Array(segment.atoms[start..<end])
            part.isDiscontinuous = isDiscontinuous && start == 0
            return part
        }
    }
}
