import Media

/// A part of a period from one upstream segment, which carries the segment's metadata.
protocol MetadataCarrying {
    var mediaSequence: UInt64 { get }
    var opensSegment: Bool { get }
    /// EXT-X-PROGRAM-DATE-TIME of the start, milliseconds since 1970; nil if the upstream has none.
    var programDateTime: Int64? { get }
    var metadata: [TimedMetadata] { get set }
    var firstPresentation: Ticks? { get }
    var span: ClosedRange<Ticks> { get }
}

extension PeriodPart: MetadataCarrying {
    var firstPresentation: Ticks? { units.presentationStart }
    var span: ClosedRange<Ticks> { videoSpan.start...max(videoSpan.start, videoSpan.end) }
}

extension AudioPeriodPart: MetadataCarrying {
    var firstPresentation: Ticks? { frames.first?.pts }

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
