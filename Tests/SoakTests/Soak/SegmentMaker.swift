import Playlist
import TestSupport

/// Decides what is on air next: stretches of the programme, and pods of advertisements between them.
struct SegmentMaker {
    private var programme = (next: 0, clock: Int64(0))
    /// Parts of the advertisement on air that are still to come, and how many advertisements follow it.
    private var advertisement: (material: Int, next: Int, clock: Int64)?
    private var isPodTagged = false
    private var adsLeft = 0
    private var isReturning = false
    private var nextBreak: Int
    private var breaks = 0
    private var tagged = 0
    private var key: Int?
    private var keys = 0
    private var nextKey: Int

    init(using random: inout SeededGenerator) {
        programme.clock = Int64.random(in: 0..<1 << 33, using: &random)
        nextBreak = Int.random(in: 60...300, using: &random) * 1000
        nextKey = Int.random(in: 300...900, using: &random) * 1000
    }

    mutating func next(at time: Int, of material: [SoakMaterial], using random: inout SeededGenerator) -> SoakSegment {
        var marks = ""
        var isSplice = isReturning
        if advertisement == nil, adsLeft == 0, time >= nextBreak {
            adsLeft = Int.random(in: 1...6, using: &random)
            isPodTagged = Bool.random(using: &random)
            if isPodTagged { marks = beginBreak(at: time) }
        }
        if advertisement == nil, adsLeft > 0 {
            adsLeft -= 1
            isSplice = true
            let clock = Int64.random(in: 0..<1 << 33, using: &random)
            advertisement = (
                Int.random(in: 1..<material.count, using: &random), 0, Bool.random(using: &random) ? 0 : clock
            )
        }
        if isReturning, isPodTagged { marks = "#EXT-X-CUE-IN\n" }
        isReturning = false
        let isTagged = isSplice && isPodTagged
        if isTagged { tagged += 1 }
        changeKey(at: time, using: &random)
        let piece = take(from: material, at: time, using: &random)
        let of = material[piece.material]
        return SoakSegment(
            material: piece.material, parts: piece.parts, clock: piece.clock, start: time,
            duration: of.duration(of: piece.parts), isTagged: isTagged, isSplice: isSplice,
            key: key, marks: marks, tagged: tagged, named: of.named(piece.parts))
    }

    /// The encoder stands still for so many milliseconds, or another one takes its place.
    mutating func interrupt(for pause: Int, anew: Bool, using random: inout SeededGenerator) {
        advertisement = nil
        isReturning = true
        if anew {
            programme.clock = Int64.random(in: 0..<1 << 33, using: &random)
            isPodTagged = false
        } else {
            programme.clock += Int64(pause) * 90
        }
    }

    private typealias Piece = (material: Int, parts: Range<Int>, clock: Int64)

    private mutating func take(from material: [SoakMaterial], at time: Int, using random: inout SeededGenerator)
        -> Piece
    {
        guard let (index, next, clock) = advertisement else {
            let parts = programme.next..<programme.next + Int.random(in: 3...5, using: &random)
            programme.next = parts.upperBound
            return (0, parts, programme.clock)
        }
        let bodies = material[index].bodies.count
        let parts = next..<min(bodies, next + Int.random(in: 1...2, using: &random))
        advertisement = parts.upperBound < bodies ? (index, parts.upperBound, clock) : nil
        if advertisement == nil, adsLeft == 0 { endBreak(at: time, using: &random) }
        return (index, parts, clock)
    }

    private mutating func beginBreak(at time: Int) -> String {
        breaks += 1
        let date = SoakScript.epoch.advanced(by: .milliseconds(time)).text
        return "#EXT-X-CUE-OUT:30\n#EXT-X-DATERANGE:ID=\"break-\(breaks)\",START-DATE=\"\(date)\",PLANNED-DURATION=30\n"
    }

    /// The programme's clock has gone on meanwhile, stood still, or begins somewhere else.
    private mutating func endBreak(at time: Int, using random: inout SeededGenerator) {
        isReturning = true
        nextBreak = time + Int.random(in: 120...600, using: &random) * 1000
        if Bool.random(using: &random) { programme.clock = Int64.random(in: 0..<1 << 33, using: &random) }
    }

    /// Encrypted stretches and clear ones.
    private mutating func changeKey(at time: Int, using random: inout SeededGenerator) {
        guard time >= nextKey else { return }
        nextKey = time + Int.random(in: 120...900, using: &random) * 1000
        keys += 1
        key = key != nil && Int.random(in: 0..<3, using: &random) == 0 ? nil : keys
    }
}
