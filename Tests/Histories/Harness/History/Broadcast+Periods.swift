extension Broadcast {
    /// The periods of a manifest, as ranges of segments: one for everything that changes.
    func madePeriods() -> [Range<Int>] {
        let restarts = Set(eras.map(\.firstSegment))
        let starts = segments.indices.filter { index in
            guard index > 0, !restarts.contains(index) else { return true }
            let (before, segment) = (segments[index - 1], segments[index])
            guard let last = before.parts.last, let first = segment.parts.first else { return true }
            return segment.isSplice || segment.isTagged || segment.isAfterPause
                || segment.initSection != before.initSection || first.content != last.content
                || first.clock != last.clock || first.frames.lowerBound != last.frames.upperBound
        }
        return zip(starts, starts.dropFirst() + [segments.count]).map { $0..<$1 }
    }

    /// The period of a segment.
    func period(of index: Int) -> Range<Int> { periods.first { $0.contains(index) } ?? index..<index + 1 }
}
