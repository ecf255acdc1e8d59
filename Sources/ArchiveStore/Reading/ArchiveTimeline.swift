import LiveRing
import Support

/// One timeline of the segments that several relays of a channel put into a store.
///
/// A range follows one writer. Where that writer has no media, it goes on with another one that does, after a
/// discontinuity. With one writer, all numbers are those of the writer: missing ones become gaps. The numbers of a range
/// are counted on where they are of another writer, go back, or are missing in excess.
enum ArchiveTimeline {
    /// Media of two writers may overlap by this at a change, because their segments end at different times.
    private static let overlap: Int64 = 500

    /// - Parameter writers: the entries of each writer, in order. The earlier one is preferred.
    static func merge(_ writers: [[RingEntry]]) -> [RingEntry] {
        var rests = writers.map { $0[...] }
        var (merged, numbering) = ([RingEntry](), Numbering())
        var current: Int? = writers.count == 1 ? 0 : nil
        // Before all dates, and far from an overflow.
        var end: Int64 = .min / 2
        while let next = nextWriter(&rests, after: end, current: current) {
            guard let entry = rests[next].popFirst() else { break }
            // An index that was put twice.
            if next == current, entry.start < end - overlap, numbering.isPassed(entry) { continue }
            merged.append(numbering.numbered(entry, after: merged.last, continues: next == current))
            (current, end) = (next, entry.programDateTimeEnd.millisecondsSince1970)
        }
        return merged
    }

    /// The writer that has the next media: the current one, unless its next media begins later than another's ends.
    private static func nextWriter(_ rests: inout [ArraySlice<RingEntry>], after end: Int64, current: Int?) -> Int? {
        for index in rests.indices where index != current {
            rests[index] = rests[index].drop { $0.isGap || $0.start < end - overlap }
        }
        let other = rests.indices.filter { $0 != current && !rests[$0].isEmpty }
            .min { (rests[$0].first?.start ?? .max, $0) < (rests[$1].first?.start ?? .max, $1) }
        if let other, let entry = rests[other].first {
            let own = current.flatMap { rests[$0].first { !$0.isGap }?.start } ?? .max
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
}

/// The numbers of the entries of a timeline.
private struct Numbering {
    /// The gaps that may still be listed.
    private var gapsLeft = RingSnapshot.maximumGaps
    /// The numbers that the writer gave the last entry.
    private var written: (segment: UInt64, discontinuity: UInt64)?

    /// Whether the writer numbered an entry before the last one.
    func isPassed(_ entry: RingEntry) -> Bool { written.map { entry.mediaSequence <= $0.segment } ?? false }

    /// The entry with the numbers after those of the last one.
    /// - Parameter continues: whether both are of one writer.
    mutating func numbered(_ entry: RingEntry, after last: RingEntry?, continues: Bool) -> RingEntry {
        defer { written = (entry.mediaSequence, entry.discontinuitySequence) }
        guard let last, let written else { return entry }
        var entry = entry
        var (missing, discontinuities) = (UInt64(0), UInt64(0))
        if continues, !isPassed(entry), entry.mediaSequence - written.segment - 1 <= gapsLeft {
            missing = entry.mediaSequence - written.segment - 1
            let counted = written.discontinuity + (entry.isDiscontinuous ? 1 : 0)
            discontinuities = min(missing, entry.discontinuitySequence - min(counted, entry.discontinuitySequence))
        } else {
            entry.isDiscontinuous = true
        }
        gapsLeft -= missing
        entry.mediaSequence = last.mediaSequence + missing + 1
        entry.discontinuitySequence = last.discontinuitySequence + discontinuities + (entry.isDiscontinuous ? 1 : 0)
        return entry
    }
}
