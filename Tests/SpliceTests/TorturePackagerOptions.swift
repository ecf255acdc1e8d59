import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Options of a synthetic packager, and random programs for it.
struct TorturePackagerOptions {
    var hasCompanion: Bool
    var isTagged: Bool
    var tagsNeedlessly: Bool
    var hasWrongSequences: Bool
    var changesInsideSegments: Bool
    var cutsMidGOP: Bool
    var containers: Containers

    enum Containers: CaseIterable { case transport, movies, both }

    init(hasCompanion: Bool, _ random: inout SeededGenerator) {
        self.hasCompanion = hasCompanion
        isTagged = Bool.random(using: &random)
        tagsNeedlessly = Int.random(in: 0..<4, using: &random) == 0
        // Where clocks are ambiguous a companion is matched by its sequence numbers, so those have to be right.
        hasWrongSequences = !hasCompanion && Int.random(in: 0..<5, using: &random) == 0
        changesInsideSegments = !hasCompanion && Int.random(in: 0..<3, using: &random) == 0
        cutsMidGOP = Int.random(in: 0..<4, using: &random) == 0
        containers = Containers.allCases.randomElement(using: &random) ?? .both
    }

    func program(_ serial: Int, _ random: inout SeededGenerator) -> TortureProgram {
        let rates: [(TortureProgram.Rate, Int)] = [(.film, 24), (.pal, 25), (.ntsc, 30), (.pal50, 50)]
        let (rate, second) = rates.randomElement(using: &random) ?? (.pal, 25)
        var program = TortureProgram(serial: serial, rate: rate)
        program.videoPID = [256, 481, 0x31].randomElement(using: &random) ?? 256
        program.audioPID = program.videoPID + UInt16.random(in: 1...2, using: &random)
        program.clock =
            [0, 900_000, 900_000, 5_000_000_000, Ticks.wrap - 50_000, Ticks.wrap - 1].randomElement(using: &random) ?? 0
        // Inside a segment a step of less than 10 s is a gap.
        if changesInsideSegments, program.clock == 0 { program.clock = 450_000_000 }
        frames(&program, &random)
        segments(&program, second: second, &random)
        containers(&program, &random)
        audioTrack(&program, &random)
        pictureParameterSets(&program, &random)
        cuts(&program, &random)
        // Video that cannot be decoded at all does not tell where its audio is in the companion.
        if program.decodableVideoFrames.count * 2 < program.videoFrameCount { program.firstStart = .refresh }
        return program
    }

    // MARK: - Video

    private func frames(_ program: inout TortureProgram, _ random: inout SeededGenerator) {
        program.isHEVC = Int.random(in: 0..<4, using: &random) == 0
        program.parameterSets = (program.isHEVC ? [0, 1, 3] : [2, 4, 5, 6, 8]).randomElement(using: &random) ?? 5
        program.reordered = [0, 2, 2].randomElement(using: &random) ?? 0
        program.group = [7, 10, 13, 25].randomElement(using: &random) ?? 10
        if !program.isHEVC, Int.random(in: 0..<5, using: &random) == 0 {
            program.parameterSets = TortureProgram.fieldRow
            program.scan = [.frames, .fields(apart: false), .fields(apart: true), .mixed].randomElement(
                using: &random)
        }
        guard program.reordered > 0 else { return }
        let open: [TortureProgram.GroupStart] = program.isHEVC ? [.open] : [.refresh, .open]
        let others: [[TortureProgram.GroupStart]] = [[.refresh], [.refresh], open, [.refresh, .open, .open]]
        program.otherStarts = others.randomElement(using: &random) ?? [.refresh]
        if program.isHEVC, Int.random(in: 0..<3, using: &random) == 0 { program.otherStarts = [.leading, .open] }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: program.firstStart = .leading
        case 1 where program.isHEVC || program.otherStarts.contains(.refresh): program.firstStart = .open
        default: break
        }
        program.decodeLate = [0, 0, 0, 0, 7200, 288_000].randomElement(using: &random) ?? 0
    }

    private func segments(_ program: inout TortureProgram, second: Int, _ random: inout SeededGenerator) {
        program.segments = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let count = second + second / 4
            return cutsMidGOP
                ? count - Int.random(in: 0..<6, using: &random) : count / program.group * program.group
        }
        for index in program.segments.indices {
            program.segments[index] = max(program.segments[index], program.group)
        }
        if program.segments.count == 1 { program.segments[0] += program.group }
    }

    /// Changes the picture parameter set at a segment. A map holds for a whole segment, and late audio is not awaited
    /// where a program continues in another period.
    private func pictureParameterSets(_ program: inout TortureProgram, _ random: inout SeededGenerator) {
        guard Int.random(in: 0..<5, using: &random) == 0, program.audioLag < 90_000 else { return }
        let index = program.segments.indices.randomElement(using: &random) ?? 0
        if case .movie = program.container, !program.isRandomAccess(program.boundaries[index]) { return }
        program.changesPictureParameterSetAt = index
    }

    /// Cuts frames off the start and the end.
    private func cuts(_ program: inout TortureProgram, _ random: inout SeededGenerator) {
        if Int.random(in: 0..<4, using: &random) == 0 { program.cutAtEnd = Int.random(in: 1...3, using: &random) }
        // Frames before any parameter sets are dropped, and audio on another clock is aligned to those that remain.
        guard Int.random(in: 0..<6, using: &random) == 0, program.audioClock == nil else { return }
        guard program.isRandomAccess(program.group) else { return }
        program.cutAtStart = Int.random(in: 1..<program.group, using: &random)
    }

    // MARK: - Containers

    private func containers(_ program: inout TortureProgram, _ random: inout SeededGenerator) {
        program.container = container(&program, &random)
        guard hasCompanion else { return }
        program.companionContainer =
            Int.random(in: 0..<5, using: &random) == 0 ? .packed : container(&program, &random)
    }

    private func container(
        _ program: inout TortureProgram, _ random: inout SeededGenerator
    ) -> TortureContainer {
        let isMovie = containers == .movies || containers == .both && Bool.random(using: &random)
        guard isMovie else { return .transport }
        // MP4 has no times before 0, and a step back of less than half a second looks like a continuation.
        program.clock = max(program.clock, 20_000_000)
        var maps = (0..<Int.random(in: 1...2, using: &random)).map { _ in map(&random) }
        // After another map without parameter sets, those come with the next GOP.
        if cutsMidGOP, maps.count > 1 { for index in maps.indices { maps[index].isInBand = false } }
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

    // MARK: - Audio

    private func audioTrack(_ program: inout TortureProgram, _ random: inout SeededGenerator) {
        program.hasCompanionAudio = hasCompanion
        program.isLayer3 = Int.random(in: 0..<8, using: &random) == 0
        program.frequencyIndex = program.isLayer3 ? 3 : [3, 3, 4].randomElement(using: &random) ?? 3
        program.channels = [2, 2, 1, 6].randomElement(using: &random) ?? 2
        program.audioOffset = Int64.random(in: -18_000...18_000, using: &random)
        program.framesPerPacket = Int.random(in: 1...3, using: &random)
        if !hasCompanion {
            program.audioLag = [0, 0, -45_000, 45_000, 90_000].randomElement(using: &random) ?? 0
            // Which of several programs inside a segment has no audio is unknown if their clocks are similar.
            program.hasAudio = changesInsideSegments || Int.random(in: 0..<8, using: &random) > 0
        }
        // Audio on its own clock is matched by the tag before it and its video. After a tag in the middle of a GOP frames
        // are dropped; audio is then matched only if it is muxed without lag.
        let isDecodable = !(tagsNeedlessly && cutsMidGOP)
        if !isDecodable { program.audioLag = 0 }
        if isTagged, isDecodable, !changesInsideSegments, !hasWrongSequences, Int.random(in: 0..<5, using: &random) == 0
        {
            program.audioClock = 3_000_000_000
            program.audioOffset = 0
        }
    }
}
