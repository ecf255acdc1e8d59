import Playlist
import Support
import TestSupport

/// A live channel generated from a seed: its segments and its faults. All times are milliseconds since the channel began.
///
/// Ad pods interrupt the program every few minutes. There is time without faults between two faults.
struct SoakScript {
    /// Numbering and naming of the segments in a time range.
    struct Era {
        /// Start of the time range.
        let start: Int
        /// Offset from segment index to media sequence number.
        var numberOffset: Int
        /// Prefix of the segments' URLs.
        var name: Int
        /// Index of the encoder's first segment.
        var firstSegment: Int
        /// Whether the encoder before ended with ENDLIST.
        var followsEnd = false
    }

    static let targetDuration = 5
    /// Midnight of 2026-03-01, when the channel was new.
    private static let beginning = ProgramDateTime(millisecondsSince1970: 1_772_323_200_000)

    let material: [SoakMaterial]
    let length: Int
    private(set) var segments: [SoakSegment] = []
    /// Faults in order, without overlap.
    private(set) var faults: [SoakFault] = []
    private(set) var eras: [Era]
    /// The date of time 0.
    let epoch: ProgramDateTime
    /// Whether each segment has a date.
    let isDated: Bool

    /// - Parameters:
    ///   - start: seconds for which the channel has run before time 0.
    ///   - faultInterval: seconds between two faults.
    init(seed: UInt64, from start: Int, seconds: Int, faultInterval: ClosedRange<Int>) throws {
        material = try SoakMaterial.all()
        epoch = Self.beginning.advanced(by: .seconds(start))
        eras = [Era(start: 0, numberOffset: 100 + start / Self.targetDuration, name: 0, firstSegment: 0)]
        length = seconds * 1000
        var random = SeededGenerator(seed: seed)
        isDated = seed % 3 != 0
        var maker = SegmentMaker(epoch: epoch, using: &random)
        // The playlist is full from the start.
        var time = -60_000
        var nextFault = 30_000
        while time < length {
            if time >= nextFault {
                let fault = makeFault(at: time, using: &random)
                if fault.kind.stopsEncoder {
                    maker.interrupt(for: fault.end - time, restarts: fault.kind != .encoderPaused, using: &random)
                    time = fault.end
                }
                append(fault, using: &random)
                nextFault = max(time, fault.end) + Int.random(in: faultInterval, using: &random) * 1000
            }
            var segment = maker.next(at: time, of: material, using: &random)
            if let fault = faults.last, fault.segment == segments.count { segment.fault = fault }
            segments.append(segment)
            time = segment.end
        }
    }

    private func makeFault(at time: Int, using random: inout SeededGenerator) -> SoakFault {
        // Without dates a relay cannot detect that segments with other numbers and names are known ones.
        var excluded: Set<SoakFault.Kind> = isDated ? [] : [.renamed]
        if segments.last?.key == nil { excluded.insert(.keyRefused) }
        let kind = SoakFault.Kind.random(without: excluded, using: &random)
        let delay = kind.stopsEncoder ? 0 : Int.random(in: 0...3000, using: &random)
        return SoakFault(kind, at: time + delay, using: &random)
    }

    private mutating func append(_ fault: SoakFault, using random: inout SeededGenerator) {
        var fault = fault
        if fault.kind.affectsSegment { fault.segment = segments.count }
        faults.append(fault)
        var era = Era(
            start: fault.start, numberOffset: eras.last?.numberOffset ?? 0, name: faults.count,
            firstSegment: eras.last?.firstSegment ?? 0)
        switch fault.kind {
        case .renumbered:
            era.name = eras.last?.name ?? 0
            era.numberOffset = Int.random(in: 0...2000, using: &random) - segments.count + 100
        case .renamed: era.numberOffset = Int.random(in: 0...2000, using: &random) - segments.count + 100
        case .encoderRestarted, .endedAndRestarted:
            era.firstSegment = segments.count
            era.numberOffset = -segments.count
            era.followsEnd = fault.kind == .endedAndRestarted
        default: return
        }
        eras.append(era)
    }
}

extension SoakScript {
    /// Returns the number of segments listed by `time`.
    func edge(at time: Int) -> Int { segments.boundary { $0.end > time } }

    /// Returns the fault at `time`.
    func fault(at time: Int) -> SoakFault? {
        let next = faults.boundary { $0.start > time }
        guard next > 0, faults[next - 1].end > time else { return nil }
        return faults[next - 1]
    }

    func era(at time: Int) -> Era { eras[max(0, eras.boundary { $0.start > time } - 1)] }

    /// Returns the era before `era`.
    func era(before era: Era) -> Era { eras[max(0, eras.boundary { $0.start >= era.start } - 1)] }

    /// Returns the number of expired tokens by `time`.
    func token(at time: Int) -> Int {
        faults[..<faults.boundary { $0.start > time }].count { $0.kind == .tokenExpired }
    }

    /// Returns the last fault between `start` and `end`.
    func fault(from start: Int, to end: Int) -> SoakFault? {
        let next = faults.boundary { $0.start > end }
        guard next > 0, faults[next - 1].end >= start else { return nil }
        return faults[next - 1]
    }

    /// Returns the unencrypted bytes of a segment.
    func body(of number: Int) -> [UInt8] {
        let segment = segments[number]
        return material[segment.material].segment(segment.parts, clock: segment.clock, number: number)
    }
}

extension Array {
    /// Index of the first element that satisfies `predicate`, as all elements after it do.
    func boundary(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
