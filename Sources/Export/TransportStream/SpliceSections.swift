import LiveRing
import Media
import Mux
import Playlist
import Support

/// The splice_info_sections of a segment, made of its ad markers.
struct SpliceSections: Sendable {
    /// Two times of one section that are nearer than this are the same.
    private static let tolerance = Ticks.seconds(1)

    private let date: ProgramDateTime
    private let start: Ticks

    /// - Parameters:
    ///   - date: the date of the segment's first frame.
    ///   - start: its presentation time.
    init(date: ProgramDateTime, start: Ticks) { (self.date, self.start) = (date, start) }

    /// The sections of the splice commands that `markers` announce, in order. One that cannot be read is left to the
    /// playlist. A command with several descriptors is in the date range of each of them, and is sent once.
    func sections(of markers: SegmentAdMarkers) -> [[UInt8]] {
        let all = markers.splices.compactMap { splice in
            markers.dateRanges.indices.contains(splice.range)
                ? announcement(splice.command, of: markers.dateRanges[splice.range]) : nil
        }
        let isSent = all.indices.map { index in
            !all.indices.contains { all[$0].precedence < all[index].precedence && all[$0].isSame(as: all[index]) }
                && !all[..<index].contains {
                    $0.precedence == all[index].precedence && $0.isSame(as: all[index])
                }
        }
        return zip(all, isSent).compactMap { $1 ? $0.section : nil }
    }

    private struct Announcement {
        /// As the upstream has it; nil if it has none.
        var source: [UInt8]?
        /// The lower one has the time of the command.
        var precedence = 0
        let time: Ticks
        let section: [UInt8]

        func isSame(as other: Announcement) -> Bool {
            guard let source, source == other.source else { return false }
            return precedence != other.precedence || abs((time - other.time).count) < tolerance.count
        }
    }

    private func announcement(_ command: AnnouncedSplice.Command, of range: DateRange) -> Announcement? {
        switch command {
        case .out: announcement(of: range, .out, at: range.startDate)
        // A break that was canceled may be at any other time.
        case .command:
            announcement(of: range, .command, at: range.startDate, precedence: range[splice: .out] == nil ? 0 : 2)
        case .in: announcement(of: range, .in, at: range.end, precedence: 1)
        case .begin: made(of: range, isOut: true, at: range.startDate)
        case .end: made(of: range, isOut: false, at: range.end)
        }
    }

    private func announcement(
        of range: DateRange, _ attribute: DateRange.SpliceAttribute, at date: ProgramDateTime?, precedence: Int = 0
    ) -> Announcement? {
        guard let date, let source = range[splice: attribute],
            let section = try? SpliceSectionWriter.section(source, at: time(of: date))
        else { return nil }
        return Announcement(source: source, precedence: precedence, time: time(of: date), section: section)
    }

    private func made(of range: DateRange, isOut: Bool, at date: ProgramDateTime?) -> Announcement? {
        guard let date else { return nil }
        let duration = isOut ? (range.duration ?? range.plannedDuration).map(Ticks.init) : nil
        let section = SpliceSectionWriter.spliceInsert(
            eventID: eventID(of: range), isOut: isOut, at: time(of: date), duration: duration)
        return Announcement(time: time(of: date), section: section)
    }

    private func eventID(of range: DateRange) -> UInt32 {
        UInt32(truncatingIfNeeded: ContentHash.digest(of: Array(range.id.utf8)[...]))
    }

    private func time(of date: ProgramDateTime) -> Ticks {
        start + Ticks(date.milliseconds(since: self.date) * 90)
    }
}
