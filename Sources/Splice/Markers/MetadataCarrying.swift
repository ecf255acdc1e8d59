import Demux
import Media
import Mux
import Transcode

/// A stretch of one run from one upstream segment: what marks are placed by.
protocol MetadataCarrying {
    var mediaSequence: UInt64 { get }
    /// Its upstream segment begins with it.
    var opensSegment: Bool { get }
    /// Milliseconds since 1970 of its beginning, where the upstream said so.
    var programDateTime: Int64? { get }
    /// What its upstream segment carries beside it, in order.
    var metadata: [TimedMetadata] { get set }
    /// Of the first picture or frame in it, on its source's clock.
    var firstPresentation: Ticks? { get }
    /// From its earliest moment to its last.
    var span: ClosedRange<Ticks> { get }
}

extension PeriodPart: MetadataCarrying {
    var firstPresentation: Ticks? { units.first?.pts }
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
    /// Gives each item to the piece that is nearest to it: a segment in which the programme changes has several clocks.
    /// - Returns: how many found none.
    mutating func attach(_ metadata: [TimedMetadata]) -> Int {
        guard !isEmpty else { return metadata.count }
        for item in metadata { self[nearest(to: item.time)].metadata.append(item) }
        return 0
    }

    private func nearest(to time: Ticks?) -> Int {
        guard let time else { return startIndex }
        let spans = map(\.span)
        return indices.min { spans[$0].distance(to: time) < spans[$1].distance(to: time) } ?? startIndex
    }
}

extension ClosedRange<Ticks> {
    /// To a time on the wire; 0 for one inside.
    fileprivate func distance(to time: Ticks) -> Int64 {
        let unfolded = Ticks(wire: time, near: lowerBound)
        return Swift.max((lowerBound - unfolded).count, (unfolded - upperBound).count, 0)
    }
}
