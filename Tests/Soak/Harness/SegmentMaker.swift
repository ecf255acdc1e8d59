import Playlist
import Support
import TestSupport

/// Generates the segments of the channel: a program with ad pods in between.
struct SegmentMaker {
    private var program = (next: 0, clock: Int64(0))
    /// Position in the current ad.
    private var ad: (material: Int, next: Int, clock: Int64)?
    private var isPodTagged = false
    /// Ads in the pod after the current one.
    private var remainingAds = 0
    private var isReturning = false
    private var nextBreak: Int
    private var breaks = 0
    private var tagCount = 0
    private var key: Int?
    private var keys = 0
    private var nextKey: Int

    /// The date of time 0.
    private let epoch: ProgramDateTime

    init(epoch: ProgramDateTime, using random: inout SeededGenerator) {
        self.epoch = epoch
        program.clock = Int64.random(in: 0..<1 << 33, using: &random)
        nextBreak = Int.random(in: 60...300, using: &random) * 1000
        nextKey = Int.random(in: 300...900, using: &random) * 1000
    }

    mutating func next(at time: Int, of material: [SoakMaterial], using random: inout SeededGenerator) -> SoakSegment {
        var tags = ""
        var isSplice = isReturning
        if ad == nil, remainingAds == 0, time >= nextBreak {
            remainingAds = Int.random(in: 1...6, using: &random)
            isPodTagged = Bool.random(using: &random)
            if isPodTagged { tags = beginBreak(at: time) }
        }
        if ad == nil, remainingAds > 0 {
            remainingAds -= 1
            isSplice = true
            let clock = Int64.random(in: 0..<1 << 33, using: &random)
            ad = (
                Int.random(in: 1..<material.count, using: &random), 0, Bool.random(using: &random) ? 0 : clock
            )
        }
        if isReturning, isPodTagged { tags = "#EXT-X-CUE-IN\n" }
        isReturning = false
        let isTagged = isSplice && isPodTagged
        if isTagged { tagCount += 1 }
        changeKey(at: time, using: &random)
        let part = nextPart(from: material, at: time, using: &random)
        let source = material[part.material]
        return SoakSegment(
            material: part.material, parts: part.parts, clock: part.clock, start: time,
            duration: source.duration(of: part.parts), isTagged: isTagged, isSplice: isSplice,
            key: key, tags: tags, tagCount: tagCount, identifiedFrames: source.identifiedFrames(part.parts))
    }

    /// Interrupts the encoder for `pause` milliseconds, or replaces it by a new one.
    mutating func interrupt(for pause: Int, restarts: Bool, using random: inout SeededGenerator) {
        ad = nil
        isReturning = true
        if restarts {
            program.clock = Int64.random(in: 0..<1 << 33, using: &random)
            isPodTagged = false
        } else {
            program.clock += Int64(pause) * 90
        }
    }

    private typealias Part = (material: Int, parts: Range<Int>, clock: Int64)

    private mutating func nextPart(from material: [SoakMaterial], at time: Int, using random: inout SeededGenerator)
        -> Part
    {
        guard let (index, next, clock) = ad else {
            let parts = program.next..<program.next + Int.random(in: 3...5, using: &random)
            program.next = parts.upperBound
            return (0, parts, program.clock)
        }
        let bodies = material[index].bodies.count
        let parts = next..<min(bodies, next + Int.random(in: 1...2, using: &random))
        ad = parts.upperBound < bodies ? (index, parts.upperBound, clock) : nil
        if ad == nil, remainingAds == 0 { endBreak(at: time, using: &random) }
        return (index, parts, clock)
    }

    private mutating func beginBreak(at time: Int) -> String {
        breaks += 1
        let date = epoch.advanced(by: .milliseconds(time)).text
        return "#EXT-X-CUE-OUT:30\n#EXT-X-DATERANGE:ID=\"break-\(breaks)\",START-DATE=\"\(date)\",PLANNED-DURATION=30\n"
    }

    /// Ends the ad break. The program's clock continues or starts at a random time.
    private mutating func endBreak(at time: Int, using random: inout SeededGenerator) {
        isReturning = true
        nextBreak = time + Int.random(in: 120...600, using: &random) * 1000
        if Bool.random(using: &random) { program.clock = Int64.random(in: 0..<1 << 33, using: &random) }
    }

    /// Switches between keys and unencrypted segments.
    private mutating func changeKey(at time: Int, using random: inout SeededGenerator) {
        guard time >= nextKey else { return }
        nextKey = time + Int.random(in: 120...900, using: &random) * 1000
        keys += 1
        key = key != nil && Int.random(in: 0..<3, using: &random) == 0 ? nil : keys
    }
}
