import LiveRing
import Media
import Playlist
import Splice
import Support
import Tracker

// Conversions of ad markers between the tracker, the splice and the ring.

extension UpstreamAdMarkers {
    /// The ad markers of `tracked`, and of the segments before it that were lost or skipped.
    init(_ tracked: TrackedSegment) {
        let segments = tracked.skippedSegments + [tracked.segment]
        let cues = segments.flatMap(\.cueTags)
        let ranges = tracked.listedDateRanges + segments.flatMap(\.dateRanges)
        self.init(
            mediaSequence: tracked.segment.mediaSequence, cueTags: cues,
            dateRanges: ranges.filter { !$0.isSpliceCommand },
            splices: ranges.flatMap(PublishedSpliceCommand.commands),
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
            duration: cue.duration?.milliseconds, section: splice.information.bytes)
    }
}

extension PublishedSpliceCommand {
    /// The splice commands of a range that stands for them; none of any other range.
    static func commands(in range: DateRange) -> [PublishedSpliceCommand] {
        guard range.isSpliceCommand, let date = range.startDate, let section = range[splice: .command] else {
            return []
        }
        // A section that cannot be read is passed on as it is.
        let cues = (try? SpliceInfoSection(section))?.cues ?? [SpliceCue(.command, eventID: nil)]
        return cues.map { cue in
            PublishedSpliceCommand(
                Kind(cue.kind), eventID: cue.eventID, date: date,
                duration: range.plannedDuration ?? cue.duration?.milliseconds, section: section)
        }
    }
}

extension Ticks {
    /// The duration, rounded to milliseconds.
    fileprivate var milliseconds: Duration { .milliseconds((count + 45) / 90) }
}

extension SpliceInfoSection {
    /// Whether `section` begins a break that ends by itself after its duration; false if `section` is malformed.
    static func returnsByItself(_ section: [UInt8]) -> Bool {
        let cues = (try? SpliceInfoSection(section))?.cues ?? []
        return cues.contains { $0.kind == .out(autoReturn: true) }
    }
}

extension PublishedSpliceCommand.Kind {
    fileprivate init(_ kind: SpliceCue.Kind) {
        switch kind {
        case .out(let autoReturn): self = .out(autoReturn: autoReturn)
        case .in(let endsAnyEvent): self = .in(endsAnyEvent: endsAnyEvent)
        case .command: self = .command
        case .canceled: self = .canceled
        }
    }
}
