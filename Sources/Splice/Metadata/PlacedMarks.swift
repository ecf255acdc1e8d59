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
package struct PlacedSplice: Equatable, Sendable {
    package let information: SpliceInformation
    /// Milliseconds since 1970, as published, of the moment it speaks of; of where it stood when it names none.
    package let date: Int64

    package init(information: SpliceInformation, date: Int64) {
        self.information = information
        self.date = date
    }
}

/// What is known of the upstream's marks on the channel's timeline and not given with an output segment yet.
struct PendingMarks: Sendable {
    private struct Opening: Sendable {
        let mediaSequence: UInt64
        let time: Ticks
        let upstreamDate: Int64?
    }

    private struct Splice: Sendable {
        let information: SpliceInformation
        /// Of where it stood.
        let time: Ticks
        let spliceTime: Ticks
    }

    private var openings: [Opening] = []
    private(set) var messages = PendingMessages()
    private var splices: [Splice] = []
    /// Metadata of runs that are left out.
    private(set) var refused = 0

    /// What begins or stands with the pictures of `piece`, whose run lies at `timeline`.
    mutating func take(_ piece: some MarkedPiece, on timeline: ProgramTimeline) {
        guard let first = piece.firstPresentation else { return }
        if piece.opensSegment {
            openings.append(
                Opening(
                    mediaSequence: piece.mediaSequence, time: timeline.presentation(of: first),
                    upstreamDate: piece.programDateTime))
        }
        for item in piece.metadata { take(item, near: first, on: timeline) }
    }

    private mutating func take(_ item: TimedMetadata, near reference: Ticks, on timeline: ProgramTimeline) {
        let unfold = { (wire: Ticks) in timeline.presentation(of: Ticks(wire: wire, near: reference)) }
        let time = unfold(item.time ?? reference.wire)
        switch item.content {
        case .id3(let tags): _ = messages.add(PlacedMessage(message: .id3(tags), time: time))
        case .message(let message, let information):
            guard messages.add(PlacedMessage(message: message, time: time)), let information else { return }
            splices.append(
                Splice(information: information, time: timeline.presentation(of: reference), spliceTime: time))
        case .splice(let information):
            splices.append(
                Splice(
                    information: information, time: time, spliceTime: information.spliceTime.map(unfold) ?? time))
        }
    }

    /// What stands with `piece` is of no use: its run is left out.
    mutating func refuse(_ piece: some MarkedPiece) { refused += piece.metadata.count }

    /// Takes the messages of a segment that ends at `end`, those that came late included.
    mutating func takeMessages(before end: Ticks) -> [PlacedMessage] { messages.take(before: end) }

    /// The channel ended.
    mutating func finish() { messages.giveUp() }

    /// Up to `time` something else was published.
    mutating func resume(at time: Ticks) { messages.giveUp(before: time) }

    /// Takes the upstream segments that begin before `end`.
    mutating func takePlacements(before end: Ticks, dates: DateClock) -> [SegmentPlacement] {
        let count = openings.firstIndex { $0.time >= end } ?? openings.endIndex
        defer { openings.removeFirst(count) }
        return openings[..<count].map {
            SegmentPlacement(
                mediaSequence: $0.mediaSequence, date: dates.date(of: $0.time), upstreamDate: $0.upstreamDate)
        }
    }

    /// Takes the splice commands that stood before `end`; the moments they speak of may lie behind it.
    mutating func takeSplices(before end: Ticks, dates: DateClock) -> [PlacedSplice] {
        let taken = splices.filter { $0.time < end }
        splices.removeAll { $0.time < end }
        return taken.map { PlacedSplice(information: $0.information, date: dates.date(of: $0.spliceTime)) }
    }
}
