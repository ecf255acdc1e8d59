import LiveRing
import Support

/// One timeline of the segments that several relays of a channel put into a store.
///
/// A range follows one writer. Where that writer has no media, the range continues with a writer that has, after a
/// discontinuity. With one writer, all numbers are the writer's, and missing numbers become gaps. The range continues
/// its own numbering where an entry is from another writer, or the writer's numbers go back or too many are missing.
///
/// A growing range never changes what it listed. Therefore the last segment of a writer ends the range, even if other
/// writers have newer segments, until the writer has been silent for longer than two intervals between indexes.
enum ArchiveTimeline {
    /// The most milliseconds by which media of two writers may overlap at a change, because their segments end at
    /// different times.
    private static let overlap: Int64 = 500
    /// Milliseconds of newer media of other writers after which a writer counts as silent.
    static let silence = 2 * ArchiveUpload.Policy().indexInterval.components.seconds * 1000

    /// - Parameters:
    ///   - writers: the entries of each writer, in order. Earlier writers are preferred.
    ///   - own: the writer whose newest entries are known without the store. A range returns to it as soon as it has
    ///     media.
    static func merge(_ writers: [[RingEntry]], own: Int? = nil) -> [RingEntry] {
        var timeline = WriterCursors(writers, own: own)
        var (merged, numbering) = ([RingEntry](), Numbering())
        while let (entry, isOfSameWriter) = timeline.next() {
            // The entry comes from an index that was put twice.
            if isOfSameWriter, entry.start < timeline.end - overlap, numbering.isPassed(entry) { continue }
            merged.append(numbering.numbered(entry, after: merged.last, continues: isOfSameWriter))
            timeline.end = entry.end
        }
        return merged
    }

    private struct WriterCursors {
        private var cursors: [Cursor]
        private let own: Int?
        private var current: Int?
        /// Where the newest media of any writer ends.
        private let newest: Int64
        /// The end of the timeline. The initial value precedes all dates, and is far from an overflow.
        var end: Int64 = .min / 2

        init(_ writers: [[RingEntry]], own: Int?) {
            cursors = writers.map(Cursor.init)
            newest = cursors.map(\.end).max() ?? 0
            self.own = own
            current = writers.count == 1 ? 0 : nil
        }

        /// The next entry, and whether it is from the same writer as the last entry.
        mutating func next() -> (RingEntry, Bool)? {
            guard let next = nextWriter(), let entry = cursors[next].removeFirst() else { return nil }
            defer { current = next }
            return (entry, next == current)
        }

        private mutating func nextWriter() -> Int? {
            for index in cursors.indices where index != current { cursors[index].skip(before: end - overlap) }
            let other = cursors.indices.filter { $0 != current && cursors[$0].first != nil }
                .min { (cursors[$0].first?.start ?? .max, $0) < (cursors[$1].first?.start ?? .max, $1) }
            guard let current else { return other }
            let media = cursors[current].nextMedia()
            if let own, own != current, let first = cursors[own].first, first.start < media?.end ?? end + overlap {
                return own
            }
            if let other, let entry = cursors[other].first, mayFollow(entry, current, before: media) { return other }
            return cursors[current].first == nil ? nil : current
        }

        /// Whether an entry of another writer comes next: if the current writer has no media before the entry's end,
        /// and will have none.
        private func mayFollow(_ entry: RingEntry, _ current: Int, before media: RingEntry?) -> Bool {
            if let media { return entry.end <= media.start + overlap }
            let known = cursors[current].end
            return entry.end <= known + overlap || newest - known >= silence
        }
    }

    /// The entries of a writer that are still to be listed.
    private struct Cursor {
        private let entries: [RingEntry]
        private var position = 0
        private var mediaPosition = 0
        /// Where the last entry ends.
        let end: Int64

        init(_ entries: [RingEntry]) { (self.entries, end) = (entries, entries.last?.end ?? .min / 2) }

        var first: RingEntry? { position < entries.count ? entries[position] : nil }

        mutating func removeFirst() -> RingEntry? {
            defer { position += 1 }
            return first
        }

        /// Drops gaps, and entries that begin before `date`.
        mutating func skip(before date: Int64) {
            while position < entries.count, entries[position].isGap || entries[position].start < date {
                StepCounter.add(1)
                position += 1
            }
        }

        /// The next entry that is not a gap.
        mutating func nextMedia() -> RingEntry? {
            mediaPosition = max(mediaPosition, position)
            while mediaPosition < entries.count, entries[mediaPosition].isGap {
                StepCounter.add(1)
                mediaPosition += 1
            }
            return mediaPosition < entries.count ? entries[mediaPosition] : nil
        }
    }
}

extension RingEntry {
    fileprivate var start: Int64 { programDateTime.millisecondsSince1970 }
    fileprivate var end: Int64 { programDateTimeEnd.millisecondsSince1970 }
}

/// The numbers of the entries of a timeline.
private struct Numbering {
    /// The number of gaps that may still be listed.
    private var gapsLeft = RingSnapshot.maximumGaps
    /// The writer's own numbers of the last entry.
    private var written: (segment: UInt64, discontinuity: UInt64)?

    /// Whether the writer's number of the entry is not above the number of the last entry.
    func isPassed(_ entry: RingEntry) -> Bool { written.map { entry.mediaSequence <= $0.segment } ?? false }

    /// The entry with the numbers that follow the last entry's.
    /// - Parameter continues: whether both entries are from one writer.
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
