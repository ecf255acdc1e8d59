import LiveRing
import Support

/// One timeline of the segments that several relays of a channel put into a store.
///
/// A range follows one writer. Where that writer has no media, it goes on with another one that does, after a
/// discontinuity. With one writer, all numbers are those of the writer.
enum ArchiveTimeline {
    /// Media of two writers may overlap by this at a change, because their segments end at different times.
    private static let overlap: Int64 = 500

    /// - Parameter writers: the entries of each writer, in order. The earlier one is preferred.
    static func merge(_ writers: [[RingEntry]]) -> [RingEntry] {
        guard writers.count > 1 else { return writers.first ?? [] }
        var rests = writers.map { $0[...] }
        var merged: [RingEntry] = []
        var current: Int?
        // Before all dates, and far from an overflow.
        var end: Int64 = .min / 2
        while let next = nextWriter(&rests, after: end, current: current) {
            guard var entry = rests[next].popFirst() else { break }
            if let last = merged.last {
                if next != current { entry.isDiscontinuous = true }
                entry.renumber(after: last)
            }
            (current, end) = (next, entry.programDateTimeEnd.millisecondsSince1970)
            merged.append(entry)
        }
        return merged
    }

    /// The writer that has the next media: the current one, unless its next media begins later than another's ends.
    private static func nextWriter(_ rests: inout [ArraySlice<RingEntry>], after end: Int64, current: Int?) -> Int? {
        for index in rests.indices where index != current {
            rests[index] = rests[index].drop { $0.isGap || $0.start < end - overlap }
        }
        let own = current.flatMap { rests[$0].first { !$0.isGap }?.start } ?? .max
        let other = rests.indices.filter { $0 != current && !rests[$0].isEmpty }
            .min { (rests[$0].first?.start ?? .max, $0) < (rests[$1].first?.start ?? .max, $1) }
        if let other, let entry = rests[other].first {
            let fits = entry.programDateTimeEnd.millisecondsSince1970 <= own + (own == .max ? 0 : overlap)
            if fits {
                if let current { rests[current] = rests[current].drop { $0.isGap } }
                return other
            }
        }
        return current.flatMap { rests[$0].isEmpty ? nil : $0 } ?? other
    }
}

extension RingEntry {
    fileprivate var start: Int64 { programDateTime.millisecondsSince1970 }

    /// Gives the entry the numbers after those of another one.
    fileprivate mutating func renumber(after last: RingEntry) {
        mediaSequence = last.mediaSequence + 1
        discontinuitySequence = last.discontinuitySequence + (isDiscontinuous ? 1 : 0)
    }
}
