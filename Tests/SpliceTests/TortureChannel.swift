import TestSupport

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// A made-up channel: programs one behind the other, and how its packager cut, tagged and numbered them.
struct TortureChannel: CustomStringConvertible {
    var programs: [TortureProgram] = []
    /// The main rendition's segments.
    private(set) var parts: [Part] = []
    /// Inputs of the other rendition in its playlist's order.
    private(set) var companion: [SpliceInput] = []
    /// Longest output segment, ticks.
    var longest: Int64 = 900_000
    var traits: [String] = []

    struct Part {
        /// The program it begins with.
        var program: Int
        /// Of that program, the picture it begins with.
        var picture: Int
        var isDiscontinuous = false
        var discontinuitySequence: UInt64 = 0
        var segment: TortureSegment
    }

    var description: String { (traits + programs.map { "\($0)" }).joined(separator: "\n") }
    var hasCompanion: Bool { !companion.isEmpty }

    var main: [SpliceInput] { Self.inputs(parts) }

    static func inputs(_ parts: [Part]) -> [SpliceInput] {
        parts.enumerated().map { place, part in
            .segment(
                SegmentInput(
                    rendition: .main, mediaSequence: UInt64(place),
                    discontinuitySequence: part.discontinuitySequence, isDiscontinuous: part.isDiscontinuous,
                    initialization: part.segment.initialization, bytes: part.segment.bytes))
        } + [.ended(.main)]
    }

    /// Neither rendition is more than `bound` segments ahead of the other.
    func inputs(aheadBy bound: Int, _ random: inout SeededGenerator) -> [SpliceInput] {
        let main = main
        var (video, sound) = (main[...], companion[...])
        var result: [SpliceInput] = []
        while !video.isEmpty || !sound.isEmpty {
            let (shown, heard) = (main.count - video.count, companion.count - sound.count)
            let maySee = !video.isEmpty && (shown - heard < bound || sound.isEmpty)
            let mayHear = !sound.isEmpty && (heard - shown < bound || video.isEmpty)
            let next = maySee && (!mayHear || Bool.random(using: &random)) ? video.popFirst() : sound.popFirst()
            if let next { result.append(next) }
        }
        return result
    }

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let habits = TorturePackagerOptions(hasCompanion: seed % 4 == 0, &random)
        // A picture whose sound lags waits for as long as four of the longest segments last.
        longest =
            habits.hasCompanion ? 900_000 : [900_000, 900_000, 60_000].randomElement(using: &random) ?? 900_000
        programs = (0..<Int.random(in: 2...5, using: &random)).map { habits.program($0, &random) }
        traits = ["seed \(seed), longest \(longest), \(habits)"]
        var (pictures, sounds) = (TorturePackager(), TorturePackager())
        for program in programs {
            append(pictures.segments(of: program), of: program, habits, &random)
            guard habits.hasCompanion else { continue }
            let borders = program.companionBoundaries(&random)
            append(companion: sounds.companion(of: program, borders: borders), of: program, habits)
        }
        for place in parts.indices.dropFirst() where habits.tagsNeedlessly {
            if Int.random(in: 0..<3, using: &random) == 0 { parts[place].isDiscontinuous = true }
        }
        if habits.hasCompanion { companion.append(.ended(.audio)) }
    }

    private mutating func append(
        _ segments: [TortureSegment], of program: TortureProgram, _ habits: TorturePackagerOptions,
        _ random: inout SeededGenerator
    ) {
        for (place, segment) in segments.enumerated() {
            let isSplice = place == 0 && program.serial > 0
            if isSplice, habits.splicesInside, Bool.random(using: &random), let last = parts.indices.last,
                parts[last].segment.initialization == nil, segment.initialization == nil
            {
                parts[last].segment.atoms += segment.atoms
                traits.append("\(program.serial) begins inside a segment")
                continue
            }
            let number = habits.isTagged ? UInt64(program.serial) : 0
            parts.append(
                Part(
                    program: program.serial, picture: program.boundaries[place],
                    isDiscontinuous: habits.isTagged && isSplice,
                    discontinuitySequence: habits.numbersAreWrong ? UInt64.random(in: 0...9, using: &random) : number,
                    segment: segment))
        }
    }

    private mutating func append(
        companion segments: [TortureSegment], of program: TortureProgram, _ habits: TorturePackagerOptions
    ) {
        for (place, segment) in segments.enumerated() {
            companion.append(
                .segment(
                    SegmentInput(
                        rendition: .audio, mediaSequence: UInt64(companion.count),
                        discontinuitySequence: habits.isTagged ? UInt64(program.serial) : 0,
                        isDiscontinuous: habits.isTagged && place == 0 && program.serial > 0,
                        initialization: segment.initialization, bytes: segment.bytes)))
        }
    }
}

extension TortureProgram {
    /// Where a packager that cuts sound by itself would: near the picture's borders, and all that is left at the end.
    fileprivate func companionBoundaries(_ random: inout SeededGenerator) -> [Int64] {
        boundaries.dropFirst().map { border in
            border == videoFrameCount ? .max : rate.time(border) + Int64.random(in: -9000...9000, using: &random)
        }
    }
}

// MARK: - What its viewers can be shown

extension TortureChannel {
    /// Pictures that follow, in a transport stream, a tag in the middle of a group: the stream is read anew there, and up
    /// to the next parameter sets nothing says how to decode them.
    var unreadable: Set<TortureFrameLabel> {
        var labels: Set<TortureFrameLabel> = []
        for part in parts where part.isDiscontinuous && part.segment.initialization == nil {
            let program = programs[part.program]
            let end = (part.picture..<program.videoFrameCount).first(where: program.isGroupStart)
            for index in part.picture..<(end ?? program.videoFrameCount) {
                labels.insert(TortureFrameLabel(part.program, index))
            }
        }
        return labels
    }

    /// Ticks by which the coarsest track's times depart from what was meant, of a picture and of the one behind it.
    var grain: Int64 {
        let maps = programs.flatMap { program -> [TortureMovie] in
            if case .movie(let maps) = program.container { maps } else { [] }
        }
        return maps.map {
            90_000 % Int64($0.videoTimescale) == 0 && $0.videoTimescale >= 90_000
                ? 0 : 180_000 / Int64($0.videoTimescale) + 1
        }
        .max() ?? 0
    }

    /// Access units beyond one a picture of which it cannot be known that they are fields: nothing was read before.
    var unpairedFields: Int {
        let lost = unreadable
        return programs.reduce(0) { sum, program in
            guard program.scan != nil else { return sum }
            let first = program.sentVideoFrames.first(where: program.isRandomAccess) ?? program.videoFrameCount
            return sum
                + program.sentVideoFrames.count { $0 < first || lost.contains(TortureFrameLabel(program.serial, $0)) }
        }
    }

    /// The same segments of each program cut elsewhere, where no tag stands between them.
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
    /// In pieces of at least half a second or so.
    fileprivate func cut(_ random: inout SeededGenerator) -> [Self] {
        let count = Int.random(in: 1...4, using: &random)
        let places = (1..<count).map { _ in Int.random(in: 0...segment.atoms.count, using: &random) }
        let borders = [0] + Set(places).sorted() + [segment.atoms.count]
        return zip(borders, borders.dropFirst()).filter { $0 < $1 }.map { start, end in
            var piece = self
            piece.segment.atoms = Array(segment.atoms[start..<end])
            piece.isDiscontinuous = isDiscontinuous && start == 0
            return piece
        }
    }
}
