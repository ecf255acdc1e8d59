import Demux
package import Media
import Mux
import Transcode

/// Where an upstream segment begins in what is published: what its playlist says of it is said there.
package struct SegmentPlacement: Equatable, Sendable {
    /// The upstream's.
    package let mediaSequence: UInt64
    /// Milliseconds since 1970 of its first picture, as published.
    package let date: Int64
    /// The same as its upstream dates it; nil where it does not say.
    package let upstreamDate: Int64?

    package init(mediaSequence: UInt64, date: Int64, upstreamDate: Int64?) {
        self.mediaSequence = mediaSequence
        self.date = date
        self.upstreamDate = upstreamDate
    }
}

/// A splice command found in the media, dated.
package struct PlacedSpliceCommand: Equatable, Sendable {
    package let information: SpliceInfoSection
    /// Milliseconds since 1970, as published, of the moment it speaks of; of where it stood when it names none.
    package let date: Int64

    package init(information: SpliceInfoSection, date: Int64) {
        self.information = information
        self.date = date
    }
}

/// What is known of the upstream's marks on the channel's timeline and not given with an output segment yet.
struct PendingMarkers: Sendable {
    private struct SegmentStart: Sendable {
        let mediaSequence: UInt64
        let time: Ticks
        let upstreamDate: Int64?
    }

    private struct SpliceCommand: Sendable {
        let information: SpliceInfoSection
        /// Of where it stood.
        let time: Ticks
        let spliceTime: Ticks
    }

    private var segmentStarts: [SegmentStart] = []
    private(set) var messages = PendingMessages()
    private var spliceCommands: [SpliceCommand] = []
    /// Metadata of runs that are left out.
    private(set) var discarded = 0

    /// What begins or stands with the pictures of `piece`, whose run lies at `timeline`.
    mutating func append(_ piece: some MetadataCarrying, on timeline: PeriodTimeline) {
        guard let first = piece.firstPresentation else { return }
        if piece.opensSegment {
            segmentStarts.append(
                SegmentStart(
                    mediaSequence: piece.mediaSequence, time: timeline.presentation(of: first),
                    upstreamDate: piece.programDateTime))
        }
        for item in piece.metadata { append(item, near: first, on: timeline) }
    }

    private mutating func append(_ item: TimedMetadata, near reference: Ticks, on timeline: PeriodTimeline) {
        let unfold = { (wire: Ticks) in timeline.presentation(of: Ticks(wire: wire, near: reference)) }
        let time = unfold(item.time ?? reference.wire)
        switch item.content {
        case .id3(let tags): _ = messages.add(PlacedMessage(message: .id3(tags), time: time))
        case .message(let message, let information):
            guard messages.add(PlacedMessage(message: message, time: time)), let information else { return }
            spliceCommands.append(
                SpliceCommand(information: information, time: timeline.presentation(of: reference), spliceTime: time))
        case .splice(let information):
            spliceCommands.append(
                SpliceCommand(
                    information: information, time: time, spliceTime: information.spliceTime.map(unfold) ?? time))
        }
    }

    /// What stands with `piece` is of no use: its run is left out.
    mutating func discard(_ piece: some MetadataCarrying) { discarded += piece.metadata.count }

    /// Takes the messages of a segment that ends at `end`, those that came late included.
    mutating func dequeueMessages(before end: Ticks) -> [PlacedMessage] { messages.dequeue(before: end) }

    /// The channel ended.
    mutating func finish() { messages.discard() }

    /// Up to `time` something else was published.
    mutating func resume(at time: Ticks) { messages.discard(before: time) }

    /// Takes the upstream segments that begin before `end`.
    mutating func dequeuePlacements(before end: Ticks, dates: ProgramDateTimeClock) -> [SegmentPlacement] {
        let count = segmentStarts.firstIndex { $0.time >= end } ?? segmentStarts.endIndex
        defer { segmentStarts.removeFirst(count) }
        return segmentStarts[..<count].map {
            SegmentPlacement(
                mediaSequence: $0.mediaSequence, date: dates.date(of: $0.time), upstreamDate: $0.upstreamDate)
        }
    }

    /// Takes the splice commands that stood before `end`; the moments they speak of may lie behind it.
    mutating func dequeueSpliceCommands(before end: Ticks, dates: ProgramDateTimeClock) -> [PlacedSpliceCommand] {
        let taken = spliceCommands.filter { $0.time < end }
        spliceCommands.removeAll { $0.time < end }
        return taken.map { PlacedSpliceCommand(information: $0.information, date: dates.date(of: $0.spliceTime)) }
    }
}
