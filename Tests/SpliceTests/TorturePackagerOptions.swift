import TestSupport

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// What a made-up packager does all the time, and what it makes programmes of.
struct TorturePackagerOptions {
    var hasCompanion: Bool
    var isTagged: Bool
    var tagsNeedlessly: Bool
    var numbersAreWrong: Bool
    var splicesInside: Bool
    var cutsMidGroup: Bool
    var containers: Containers

    enum Containers: CaseIterable { case transport, movies, both }

    init(hasCompanion: Bool, _ random: inout SeededGenerator) {
        self.hasCompanion = hasCompanion
        isTagged = Bool.random(using: &random)
        tagsNeedlessly = Int.random(in: 0..<4, using: &random) == 0
        // A companion is found by its numbers where clocks are ambiguous; with wrong ones there is nothing to go by.
        numbersAreWrong = !hasCompanion && Int.random(in: 0..<5, using: &random) == 0
        splicesInside = !hasCompanion && Int.random(in: 0..<3, using: &random) == 0
        cutsMidGroup = Int.random(in: 0..<4, using: &random) == 0
        containers = Containers.allCases.randomElement(using: &random) ?? .both
    }

    func program(_ serial: Int, _ random: inout SeededGenerator) -> TortureProgram {
        let rates: [(TortureProgram.Rate, Int)] = [(.film, 24), (.pal, 25), (.ntsc, 30), (.pal50, 50)]
        let (rate, second) = rates.randomElement(using: &random) ?? (.pal, 25)
        var programme = TortureProgram(serial: serial, rate: rate)
        programme.videoPID = [256, 481, 0x31].randomElement(using: &random) ?? 256
        programme.audioPID = programme.videoPID + UInt16.random(in: 1...2, using: &random)
        programme.clock =
            [0, 900_000, 900_000, 5_000_000_000, Ticks.wrap - 50_000, Ticks.wrap - 1].randomElement(using: &random) ?? 0
        // Inside a segment, less than 10 s forward are a gap.
        if splicesInside, programme.clock == 0 { programme.clock = 450_000_000 }
        frames(&programme, &random)
        segments(&programme, second: second, &random)
        containers(&programme, &random)
        audioTrack(&programme, &random)
        pictureParameterSets(&programme, &random)
        cuts(&programme, &random)
        // What cannot be shown at all says nothing of where in its rendition the sound beside it is.
        if programme.decodableVideoFrames.count * 2 < programme.videoFrameCount { programme.firstStart = .refresh }
        return programme
    }

    // MARK: - Pictures

    private func frames(_ programme: inout TortureProgram, _ random: inout SeededGenerator) {
        programme.isHEVC = Int.random(in: 0..<4, using: &random) == 0
        programme.parameterSets = (programme.isHEVC ? [0, 1, 3] : [2, 4, 5, 6, 8]).randomElement(using: &random) ?? 5
        programme.reordered = [0, 2, 2].randomElement(using: &random) ?? 0
        programme.group = [7, 10, 13, 25].randomElement(using: &random) ?? 10
        if !programme.isHEVC, Int.random(in: 0..<5, using: &random) == 0 {
            programme.parameterSets = TortureProgram.fieldRow
            programme.scan = [.frames, .fields(apart: false), .fields(apart: true), .mixed].randomElement(
                using: &random)
        }
        guard programme.reordered > 0 else { return }
        let open: [TortureProgram.GroupStart] = programme.isHEVC ? [.open] : [.refresh, .open]
        let others: [[TortureProgram.GroupStart]] = [[.refresh], [.refresh], open, [.refresh, .open, .open]]
        programme.otherStarts = others.randomElement(using: &random) ?? [.refresh]
        if programme.isHEVC, Int.random(in: 0..<3, using: &random) == 0 { programme.otherStarts = [.leading, .open] }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: programme.firstStart = .leading
        case 1 where programme.isHEVC || programme.otherStarts.contains(.refresh): programme.firstStart = .open
        default: break
        }
        programme.decodeLate = [0, 0, 0, 0, 7200, 288_000].randomElement(using: &random) ?? 0
    }

    private func segments(_ programme: inout TortureProgram, second: Int, _ random: inout SeededGenerator) {
        programme.segments = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let count = second + second / 4
            return cutsMidGroup
                ? count - Int.random(in: 0..<6, using: &random) : count / programme.group * programme.group
        }
        for index in programme.segments.indices {
            programme.segments[index] = max(programme.segments[index], programme.group)
        }
        if programme.segments.count == 1 { programme.segments[0] += programme.group }
    }

    /// A map names its parameter sets for the whole of a segment. A run's last sound is not waited for, for as long as a
    /// second, where its programme goes on in another run.
    private func pictureParameterSets(_ programme: inout TortureProgram, _ random: inout SeededGenerator) {
        guard Int.random(in: 0..<5, using: &random) == 0, programme.audioLag < 90_000 else { return }
        let place = programme.segments.indices.randomElement(using: &random) ?? 0
        if case .movie = programme.container, !programme.isRandomAccess(programme.boundaries[place]) { return }
        programme.changesPictureParameterSetAt = place
    }

    /// Where it was cut out of something longer.
    private func cuts(_ programme: inout TortureProgram, _ random: inout SeededGenerator) {
        if Int.random(in: 0..<4, using: &random) == 0 { programme.cutAtEnd = Int.random(in: 1...3, using: &random) }
        // Pictures in front of any parameter set are not seen: sound on another clock is laid beside what is.
        guard Int.random(in: 0..<6, using: &random) == 0, programme.audioClock == nil else { return }
        guard programme.isRandomAccess(programme.group) else { return }
        programme.cutAtStart = Int.random(in: 1..<programme.group, using: &random)
    }

    // MARK: - Containers

    private func containers(_ programme: inout TortureProgram, _ random: inout SeededGenerator) {
        programme.container = container(&programme, &random)
        guard hasCompanion else { return }
        programme.companionContainer =
            Int.random(in: 0..<5, using: &random) == 0 ? .packed : container(&programme, &random)
    }

    private func container(
        _ programme: inout TortureProgram, _ random: inout SeededGenerator
    ) -> TortureContainer {
        let isMovie = containers == .movies || containers == .both && Bool.random(using: &random)
        guard isMovie else { return .transport }
        // Nothing in front of 0 can be said; and what goes back by less than half a second cannot be told from going on.
        programme.clock = max(programme.clock, 20_000_000)
        var maps = (0..<Int.random(in: 1...2, using: &random)).map { _ in map(&random) }
        // Behind another map that has none, parameter sets come with the next group.
        if cutsMidGroup, maps.count > 1 { for index in maps.indices { maps[index].isInBand = false } }
        return .movie(maps)
    }

    private func map(_ random: inout SeededGenerator) -> TortureMovie {
        TortureMovie(
            videoTimescale: [90_000, 12_800, 24_000, 30_000, 1000, 10_000_000].randomElement(using: &random) ?? 600,
            audioTimescale: [48_000, 44_100, 90_000, 1000].randomElement(using: &random) ?? 600,
            lengthSize: [4, 4, 2, 1].randomElement(using: &random) ?? 4,
            isInBand: Int.random(in: 0..<4, using: &random) == 0,
            hasEdits: Int.random(in: 0..<3, using: &random) == 0,
            fragments: Int.random(in: 1...3, using: &random))
    }

    // MARK: - Sound

    private func audioTrack(_ programme: inout TortureProgram, _ random: inout SeededGenerator) {
        programme.hasCompanionAudio = hasCompanion
        programme.isLayer3 = Int.random(in: 0..<8, using: &random) == 0
        programme.frequencyIndex = programme.isLayer3 ? 3 : [3, 3, 4].randomElement(using: &random) ?? 3
        programme.channels = [2, 2, 1, 6].randomElement(using: &random) ?? 2
        programme.audioOffset = Int64.random(in: -18_000...18_000, using: &random)
        programme.framesPerPacket = Int.random(in: 1...3, using: &random)
        if !hasCompanion {
            programme.audioLag = [0, 0, -45_000, 45_000, 90_000].randomElement(using: &random) ?? 0
            // Which of several programmes inside a segment has no sound cannot be told when their clocks are alike.
            programme.hasAudio = splicesInside || Int.random(in: 0..<8, using: &random) > 0
        }
        // Sound on a clock of its own is found by the tag that stands before it and its picture.
        // Behind a tag in the middle of a group pictures are not seen: sound is told from theirs where it comes with them.
        let isSeen = !(tagsNeedlessly && cutsMidGroup)
        if !isSeen { programme.audioLag = 0 }
        if isTagged, isSeen, !splicesInside, !numbersAreWrong, Int.random(in: 0..<5, using: &random) == 0 {
            programme.audioClock = 3_000_000_000
            programme.audioOffset = 0
        }
    }
}
