package import Media

/// Position of an upstream segment's start in the published media, where its ad markers are published.
package struct SegmentPlacement: Equatable, Sendable {
    package let mediaSequence: UInt64
    /// Published date of its first frame, milliseconds since 1970.
    package let date: Int64
    /// Upstream date of its first frame, milliseconds since 1970; nil if the upstream has none.
    package let upstreamDate: Int64?
}

/// An in-band splice command with its published date.
package struct PlacedSpliceCommand: Equatable, Sendable {
    package let information: SpliceInfoSection
    /// Published date of the splice time, milliseconds since 1970; without a splice time, that of the command's position.
    package let date: Int64
}

/// Upstream ad markers on the channel's timeline that no output segment has taken yet.
struct PendingMarkers: Sendable {
    private var segmentStarts: [(mediaSequence: UInt64, time: Ticks, upstreamDate: Int64?)] = []
    var messages = PendingMessages()
    var privateData = PendingMessages(of: .privateDataPackets, limit: 8192)
    private var spliceCommands: [(information: SpliceInfoSection, time: Ticks, spliceTime: Ticks)] = []
    private var ownCounts = SpliceCounts()

    var counts: SpliceCounts { ownCounts + messages.counts + privateData.counts }

    /// Appends the segment start and the metadata of `part`, whose period is placed by `timeline`.
    mutating func append(_ part: some MetadataCarrying, on timeline: PeriodTimeline) {
        guard let first = part.firstPresentation else { return }
        if part.opensSegment {
            segmentStarts.append((part.mediaSequence, timeline.presentation(of: first), part.programDateTime))
        }
        for item in part.metadata { append(item, near: first, on: timeline) }
    }

    private mutating func append(_ item: TimedMetadata, near reference: Ticks, on timeline: PeriodTimeline) {
        let unwrap = { (wire: Ticks) in timeline.presentation(of: Ticks(wire: wire, near: reference)) }
        let time = unwrap(item.time ?? reference.wire)
        switch item.content {
        case .id3(let tags): _ = messages.add(PlacedMessage(message: .id3(tags), time: time))
        case .privateData(let stream, let payload):
            _ = privateData.add(PlacedMessage(message: .privateData(payload, of: stream), time: time))
        case .message(let message, let information):
            guard messages.add(PlacedMessage(message: message, time: time)), let information else { return }
            spliceCommands.append((information, timeline.presentation(of: reference), time))
        case .splice(let information):
            let placed =
                information.isEncrypted ? information.moved(by: unwrap(reference.wire) - reference) : information
            spliceCommands.append((placed, time, information.spliceTime.map(unwrap) ?? time))
        }
    }

    mutating func discard(_ part: some MetadataCarrying) { ownCounts[.discardedTimedMetadata] += part.metadata.count }

    /// Drops the private data after the end of the period before: its subtitles would stand in the next one.
    mutating func beginPeriod() { privateData.discard() }

    mutating func finish() {
        messages.discard()
        privateData.discard()
    }

    /// Drops messages before `time`, up to which other media was published.
    mutating func resume(at time: Ticks) {
        messages.discard(before: time)
        privateData.discard()
    }

    /// Removes and returns the positions of upstream segments that begin before `end`.
    mutating func dequeuePlacements(before end: Ticks, dates: ProgramDateTimeClock) -> [SegmentPlacement] {
        let count = segmentStarts.firstIndex { $0.time >= end } ?? segmentStarts.endIndex
        defer { segmentStarts.removeFirst(count) }
        return segmentStarts[..<count].map {
            SegmentPlacement(
                mediaSequence: $0.mediaSequence, date: dates.date(of: $0.time), upstreamDate: $0.upstreamDate)
        }
    }

    /// Removes and returns the splice commands whose positions are before `end`. Their splice times may be later.
    mutating func dequeueSpliceCommands(before end: Ticks, dates: ProgramDateTimeClock) -> [PlacedSpliceCommand] {
        let due = spliceCommands.filter { $0.time < end }
        spliceCommands.removeAll { $0.time < end }
        return due.map { PlacedSpliceCommand(information: $0.information, date: dates.date(of: $0.spliceTime)) }
    }
}

/// A part of a period from one upstream segment, which carries the segment's metadata.
protocol MetadataCarrying {
    var mediaSequence: UInt64 { get }
    var discontinuitySequence: UInt64 { get }
    var opensSegment: Bool { get }
    /// EXT-X-PROGRAM-DATE-TIME of the start, milliseconds since 1970; nil if the upstream has none.
    var programDateTime: Int64? { get }
    var metadata: [TimedMetadata] { get set }
    var firstPresentation: Ticks? { get }
    /// The times for which the audio tracks, or the other ones, need audio.
    var videoSpan: AudioVideoMatcher.VideoSpan { get }
    var span: ClosedRange<Ticks> { get }
}

extension PeriodPart: MetadataCarrying {
    var firstPresentation: Ticks? { units.presentationStart }

    var videoSpan: AudioVideoMatcher.VideoSpan {
        let times = units.lazy.map(\.pts)
        let first = times.min() ?? .zero
        return AudioVideoMatcher.VideoSpan(
            start: first, end: (times.max() ?? first) + frameDuration, discontinuitySequence: discontinuitySequence,
            beginsPeriod: signal != nil, clockStart: signal != nil ? clockStart : nil,
            followsLoss: signal == .joined || signal == .loss, missingBefore: missingBefore, date: programDateTime,
            hasNoAudio: hasNoAudio)
    }

    var span: ClosedRange<Ticks> { videoSpan.start...max(videoSpan.start, videoSpan.end) }
}

extension AudioPeriodPart: MetadataCarrying {
    var firstPresentation: Ticks? { frames.first?.pts }

    var videoSpan: AudioVideoMatcher.VideoSpan {
        let start = frames.first?.pts ?? .zero
        let end = frames.last.map { $0.pts + $0.packet.configuration.frameDuration } ?? start
        return AudioVideoMatcher.VideoSpan(
            start: start, end: end, discontinuitySequence: discontinuitySequence, beginsPeriod: signal != nil,
            clockStart: signal != nil ? start : nil)
    }

    var span: ClosedRange<Ticks> {
        let start = frames.first?.pts ?? .zero
        return start...max(start, frames.last?.pts ?? start)
    }
}

extension Array where Element: MetadataCarrying {
    /// Attaches each metadata item to the part nearest in time, because a segment with a program change has several clocks.
    /// - Returns: the number of items that could not be attached.
    mutating func attach(_ metadata: [TimedMetadata]) -> Int {
        guard !isEmpty else { return metadata.count }
        let spans = metadata.isEmpty ? [] : map(\.span)
        for item in metadata { self[nearest(to: item.time, spans)].metadata.append(item) }
        return 0
    }

    private func nearest(to time: Ticks?, _ spans: [ClosedRange<Ticks>]) -> Int {
        guard let time else { return startIndex }
        return indices.min { spans[$0].distance(to: time) < spans[$1].distance(to: time) } ?? startIndex
    }
}

extension ClosedRange<Ticks> {
    /// Distance to a 33-bit time in ticks; 0 inside the range.
    fileprivate func distance(to time: Ticks) -> Int64 {
        let unwrapped = Ticks(wire: time, near: lowerBound)
        return Swift.max((lowerBound - unwrapped).count, (unwrapped - upperBound).count, 0)
    }
}
