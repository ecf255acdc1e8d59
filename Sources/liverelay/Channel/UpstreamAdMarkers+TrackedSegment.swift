import LiveRing
import Media
import Playlist
import Splice
import Tracker

// Marks of one module in the words of another.

extension UpstreamAdMarkers {
    /// What stands with a segment, and with those before it that were lost.
    init(_ tracked: TrackedSegment) {
        let segments = tracked.skippedSegments + [tracked.segment]
        let cues = segments.flatMap(\.cueTags)
        self.init(
            mediaSequence: tracked.segment.mediaSequence, cues: cues,
            dateRanges: tracked.listedDateRanges + segments.flatMap(\.dateRanges),
            otherTags: segments.flatMap(\.unknownTags).count { $0.hasPrefix("#EXT") } - cues.count)
    }
}

extension AdMarkerTarget {
    init(_ segment: SplicedSegment) {
        self.init(
            date: ProgramDateTime(millisecondsSince1970: segment.programDateTime),
            placements: segment.placements.map(AdMarkerPlacement.init),
            splices: segment.spliceCommands.flatMap { splice in
                splice.information.cues.map { PublishedSpliceCommand($0, of: splice) }
            })
    }
}

extension AdMarkerPlacement {
    fileprivate init(_ placement: SegmentPlacement) {
        self.init(
            mediaSequence: placement.mediaSequence,
            date: ProgramDateTime(millisecondsSince1970: placement.date),
            upstreamDate: placement.upstreamDate.map { ProgramDateTime(millisecondsSince1970: $0) })
    }
}

extension PublishedSpliceCommand {
    fileprivate init(_ cue: SpliceCue, of splice: PlacedSpliceCommand) {
        self.init(
            Kind(cue.kind), eventID: cue.eventID, date: ProgramDateTime(millisecondsSince1970: splice.date),
            duration: cue.duration.map { .milliseconds(($0.count + 45) / 90) }, section: splice.information.bytes)
    }
}

extension SpliceInfoSection {
    /// Whether `section` begins a break that is over without a word; not when it cannot be read.
    static func returnsByItself(_ section: [UInt8]) -> Bool {
        let cues = (try? SpliceInfoSection(section))?.cues ?? []
        return cues.contains { $0.kind == .out(autoReturn: true) }
    }
}

extension PublishedSpliceCommand.Kind {
    fileprivate init(_ kind: SpliceCue.Kind) {
        switch kind {
        case .out(let autoReturn): self = .out(returnsByItself: autoReturn)
        case .in(let endsAnyEvent): self = .in(ofAnyEvent: endsAnyEvent)
        case .command: self = .command
        case .canceled: self = .canceled
        }
    }
}

extension RelayStatus {
    /// What became of the upstream's marks.
    struct AdMarkers: Encodable, Equatable, Sendable {
        var cueTags = 0
        var lateCueTags = 0
        var dateRanges = 0
        var expiredDateRanges = 0
        var malformedDateRanges = 0
        var changedDateRangeAttributes = 0
        var unpairedBreakEnds = 0
        var otherTags = 0
        var unplaced = 0
        var eventMessages = 0
        var duplicateEventMessages = 0
        var discardedTimedMetadata = 0
        var ignoredProgramDateTimes = 0
    }

    mutating func update(from counts: AdMarkerCounts, _ splice: SpliceCounts) {
        adMarkers = AdMarkers(
            cueTags: counts.cueTags, lateCueTags: adMarkers.lateCueTags, dateRanges: counts.dateRanges,
            expiredDateRanges: counts.expiredRanges,
            malformedDateRanges: counts.unreadableRanges, changedDateRangeAttributes: counts.attributesChanged,
            unpairedBreakEnds: counts.unmatchedBreakEnds, otherTags: counts.otherTags, unplaced: counts.unplacedMarkers,
            eventMessages: splice.messagesWritten, duplicateEventMessages: splice.duplicateMessages,
            discardedTimedMetadata: splice.metadataDiscarded, ignoredProgramDateTimes: splice.datesRejected)
    }
}
