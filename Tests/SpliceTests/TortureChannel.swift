import TestSupport

@testable import Splice

/// A made-up channel: programmes one behind the other, and how its packager cut, tagged and numbered them.
struct TortureChannel: CustomStringConvertible {
    var programmes: [TortureProgramme] = []
    /// Inputs of each rendition in its playlist's order.
    var main: [SpliceInput] = []
    var companion: [SpliceInput] = []
    /// Longest output segment, ticks.
    var longest: Int64 = 900_000
    var words: [String] = []

    var description: String { (words + programmes.map { "\($0)" }).joined(separator: "\n") }
    var hasCompanion: Bool { !companion.isEmpty }

    /// Neither rendition is more than `bound` segments ahead of the other.
    func inputs(aheadBy bound: Int, _ random: inout SeededGenerator) -> [SpliceInput] {
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
        let hasCompanion = seed % 4 == 0
        let habits = Habits(hasCompanion: hasCompanion, &random)
        // A picture whose sound lags waits for as long as four of the longest segments last.
        longest = hasCompanion ? 900_000 : [900_000, 900_000, 60_000].randomElement(using: &random) ?? 900_000
        programmes = (0..<Int.random(in: 2...5, using: &random)).map { Self.programme($0, habits, &random) }
        words = ["longest \(longest), \(habits)"]
        var (pictures, sounds) = (TortureMultiplexer(), TortureMultiplexer())
        var parts: [Part] = []
        for programme in programmes {
            for (place, bytes) in pictures.segments(of: programme).enumerated() {
                let isSplice = place == 0 && programme.serial > 0
                if isSplice, habits.splicesInside, Bool.random(using: &random), let last = parts.indices.last {
                    parts[last].bytes += bytes
                    words.append("\(programme.serial) begins inside a segment")
                } else {
                    parts.append(Part(programme: programme.serial, isSplice: isSplice, bytes: bytes))
                }
            }
            guard hasCompanion else { continue }
            let borders = programme.companionBorders(&random)
            for (place, bytes) in sounds.companion(of: programme, borders: borders).enumerated() {
                let isSplice = habits.isTagged && place == 0 && programme.serial > 0
                companion.append(
                    .segment(
                        SegmentInput(
                            rendition: .audio, mediaSequence: UInt64(companion.count),
                            discontinuitySequence: habits.isTagged ? UInt64(programme.serial) : 0,
                            isDiscontinuous: isSplice, bytes: bytes)))
            }
        }
        main = parts.enumerated().map { place, part in
            let isFalse = place > 0 && habits.tagsForNothing && Int.random(in: 0..<3, using: &random) == 0
            let number =
                habits.numbersAreWrong
                ? UInt64.random(in: 0...9, using: &random) : habits.isTagged ? UInt64(part.programme) : 0
            return .segment(
                SegmentInput(
                    rendition: .main, mediaSequence: UInt64(place), discontinuitySequence: number,
                    isDiscontinuous: isFalse || habits.isTagged && part.isSplice, bytes: part.bytes))
        }
        main.append(.ended(.main))
        if hasCompanion { companion.append(.ended(.audio)) }
    }

    private struct Part {
        var programme: Int
        var isSplice: Bool
        var bytes: [UInt8]
    }

    /// What a packager does all the time.
    struct Habits {
        var hasCompanion: Bool
        var isTagged: Bool
        var tagsForNothing: Bool
        var numbersAreWrong: Bool
        var splicesInside: Bool
        var cutsMidGroup: Bool
        /// No sound comes in a codec of which there is no silence.
        var hasSilence: Bool

        init(hasCompanion: Bool, _ random: inout SeededGenerator) {
            self.hasCompanion = hasCompanion
            isTagged = Bool.random(using: &random)
            tagsForNothing = Int.random(in: 0..<4, using: &random) == 0
            // A companion is found by its numbers where clocks are ambiguous; with wrong ones there is nothing to go by.
            numbersAreWrong = !hasCompanion && Int.random(in: 0..<5, using: &random) == 0
            splicesInside = !hasCompanion && Int.random(in: 0..<3, using: &random) == 0
            // Behind a tag the stream is read anew: pictures up to the next IDR have no parameter sets, and are counted.
            hasSilence = Int.random(in: 0..<3, using: &random) > 0
            cutsMidGroup = !tagsForNothing && Int.random(in: 0..<4, using: &random) == 0
        }
    }

    private static func programme(
        _ serial: Int, _ habits: Habits, _ random: inout SeededGenerator
    ) -> TortureProgramme {
        let rates: [(TortureProgramme.Rate, Int)] = [(.film, 24), (.pal, 25), (.ntsc, 30), (.pal50, 50)]
        let (rate, second) = rates.randomElement(using: &random) ?? (.pal, 25)
        var programme = TortureProgramme(serial: serial, rate: rate)
        programme.isHEVC = Int.random(in: 0..<4, using: &random) == 0
        programme.parameterSets =
            (programme.isHEVC ? [0, 1, 3] : [2, 4, 5, 6, 8]).randomElement(using: &random) ?? 5
        programme.reordered = [0, 2, 2].randomElement(using: &random) ?? 0
        programme.group = [7, 10, 13, 25].randomElement(using: &random) ?? 10
        programme.videoPID = [256, 481, 0x31].randomElement(using: &random) ?? 256
        programme.audioPID = programme.videoPID + UInt16.random(in: 1...2, using: &random)
        programme.clock =
            [0, 900_000, 900_000, 5_000_000_000, Ticks.wrap - 50_000, Ticks.wrap - 1].randomElement(using: &random) ?? 0
        let seconds = (0..<Int.random(in: 1...3, using: &random)).map { _ in second + second / 4 }
        programme.segments = seconds.map { count in
            habits.cutsMidGroup
                ? count - Int.random(in: 0..<6, using: &random) : count / programme.group * programme.group
        }
        for index in programme.segments.indices {
            programme.segments[index] = max(programme.segments[index], programme.group)
        }
        if programme.segments.count == 1 { programme.segments[0] += programme.group }
        soundTrack(&programme, habits, &random)
        // Where it was cut out of something longer.
        if Int.random(in: 0..<4, using: &random) == 0 { programme.cutAtEnd = Int.random(in: 1...3, using: &random) }
        switch Int.random(in: 0..<6, using: &random) {
        // Pictures in front of any parameter set are not seen: sound on another clock is laid beside what is.
        case 0 where programme.audioClock == nil:
            programme.cutAtStart = Int.random(in: 1..<programme.group, using: &random)
        case 1 where programme.reordered > 0: programme.hasLeadingPictures = true
        default: break
        }
        return programme
    }

    private static func soundTrack(
        _ programme: inout TortureProgramme, _ habits: Habits, _ random: inout SeededGenerator
    ) {
        programme.soundsInCompanion = habits.hasCompanion
        // Of what cannot be filled with silence there is no track in a programme without sound, and its clock jumps then.
        let isFillable = habits.hasSilence
        programme.isLayer3 = !isFillable && Int.random(in: 0..<3, using: &random) == 0
        programme.frequencyIndex = programme.isLayer3 ? 3 : [3, 3, 4].randomElement(using: &random) ?? 3
        programme.channels = [2, 2, 1, 6].randomElement(using: &random) ?? 2
        programme.audioOffset = Int64.random(in: -18_000...18_000, using: &random)
        programme.framesPerPacket = Int.random(in: 1...3, using: &random)
        if !habits.hasCompanion {
            programme.audioLag = [0, 0, -45_000, 45_000, 90_000].randomElement(using: &random) ?? 0
            // Which of several programmes inside a segment has no sound cannot be told when their clocks are alike.
            programme.hasAudio = habits.splicesInside || !isFillable || Int.random(in: 0..<8, using: &random) > 0
        }
        // Sound on a clock of its own is found by the tag that stands before it and its picture.
        if habits.isTagged, !habits.splicesInside, !habits.numbersAreWrong, Int.random(in: 0..<5, using: &random) == 0 {
            programme.audioClock = 3_000_000_000
            programme.audioOffset = 0
        }
    }
}

extension TortureProgramme {
    /// Where a packager that cuts sound by itself would: near the picture's borders, and all that is left at the end.
    fileprivate func companionBorders(_ random: inout SeededGenerator) -> [Int64] {
        var pictures = 0
        return segments.indices.map { place in
            pictures += segments[place]
            return place == segments.count - 1
                ? .max : rate.time(pictures) + Int64.random(in: -9000...9000, using: &random)
        }
    }
}
