import Playlist
import TestSupport

/// A live channel made up from a seed: what is on air at each moment of it, and what goes wrong. All times are
/// milliseconds since the channel began.
///
/// A programme of minutes is broken by pods of advertisements; between two faults all is well for a while.
struct SoakScript {
    /// What the lists of a stretch of time count and name by.
    struct Era {
        /// From then on.
        let start: Int
        /// Added to a segment's number to get its media sequence number.
        var shift: Int
        /// What the addresses of the segments begin with.
        var name: Int
        /// The first segment that this encoder knows of.
        var floor: Int
        /// The encoder before it said that the channel has ended.
        var isBehindEnd = false
    }

    static let targetDuration = 5
    /// Midnight of 2026-03-01.
    static let epoch = ProgramDateTime(millisecondsSince1970: 1_772_323_200_000)

    let material: [SoakMaterial]
    let length: Int
    private(set) var segments: [SoakSegment] = []
    /// They do not overlap.
    private(set) var faults: [SoakFault] = []
    private(set) var eras = [Era(start: 0, shift: 100, name: 0, floor: 0)]
    /// Each segment has its date.
    let isDated: Bool

    /// - Parameter calm: seconds between two faults.
    init(seed: UInt64, seconds: Int, calm: ClosedRange<Int>) throws {
        material = try SoakMaterial.all()
        length = seconds * 1000
        var random = SeededGenerator(seed: seed)
        isDated = seed % 3 != 0
        var maker = SegmentMaker(using: &random)
        // A list is full from the start.
        var time = -60_000
        var nextFault = 30_000
        while time < length {
            if time >= nextFault {
                let fault = makeFault(at: time, using: &random)
                if fault.kind.stopsEncoder {
                    maker.interrupt(for: fault.end - time, anew: fault.kind != .encoderPaused, using: &random)
                    time = fault.end
                }
                append(fault, using: &random)
                nextFault = max(time, fault.end) + Int.random(in: calm, using: &random) * 1000
            }
            var segment = maker.next(at: time, of: material, using: &random)
            if let fault = faults.last, fault.segment == segments.count { segment.fault = fault }
            segments.append(segment)
            time = segment.end
        }
    }

    private func makeFault(at time: Int, using random: inout SeededGenerator) -> SoakFault {
        // Without dates nobody can tell that segments with other numbers and names are those of before.
        var excluded: Set<SoakFault.Kind> = isDated ? [] : [.renamed]
        if segments.last?.key == nil { excluded.insert(.keyRefused) }
        let kind = SoakFault.Kind.random(without: excluded, using: &random)
        let delay = kind.stopsEncoder ? 0 : Int.random(in: 0...3000, using: &random)
        return SoakFault(kind, at: time + delay, using: &random)
    }

    private mutating func append(_ fault: SoakFault, using random: inout SeededGenerator) {
        var fault = fault
        if fault.kind.isOfSegment { fault.segment = segments.count }
        faults.append(fault)
        var era = Era(
            start: fault.start, shift: eras.last?.shift ?? 0, name: faults.count, floor: eras.last?.floor ?? 0)
        switch fault.kind {
        case .renumbered:
            era.name = eras.last?.name ?? 0
            era.shift = Int.random(in: 0...2000, using: &random) - segments.count + 100
        case .renamed: era.shift = Int.random(in: 0...2000, using: &random) - segments.count + 100
        case .startedAnew, .endedAndBegan:
            era.floor = segments.count
            era.shift = -segments.count
            era.isBehindEnd = fault.kind == .endedAndBegan
        default: return
        }
        eras.append(era)
    }
}

// MARK: - Asked while it plays

extension SoakScript {
    /// Segments listed by `time`: those before this number.
    func edge(at time: Int) -> Int { segments.boundary { $0.end > time } }

    /// What goes wrong at `time`.
    func fault(at time: Int) -> SoakFault? {
        let next = faults.boundary { $0.start > time }
        guard next > 0, faults[next - 1].end > time else { return nil }
        return faults[next - 1]
    }

    func era(at time: Int) -> Era { eras[max(0, eras.boundary { $0.start > time } - 1)] }

    /// The one whose numbers an encoder that ended had.
    func era(before era: Era) -> Era { eras[max(0, eras.boundary { $0.start >= era.start } - 1)] }

    /// How often a token had expired by `time`.
    func token(at time: Int) -> Int {
        faults[..<faults.boundary { $0.start > time }].count { $0.kind == .tokenExpired }
    }

    /// The last thing that was wrong from `start` to `end`.
    func fault(from start: Int, to end: Int) -> SoakFault? {
        let next = faults.boundary { $0.start > end }
        guard next > 0, faults[next - 1].end >= start else { return nil }
        return faults[next - 1]
    }

    /// The bytes of a segment as the encoder made it, not encrypted.
    func body(of number: Int) -> [UInt8] {
        let segment = segments[number]
        return material[segment.material].segment(segment.parts, clock: segment.clock, number: number)
    }
}

extension Array {
    /// Index of the first element that `isBehind`; all after it are too.
    func boundary(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
