import Playlist

extension MediaPlaylist {
    /// A playlist of `entries` with the head that every playlist of the ring has.
    /// - Parameters:
    ///   - nextMediaSequence: the first number if there are no entries.
    ///   - discontinuitySequence: the discontinuity sequence number if there are no entries.
    init(
        entries: some Collection<RingEntry>, in container: PublishedContainer = .fragmentedMP4, targetDuration: Int,
        nextMediaSequence: UInt64,
        discontinuitySequence: UInt64
    ) {
        self.init(
            targetDuration: .seconds(targetDuration),
            mediaSequence: entries.first?.mediaSequence ?? nextMediaSequence,
            segments: entries.map { $0.mediaSegment(in: container) })
        // The number of the first segment counts its own DISCONTINUITY, the number of the playlist does not (§6.2.1).
        self.discontinuitySequence =
            segments.first.map { $0.discontinuitySequence - ($0.isDiscontinuous ? 1 : 0) } ?? discontinuitySequence
        self.hasIndependentSegments = entries.allSatisfy(\.isIndependent)
    }
}
