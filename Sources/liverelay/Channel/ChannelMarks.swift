import LiveRing
import Playlist
import Splice
import Tracker

// Marks of one module in the words of another.

extension UpstreamMarks {
    /// What stands with a segment, and with those before it that were lost.
    init(_ tracked: TrackedSegment) {
        let segments = tracked.passedOver + [tracked.segment]
        let cues = segments.flatMap(\.cueMarks)
        self.init(
            mediaSequence: tracked.segment.mediaSequence, cues: cues,
            dateRanges: tracked.listedDateRanges + segments.flatMap(\.dateRanges),
            otherTags: segments.flatMap(\.marks).count { $0.hasPrefix("#EXT") } - cues.count)
    }
}

extension MarkedSegment {
    init(_ segment: SplicedSegment) {
        self.init(
            date: ProgramDateTime(millisecondsSince1970: segment.programDateTime),
            placements: segment.placements.map(MarkPlacement.init),
            splices: segment.splices.flatMap { splice in splice.information.cues.map { SpliceMark($0, of: splice) } })
    }
}

extension MarkPlacement {
    fileprivate init(_ placement: SegmentPlacement) {
        self.init(
            mediaSequence: placement.mediaSequence,
            date: ProgramDateTime(millisecondsSince1970: placement.date),
            upstreamDate: placement.upstreamDate.map { ProgramDateTime(millisecondsSince1970: $0) })
    }
}

extension SpliceMark {
    fileprivate init(_ cue: SpliceCue, of splice: PlacedSplice) {
        self.init(
            Kind(cue.kind), eventID: cue.eventID, date: ProgramDateTime(millisecondsSince1970: splice.date),
            duration: cue.duration.map { .milliseconds(($0.count + 45) / 90) }, section: splice.information.bytes)
    }
}

extension SpliceInformation {
    /// Whether `section` begins a break that is over without a word; not when it cannot be read.
    static func returnsByItself(_ section: [UInt8]) -> Bool {
        let cues = (try? SpliceInformation(section))?.cues ?? []
        return cues.contains { $0.kind == .out(returnsByItself: true) }
    }
}

extension SpliceMark.Kind {
    fileprivate init(_ kind: SpliceCue.Kind) {
        switch kind {
        case .out(let returnsByItself): self = .out(returnsByItself: returnsByItself)
        case .in(let ofAnyEvent): self = .in(ofAnyEvent: ofAnyEvent)
        case .command: self = .command
        case .cancelled: self = .cancelled
        }
    }
}

extension RelayStatus {
    /// What became of the upstream's marks.
    struct Marks: Encodable, Equatable, Sendable {
        var cueLines = 0
        var cueLinesLate = 0
        var dateRangeTags = 0
        var dateRangesPast = 0
        var dateRangesUnreadable = 0
        var dateRangeAttributesChanged = 0
        var breakEndsUnpaired = 0
        var otherTags = 0
        var withoutPicture = 0
        var eventMessages = 0
        var eventMessagesRepeated = 0
        var timedMetadataDiscarded = 0
        var datesNotFollowed = 0
    }

    mutating func note(_ counts: MarkCounts, _ splice: SpliceCounts) {
        marks = Marks(
            cueLines: counts.cues, cueLinesLate: marks.cueLinesLate, dateRangeTags: counts.dateRanges,
            dateRangesPast: counts.past,
            dateRangesUnreadable: counts.unreadable, dateRangeAttributesChanged: counts.attributesChanged,
            breakEndsUnpaired: counts.unpaired, otherTags: counts.otherTags, withoutPicture: counts.unplaced,
            eventMessages: splice.messagesWritten, eventMessagesRepeated: splice.messagesRepeated,
            timedMetadataDiscarded: splice.metadataDiscarded, datesNotFollowed: splice.datesNotFollowed)
    }
}
