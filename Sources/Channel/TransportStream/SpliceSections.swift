import LiveRing
import Media
import Mux
import Playlist
import Support

/// The splice_info_sections of a segment, made of its ad markers.
struct SpliceSections: Sendable {
    /// A date range that began earlier than this before its segment was sent with an earlier segment.
    private static let tolerance: Int64 = 1000

    private let date: ProgramDateTime
    private let start: Ticks
    private let duration: Ticks

    /// - Parameters:
    ///   - date: the date of the segment's first frame.
    ///   - start: its presentation time.
    ///   - duration: of the segment.
    init(date: ProgramDateTime, start: Ticks, duration: Ticks) {
        self.date = date
        self.start = start
        self.duration = duration
    }

    /// In the order of the markers. A section that cannot be read is left to the playlist.
    func sections(of markers: SegmentAdMarkers) -> [[UInt8]] { markers.dateRanges.flatMap(sections) }

    private func sections(of range: DateRange) -> [[UInt8]] {
        guard let begin = range.startDate else { return [] }
        let isNew =
            begin.milliseconds(since: date) >= -Self.tolerance || (range.end == nil && range[splice: .in] == nil)
        var sections: [[UInt8]?] = []
        if isNew { sections.append(opening(of: range, at: begin)) }
        if let end = range.end, isInSegment(end) || range[splice: .in] != nil {
            sections.append(closing(of: range, at: end))
        }
        return sections.compactMap(\.self)
    }

    private func opening(of range: DateRange, at begin: ProgramDateTime) -> [UInt8]? {
        if let section = range[splice: .command] ?? range[splice: .out] {
            return try? SpliceSectionWriter.section(section, at: time(of: begin))
        }
        guard isBreak(range) else { return nil }
        return SpliceSectionWriter.spliceInsert(
            eventID: eventID(of: range), isOut: true, at: time(of: begin),
            duration: (range.duration ?? range.plannedDuration).map(Ticks.init))
    }

    private func closing(of range: DateRange, at end: ProgramDateTime) -> [UInt8]? {
        if let section = range[splice: .in] { return try? SpliceSectionWriter.section(section, at: time(of: end)) }
        guard isBreak(range) else { return nil }
        return SpliceSectionWriter.spliceInsert(
            eventID: eventID(of: range), isOut: false, at: time(of: end), duration: nil)
    }

    /// Whether a date range without sections is an ad break: the ring made it of cue tags.
    private func isBreak(_ range: DateRange) -> Bool { range.id.hasPrefix("cue-") }

    private func eventID(of range: DateRange) -> UInt32 {
        UInt32(truncatingIfNeeded: ContentHash.digest(of: Array(range.id.utf8)[...]))
    }

    private func isInSegment(_ end: ProgramDateTime) -> Bool {
        (-Self.tolerance..<duration.count / 90 + 1).contains(end.milliseconds(since: date))
    }

    private func time(of date: ProgramDateTime) -> Ticks {
        start + Ticks(date.milliseconds(since: self.date) * 90)
    }
}
